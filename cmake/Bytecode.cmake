# Bytecode of the package. Python writes it by itself, but not where PYTHONDONTWRITEBYTECODE is set, as in many containers: each
# import would compile the package there, which takes longer than all else it does. What does not parse is Python's to report.
find_package(Python COMPONENTS Interpreter REQUIRED)
file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/python/tilery/*.py)
add_custom_command(
  OUTPUT ${CMAKE_BINARY_DIR}/bytecode
  COMMAND ${Python_EXECUTABLE} -m compileall -qq ${CMAKE_SOURCE_DIR}/python/tilery || true
  COMMAND ${CMAKE_COMMAND} -E touch ${CMAKE_BINARY_DIR}/bytecode
  DEPENDS ${sources}
  COMMENT "Compiling Python's bytecode"
  VERBATIM)
add_custom_target(tilery-bytecode ALL DEPENDS ${CMAKE_BINARY_DIR}/bytecode)
