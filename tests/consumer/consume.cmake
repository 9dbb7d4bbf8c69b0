# Installs the build in BUILD below WORK, then configures, builds and runs PROJECT against that alone.
function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "failed with ${status}: ${command}")
  endif()
endfunction()

file(REMOVE_RECURSE ${WORK})
run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/prefix)
foreach(file bin/tilewright include/tilewright/tilewright.h lib/libtilewright.so lib/cmake/tilewright/tilewrightConfig.cmake)
  if(NOT EXISTS ${WORK}/prefix/${file})
    message(FATAL_ERROR "the installation lacks ${file}")
  endif()
endforeach()
# Moved, so that nothing may depend on where it was installed.
file(RENAME ${WORK}/prefix ${WORK}/elsewhere)
run(${CMAKE_COMMAND} -S ${PROJECT} -B ${WORK}/build -G ${GENERATOR} -D CMAKE_CXX_COMPILER=${COMPILER}
  -D CMAKE_PREFIX_PATH=${WORK}/elsewhere -D CMAKE_FIND_USE_PACKAGE_REGISTRY=OFF -D README=${README})
run(${CMAKE_COMMAND} --build ${WORK}/build --parallel 2)
foreach(program consumer readme_1 readme_2)
  run(${CMAKE_COMMAND} -E env TILEWRIGHT_CACHE=off ${WORK}/build/${program})
endforeach()
