# LLVM and MLIR 22 as static archives. Debian's CMake exports mix static MLIR with libLLVM.so, so the archives are named here.
set(LLVM22_ROOT /usr/lib/llvm-22 CACHE PATH "where LLVM and MLIR 22 are installed")
set(LLVM22_INCLUDE ${LLVM22_ROOT}/include)
set(LLVM22_TBLGEN ${LLVM22_ROOT}/bin/mlir-tblgen)
find_program(LLVM22_TBLGEN_EXE NAMES mlir-tblgen mlir-tblgen-22 HINTS ${LLVM22_ROOT}/bin REQUIRED)

file(GLOB LLVM22_MLIR_ARCHIVES ${LLVM22_ROOT}/lib/libMLIR*.a)
list(FILTER LLVM22_MLIR_ARCHIVES EXCLUDE REGEX "libMLIR(CAPI|Test|.*Test|Python|MlirOptMain)")
execute_process(
  COMMAND ${LLVM22_ROOT}/bin/llvm-config --link-static --libfiles
          core orcjit jitlink x86 aarch64 nvptx passes irreader bitwriter mcdisassembler object debuginfodwarf
          frontendopenmp runtimedyld linker
  OUTPUT_VARIABLE LLVM22_LLVM_ARCHIVES OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
separate_arguments(LLVM22_LLVM_ARCHIVES UNIX_COMMAND "${LLVM22_LLVM_ARCHIVES}")

add_library(llvm22_archives INTERFACE)
target_link_libraries(llvm22_archives INTERFACE
  -Wl,--start-group ${LLVM22_MLIR_ARCHIVES} ${LLVM22_LLVM_ARCHIVES} -Wl,--end-group
  -l:libzstd.a -l:libz.a m pthread dl) # inside as LLVM is: what is linked asks for the C library alone
target_link_options(llvm22_archives INTERFACE -B${LLVM22_ROOT}/bin -fuse-ld=lld -Wl,--gc-sections
  -Wl,--build-id=fast)  # the disk cache is keyed by it (runtime/build_id.cpp)

# Code for AArch64 is made by what links this, too: 8.8 MB more (compiler/targets/cpu/emit_object.cpp). Wheels leave it out.
add_library(llvm22_aarch64 INTERFACE)
foreach(part TargetInfo Target TargetMC AsmPrinter)
  target_link_options(llvm22_aarch64 INTERFACE -Wl,--undefined=LLVMInitializeAArch64${part})
endforeach()

# tile_tablegen(NAME file.td args...): one generated header under compiler/ir of the build folder.
function(tile_tablegen OUT TD)
  add_custom_command(
    OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/${OUT}
    COMMAND ${LLVM22_TBLGEN_EXE} ${ARGN} -I ${LLVM22_INCLUDE} -I ${CMAKE_CURRENT_SOURCE_DIR} -I ${CMAKE_SOURCE_DIR}
            ${CMAKE_CURRENT_SOURCE_DIR}/${TD} -o ${CMAKE_CURRENT_BINARY_DIR}/${OUT} --write-if-changed
            -d ${CMAKE_CURRENT_BINARY_DIR}/${OUT}.d
    DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${TD}
    DEPFILE ${CMAKE_CURRENT_BINARY_DIR}/${OUT}.d
    COMMENT "tablegen ${OUT}")
  set(TILE_GENERATED ${TILE_GENERATED} ${CMAKE_CURRENT_BINARY_DIR}/${OUT} PARENT_SCOPE)
endfunction()
