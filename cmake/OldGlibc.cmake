# old_glibc: what makes a library run on systems with the C library of TILERY_GLIBC and later ones, whatever the C library here;
# libstdc++ is inside.
set(TILERY_GLIBC 2.28) # manylinux_2_28: RHEL 8, Debian 10, Ubuntu 18.10 and later
set(stubs ${CMAKE_CURRENT_BINARY_DIR}/glibc-${TILERY_GLIBC})
set(libraries ${stubs}/libc.so.6 ${stubs}/libm.so.6 ${stubs}/ld-linux-x86-64.so.2 ${stubs}/libpthread.so.0 ${stubs}/libdl.so.2)
add_custom_command(
  OUTPUT ${libraries}
  COMMAND ${Python_EXECUTABLE} ${CMAKE_SOURCE_DIR}/tools/glibc_stubs.py ${TILERY_GLIBC} ${CMAKE_C_COMPILER} ${stubs}
  DEPENDS ${CMAKE_SOURCE_DIR}/tools/glibc_stubs.py
  COMMENT "Stubs of glibc ${TILERY_GLIBC}"
  VERBATIM)
add_custom_target(glibc-stubs DEPENDS ${libraries})

add_library(old_glibc_symbols STATIC old_glibc.c)
target_compile_options(old_glibc_symbols PRIVATE -std=gnu17 -fvisibility=hidden)
add_dependencies(old_glibc_symbols glibc-stubs)

# As options: of libraries CMake would write -lc. They stand before the system's; of libraries of one name the linker takes the first.
# The unwinder stays the system's libgcc_s: pthread_exit, by which Python ends threads, unwinds by that one through our frames. What
# else is in libgcc comes from the archive: some of it is newer than the libgcc_s of old systems.
add_library(old_glibc INTERFACE)
target_link_libraries(old_glibc INTERFACE old_glibc_symbols)
target_link_options(old_glibc INTERFACE ${libraries} -static-libstdc++ -l:libgcc.a)
