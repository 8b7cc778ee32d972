# What `cmake --install` puts under the prefix, and what the wheel holds under tilery/ (tools/wheel.py): the runtime library and headers,
# to be found by CMake (find_package(tilery COMPONENTS runtime)) and by pkg-config (tilery_rt), wherever the folder was moved to.
include(CMakePackageConfigHelpers)

install(FILES $<TARGET_FILE:tilery_rt> DESTINATION lib COMPONENT runtime)
install(DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}/include/tilery DESTINATION include COMPONENT runtime)

set(made ${CMAKE_CURRENT_BINARY_DIR}/install)
write_basic_package_version_file(${made}/tilery-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES cmake/tilery-config.cmake ${made}/tilery-config-version.cmake DESTINATION lib/cmake/tilery COMPONENT runtime)

configure_file(cmake/tilery_rt.pc.in ${made}/tilery_rt.pc @ONLY)
install(FILES ${made}/tilery_rt.pc DESTINATION lib/pkgconfig COMPONENT runtime)
