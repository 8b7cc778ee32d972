# find_package(tilery COMPONENTS compiler runtime):
#   tilery::compiler  libtilery.so, for C++ programs that compile tile programs and run them; the runtime is inside
#   tilery::runtime   libtilery_rt.a, for C and C++ programs that run what was compiled ahead of time
cmake_path(SET tilery_PREFIX NORMALIZE ${CMAKE_CURRENT_LIST_DIR}/../../../)

include(CMakeFindDependencyMacro)
find_dependency(Threads)

if(NOT TARGET tilery::runtime)
  add_library(tilery::runtime STATIC IMPORTED)
  set_target_properties(tilery::runtime PROPERTIES
    IMPORTED_LOCATION ${tilery_PREFIX}lib/libtilery_rt.a
    INTERFACE_INCLUDE_DIRECTORIES ${tilery_PREFIX}include
    INTERFACE_LINK_LIBRARIES "stdc++;m;${CMAKE_DL_LIBS};Threads::Threads") # by name: the program may be C alone
endif()
set(tilery_runtime_FOUND TRUE)

if(EXISTS ${tilery_PREFIX}lib/libtilery.so) # a wheel has none
  if(NOT TARGET tilery::compiler)
    add_library(tilery::compiler SHARED IMPORTED)
    set_target_properties(tilery::compiler PROPERTIES
      IMPORTED_LOCATION ${tilery_PREFIX}lib/libtilery.so
      INTERFACE_INCLUDE_DIRECTORIES ${tilery_PREFIX}include
      INTERFACE_COMPILE_FEATURES cxx_std_20)
  endif()
  set(tilery_compiler_FOUND TRUE)
endif()

foreach(component ${tilery_FIND_COMPONENTS})
  if(tilery_FIND_REQUIRED_${component} AND NOT tilery_${component}_FOUND)
    set(tilery_FOUND FALSE)
    set(tilery_NOT_FOUND_MESSAGE "tilery's component ${component} is not installed here")
  endif()
endforeach()
