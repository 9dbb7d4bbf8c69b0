# A room is a static library with an include folder of its own. It sees the include folders of the
# rooms it links and of no others, so that an arrow which docs/Design.md does not allow does not compile.
#
#   tilewright_room(cache SOURCES lib/Store.cpp PUBLIC ... PRIVATE SQLite::SQLite3)
#
# makes the target tilewright_cache, alias tilewright::cache, with include/ public.
function(tilewright_room name)
  cmake_parse_arguments(ROOM "" "" "SOURCES;PUBLIC;PRIVATE" ${ARGN})
  if(NOT ROOM_SOURCES)
    message(FATAL_ERROR "room ${name} has no sources")
  endif()
  set(target tilewright_${name})
  add_library(${target} STATIC ${ROOM_SOURCES})
  add_library(tilewright::${name} ALIAS ${target})
  target_include_directories(${target} PUBLIC
    $<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}/include>
    $<BUILD_INTERFACE:${CMAKE_CURRENT_BINARY_DIR}/include>)
  target_link_libraries(${target} PUBLIC ${ROOM_PUBLIC} PRIVATE ${ROOM_PRIVATE})
  tilewright_warnings(${target})
  if(name STREQUAL "ir")
    target_precompile_headers(${target} PRIVATE ${PROJECT_SOURCE_DIR}/cmake/MLIRHeaders.h)
  elseif("tilewright::ir" IN_LIST ROOM_PUBLIC)
    target_precompile_headers(${target} REUSE_FROM tilewright_ir)
  endif()
endfunction()

# The warnings and sanitizers under which all of our own code is built.
function(tilewright_warnings target)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wno-unused-parameter -Wno-missing-field-initializers -ffunction-sections -fdata-sections)
  if(TILEWRIGHT_SANITIZE)
    target_compile_options(${target} PRIVATE -fsanitize=address,undefined -fno-omit-frame-pointer)
    target_link_options(${target} PUBLIC -fsanitize=address,undefined)
  endif()
endfunction()

# The flags of a target that uses MLIR: its headers as system headers, LLVM's definitions.
function(tilewright_uses_mlir target)
  target_include_directories(${target} SYSTEM PUBLIC ${MLIR_INCLUDE_DIRS} ${LLVM_INCLUDE_DIRS})
  separate_arguments(definitions NATIVE_COMMAND "${LLVM_DEFINITIONS}")
  target_compile_options(${target} PUBLIC ${definitions})
endfunction()
