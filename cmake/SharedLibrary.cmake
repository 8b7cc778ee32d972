# libtilery.so: all of the compiler and the runtime, for C++ programs outside of this tree. It exports what include/tilery declares; LLVM is
# inside and unseen, so that another LLVM can live in the same process. The C++ runtime is the system's, as the interface is C++.
add_library(tilery-shared SHARED $<TARGET_OBJECTS:tilery> $<TARGET_OBJECTS:tilery_rt> ${DEVICE_MATH_OBJECT})
set_target_properties(tilery-shared PROPERTIES OUTPUT_NAME tilery LINKER_LANGUAGE CXX
  VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}) # before 1.0 each 0.x has an interface of its own
target_link_libraries(tilery-shared PRIVATE llvm22_archives llvm22_aarch64)
set(exports ${CMAKE_CURRENT_SOURCE_DIR}/compiler/exports.txt)
target_link_options(tilery-shared PRIVATE -Wl,--version-script=${exports} -Wl,--icf=all -Wl,-z,defs)
set_property(TARGET tilery-shared APPEND PROPERTY LINK_DEPENDS ${exports})
install(TARGETS tilery-shared LIBRARY DESTINATION lib COMPONENT compiler)

configure_file(cmake/tilery.pc.in ${CMAKE_CURRENT_BINARY_DIR}/install/tilery.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/install/tilery.pc DESTINATION lib/pkgconfig COMPONENT compiler)
