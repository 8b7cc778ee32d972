# tilery-headers: every header compiles by itself, whatever was included before it. One source a header, so that after the first time
# only those are compiled that a change touches.
function(headers_alone NAME)
  foreach(header ${ARGN})
    cmake_path(RELATIVE_PATH header BASE_DIRECTORY ${CMAKE_SOURCE_DIR} OUTPUT_VARIABLE path)
    set(source ${CMAKE_BINARY_DIR}/headers/${path}.cpp)
    file(CONFIGURE OUTPUT ${source} CONTENT "#include \"${header}\"\n")
    list(APPEND sources ${source})
  endforeach()
  add_library(${NAME} OBJECT EXCLUDE_FROM_ALL ${sources})
endfunction()

# What names no type of LLVM sees none of its headers, nor the precompiled ones.
file(GLOB_RECURSE public CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/include/*.h ${CMAKE_SOURCE_DIR}/runtime/*.h)
headers_alone(headers-public ${public})
set_target_properties(headers-public PROPERTIES INCLUDE_DIRECTORIES "${CMAKE_SOURCE_DIR};${CMAKE_SOURCE_DIR}/include")

# The others see LLVM's and the dialects by the precompiled header: without it each would take ten seconds.
file(GLOB_RECURSE inner CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/compiler/*.h ${CMAKE_SOURCE_DIR}/tests/*.h)
headers_alone(headers-inner ${inner})
target_precompile_headers(headers-inner REUSE_FROM tilery)
target_compile_options(headers-inner PRIVATE -Xclang -fno-pch-timestamp)
add_dependencies(headers-inner tile_dialect_inc)

add_custom_target(tilery-headers DEPENDS headers-public headers-inner)
if(TILERY_PYTHON)
  file(GLOB binding CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/python/binding/*.h)
  list(FILTER binding EXCLUDE REGEX "pch.h$")
  headers_alone(headers-binding ${binding})
  target_link_libraries(headers-binding PRIVATE tilery-nanobind)
  add_dependencies(tilery-headers headers-binding)
endif()
