# What others get: one shared library with everything in it, its public headers, and a CMake package.
#   find_package(tilewright) -> tilewright::tilewright, #include <tilewright/tilewright.h>
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(rooms dsl artifact ir import schedule transforms conversion lowering emit pipeline templates cache cpu device cuda toolchain simulator tune kernel)
set(public_rooms dsl kernel)           # the rooms whose symbols the library exports
set(public_headers                     # of other rooms, those that a public header includes
  compiler/artifact/CompileError.h
  compiler/artifact/RuntimeError.h
  runtime/tune/Progress.h
  runtime/tune/Record.h)

# All objects of our rooms, so that none is left out because nothing inside calls it; of MLIR and LLVM
# what these need.
add_library(tilewright_library SHARED)
foreach(room IN LISTS rooms)
  target_sources(tilewright_library PRIVATE $<TARGET_OBJECTS:tilewright_${room}>)
  target_link_libraries(tilewright_library PRIVATE tilewright_${room})
endforeach()
set_target_properties(tilewright_library PROPERTIES
  LINKER_LANGUAGE CXX
  OUTPUT_NAME tilewright
  EXPORT_NAME tilewright
  VERSION ${PROJECT_VERSION}
  SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
  LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib
  LINK_DEPENDS ${PROJECT_SOURCE_DIR}/cmake/exports.map)
# LLVM's state cannot be unloaded.
target_link_options(tilewright_library PRIVATE
  -Wl,--version-script=${PROJECT_SOURCE_DIR}/cmake/exports.map -Wl,-z,nodelete -Wl,-z,defs)
target_include_directories(tilewright_library INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/dsl/include>
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/runtime/kernel/include>
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/runtime/tune/include>
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/compiler/artifact/include>)
target_compile_features(tilewright_library INTERFACE cxx_std_20)
add_library(tilewright::tilewright ALIAS tilewright_library)

# A room that is not public hides its symbols, or names such as tw::tile::LoadOp would be exported.
foreach(room IN LISTS rooms)
  if(NOT room IN_LIST public_rooms)
    set_target_properties(tilewright_${room} PROPERTIES
      C_VISIBILITY_PRESET hidden CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  endif()
endforeach()

install(TARGETS tilewright_library EXPORT tilewright LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
  INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY dsl/include/ runtime/kernel/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
foreach(header IN LISTS public_headers)
  get_filename_component(folder ${header} DIRECTORY)
  get_filename_component(room ${folder} NAME)
  get_filename_component(file ${header} NAME)
  install(FILES ${folder}/include/tilewright/${room}/${file} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/tilewright/${room})
endforeach()
# The program compiles users' variants against the headers beside it: a build tree has them in the places of an installation.
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/include/tilewright)
foreach(header dsl/include/tilewright/dsl runtime/kernel/include/tilewright/variant.h runtime/kernel/include/tilewright/kernel
    runtime/kernel/include/tilewright/tilewright.h runtime/tune/include/tilewright/tune compiler/artifact/include/tilewright/artifact)
  get_filename_component(name ${header} NAME)
  file(CREATE_LINK ${PROJECT_SOURCE_DIR}/${header} ${PROJECT_BINARY_DIR}/include/tilewright/${name} SYMBOLIC)
endforeach()
install(FILES LICENSE NOTICE DESTINATION ${CMAKE_INSTALL_DOCDIR})

set(package ${CMAKE_INSTALL_LIBDIR}/cmake/tilewright)
install(EXPORT tilewright NAMESPACE tilewright:: FILE tilewrightTargets.cmake DESTINATION ${package})
configure_package_config_file(cmake/tilewrightConfig.cmake.in ${PROJECT_BINARY_DIR}/tilewrightConfig.cmake
  INSTALL_DESTINATION ${package} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/tilewrightConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/tilewrightConfig.cmake ${PROJECT_BINARY_DIR}/tilewrightConfigVersion.cmake
  DESTINATION ${package})
