# TILERY_SANITIZE: what the build's own code is instrumented for, in a folder of its own (tools/sanitize.py). LLVM's archives and generated
# code are as they are everywhere; what follows from that is switched off here, and in the options that tools/sanitize.py gives programs.
set(TILERY_SANITIZE "" CACHE STRING "sanitizers: address,undefined or thread; none: an ordinary build")
set(sanitizers -fsanitize=${TILERY_SANITIZE} -fno-omit-frame-pointer)
if(TILERY_SANITIZE STREQUAL "address,undefined")
  # function: it reads what stands before a function called by its address; before generated code there may be no memory.
  # vptr: it asks for the type information of LLVM's classes, of which the archives have no part.
  # fuzzer-no-link: the fuzzers of readers (tests/readers) see which code ran; it changes nothing for other programs.
  list(APPEND sanitizers -fno-sanitize=function,vptr -fno-sanitize-recover=all -fsanitize=fuzzer-no-link)
  add_compile_definitions(_GLIBCXX_ASSERTIONS) # an index behind the end of a vector or span, within its memory or not
elseif(NOT TILERY_SANITIZE STREQUAL "thread" AND NOT TILERY_SANITIZE STREQUAL "")
  message(FATAL_ERROR "TILERY_SANITIZE is ${TILERY_SANITIZE}; it may be address,undefined or thread")
endif()
if(TILERY_SANITIZE)
  add_compile_options(${sanitizers})
  add_link_options(${sanitizers})
endif()
