# Finds MLIR 22 and links it statically.
# Debian builds MLIR with LLVM_LINK_LLVM_DYLIB: every exported MLIR*.a lists the shared "LLVM"
# target, and MLIRExecutionEngine also lists the shared "MLIR". For a self-contained binary these
# edges are re-pointed at LLVM's static archives.
find_package(MLIR 22.1 REQUIRED CONFIG HINTS /usr/lib/llvm-22/lib/cmake/mlir)
list(APPEND CMAKE_MODULE_PATH "${MLIR_CMAKE_DIR}" "${LLVM_CMAKE_DIR}")
include(TableGen)
include(AddLLVM)
include(AddMLIR)        # mlir_tablegen only; HandleLLVMOptions is not included on purpose

llvm_map_components_to_libnames(_llvm core support targetparser analysis transformutils
  passes irreader bitwriter bitreader asmparser frontendopenmp orcjit orctargetprocess
  executionengine perfjitevents runtimedyld jitlink mc object target native nativecodegen)
add_library(tilewright_llvm INTERFACE)
target_link_libraries(tilewright_llvm INTERFACE ${_llvm})
get_property(_mlir_libraries GLOBAL PROPERTY MLIR_ALL_LIBS)
foreach(_library IN LISTS _mlir_libraries)
  if(TARGET ${_library} AND NOT _library STREQUAL "MLIR")
    get_target_property(_needed ${_library} INTERFACE_LINK_LIBRARIES)
    if(_needed)
      list(REMOVE_ITEM _needed LLVM MLIR)
      set_target_properties(${_library} PROPERTIES INTERFACE_LINK_LIBRARIES "${_needed};tilewright_llvm")
    endif()
  endif()
endforeach()
# LLVMSupport asks for shared zstd and zlib; the archives leave nothing to find at run time.
find_library(TILEWRIGHT_ZSTD libzstd.a REQUIRED)
find_library(TILEWRIGHT_ZLIB libz.a REQUIRED)
get_target_property(_needed LLVMSupport INTERFACE_LINK_LIBRARIES)
list(TRANSFORM _needed REPLACE "zstd::libzstd_shared" "${TILEWRIGHT_ZSTD}")
list(TRANSFORM _needed REPLACE "ZLIB::ZLIB" "${TILEWRIGHT_ZLIB}")
set_target_properties(LLVMSupport PROPERTIES INTERFACE_LINK_LIBRARIES "${_needed}")
find_program(TILEWRIGHT_LLD NAMES ld.lld ld.lld-22 lld)
if(TILEWRIGHT_LLD)
  add_link_options(-fuse-ld=lld)
endif()
add_link_options(-Wl,--gc-sections -Wl,--as-needed)
