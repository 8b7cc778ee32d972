# libm for GPUs: the f64 functions of LLVM's libclc (Debian package libclc-22; Apache-2.0 with LLVM exceptions) that programs may call,
# as bitcode inside the library. compiler/targets/cuda/ptx/math_library.cpp links into a kernel's module those that it calls.
find_file(LIBCLC_NVPTX nvptx64--.bc PATHS /usr/lib/clc ${LLVM22_ROOT}/share/clc NO_DEFAULT_PATH)
if(NOT LIBCLC_NVPTX)
  message(FATAL_ERROR "libclc's nvptx64--.bc is not found: install libclc-22")
endif()

set(symbols _Z5atan2dd _Z3powdd _Z4fmoddd)
foreach(name exp exp2 expm1 log log2 log10 log1p tanh erf erfc sin cos tan asin acos atan sinh cosh asinh acosh atanh cbrt)
  string(LENGTH ${name} length)
  list(APPEND symbols _Z${length}${name}d)
endforeach()
list(JOIN symbols "," symbols)

set(DEVICE_MATH_OBJECT ${CMAKE_CURRENT_BINARY_DIR}/device_math.o)
add_custom_command(
  OUTPUT ${DEVICE_MATH_OBJECT}
  COMMAND ${LLVM22_ROOT}/bin/opt --internalize-public-api-list=${symbols} -passes=internalize,globaldce,strip ${LIBCLC_NVPTX}
          -o device_math.bc
  COMMAND ${LLVM22_ROOT}/bin/llvm-objcopy -I binary -O elf64-x86-64 --set-section-alignment .data=16
          --rename-section .data=.rodata.device_math,alloc,load,readonly,data,contents device_math.bc ${DEVICE_MATH_OBJECT}
  DEPENDS ${LIBCLC_NVPTX}
  WORKING_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}
  COMMENT "device_math.o"
  VERBATIM)
set_source_files_properties(${DEVICE_MATH_OBJECT} PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)
