# nereid_precompile(<target> <headers>...): the target carries these as a precompiled header for others.
#
# With the time in it, the header of every build would be another one to ccache, and with it all that includes it. What
# templates the headers instantiate is instantiated once, here, and not in every file.
function(nereid_precompile target)
  if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    target_compile_options(${target} PRIVATE "SHELL:-Xclang -fno-pch-timestamp" -fpch-instantiate-templates)
  endif()
  target_precompile_headers(${target} PRIVATE ${ARGN})
endfunction()

# `headers`: a target of nereid_precompile; it and all that reuse it need the same flags. Executables are compiled with
# -fPIE by CMake, the header with -fPIC: the last flag wins.
function(nereid_reuse_precompiled target headers)
  target_precompile_headers(${target} REUSE_FROM ${headers})
  target_compile_options(${target} PRIVATE -fPIC)
endfunction()

# Tests compile in half the time without optimisation, and hardly run longer: the compiler, the runtime and the reference
# executor that they call are libraries. Sanitizers have flags of their own.
function(nereid_not_optimized target)
  if(NOT NEREID_SANITIZE)
    target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O0>)
  endif()
endfunction()

# nereid_library(<name> [MLIR] [RING <ring>] [FOLDERS <folder>...] [EXCLUDE <regex>...]
#                [DEPENDS <targets>...])
#
# A module: every *.cpp of the current folder, and of its FOLDERS, except
# *Test.cpp and *Fuzz.cpp becomes a static library; *Test.cpp become one GoogleTest program <name>Tests
# registered with CTest (label unit, and the ring: exact, or level for tests
# that run what is compiled for this processor; cmake/NereidTest.cmake). MLIR: the precompiled header is MLIR's.
set(NEREID_WARNINGS -Wall -Wextra -Wno-unused-parameter -Werror=return-type
    -Werror=switch -ffunction-sections -fdata-sections)

function(nereid_compile_options target)
  target_compile_options(${target} PRIVATE ${NEREID_WARNINGS})
  target_include_directories(${target} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}> $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}>
    $<INSTALL_INTERFACE:include>)
  get_target_property(type ${target} TYPE)
  if(NEREID_SANITIZE AND type STREQUAL EXECUTABLE)
    target_sources(${target} PRIVATE ${PROJECT_SOURCE_DIR}/cmake/SanitizerOptions.cpp)
  endif()
endfunction()

function(nereid_library name)
  cmake_parse_arguments(ARG "MLIR" "RING" "FOLDERS;EXCLUDE;DEPENDS" ${ARGN})
  if(ARG_MLIR AND NOT NEREID_COMPILER)
    return()
  endif()
  if(NOT ARG_RING)
    set(ARG_RING exact)
  endif()
  set(patterns *.cpp)
  foreach(folder ${ARG_FOLDERS})
    list(APPEND patterns ${folder}/*.cpp)
  endforeach()
  file(GLOB sources CONFIGURE_DEPENDS ${patterns})
  set(tests ${sources})
  list(FILTER tests INCLUDE REGEX "Test\\.cpp$")
  list(FILTER sources EXCLUDE REGEX "(Test|Fuzz)\\.cpp$")
  foreach(pattern ${ARG_EXCLUDE})
    list(FILTER sources EXCLUDE REGEX ${pattern})
    list(FILTER tests EXCLUDE REGEX ${pattern})
  endforeach()
  if(NOT sources)
    add_library(${name} INTERFACE)
    target_link_libraries(${name} INTERFACE ${ARG_DEPENDS})
    return()
  endif()
  add_library(${name} STATIC ${sources})
  nereid_compile_options(${name})
  target_link_libraries(${name} PUBLIC ${ARG_DEPENDS})
  set(headers NereidStandardHeaders)
  if(ARG_MLIR)
    set(headers NereidMLIRHeaders)
    target_link_libraries(${name} PUBLIC NereidMLIRHeaders)
  endif()
  nereid_reuse_precompiled(${name} ${headers})
  if(tests AND BUILD_TESTING)
    set(form)
    if(ARG_MLIR)
      set(form MLIR)
    endif()
    nereid_test_program(${name}Tests ${form} SOURCES ${tests} DEPENDS ${name})
    nereid_googletest(unit.${name} ${name}Tests RING ${ARG_RING} LABELS unit SOURCES ${tests})
  endif()
endfunction()

# nereid_executable(<name> [MLIR] [WHOLE] SOURCES ... [DEPENDS ...])
#
# WHOLE: LLVM and MLIR are parts of the program instead of shared libraries, at fixed addresses. It starts in a fifth of
# the time, since the loader relocates nothing (docs/Portable.md), and is 70 MB larger. For programs that start often.
function(nereid_executable name)
  cmake_parse_arguments(ARG "MLIR;WHOLE" "" "SOURCES;DEPENDS" ${ARGN})
  if(ARG_MLIR AND NOT NEREID_COMPILER)
    return()
  endif()
  add_executable(${name} ${ARG_SOURCES})
  nereid_compile_options(${name})
  target_link_libraries(${name} PRIVATE ${ARG_DEPENDS})
  if(ARG_WHOLE AND NEREID_WHOLE_PROGRAMS)
    set_target_properties(${name} PROPERTIES NEREID_IS_WHOLE ON)
    target_link_options(${name} PRIVATE -no-pie -Wl,--gc-sections)
  endif()
  set(headers NereidStandardHeaders)
  if(ARG_MLIR)
    set(headers NereidMLIRHeaders)
  endif()
  nereid_reuse_precompiled(${name} ${headers})
endfunction()

# nereid_test_program(<name> [MLIR] SOURCES ... [DEPENDS ...]): of GoogleTest, whose main function it has.
function(nereid_test_program name)
  cmake_parse_arguments(ARG "MLIR" "" "SOURCES;DEPENDS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  nereid_compile_options(${name})
  nereid_not_optimized(${name})
  target_link_libraries(${name} PRIVATE ${ARG_DEPENDS} GTest::gtest_main GTest::gmock)
  set(headers NereidTestHeaders)
  if(ARG_MLIR)
    set(headers NereidMLIRTestHeaders)
  endif()
  nereid_reuse_precompiled(${name} ${headers})
endfunction()

# nereid_fuzzer(<name> <source> <deps>...): a libFuzzer program, NEREID_FUZZ only.
function(nereid_fuzzer name source)
  if(NEREID_FUZZ)
    add_executable(${name} ${source})
    nereid_compile_options(${name})
    target_link_libraries(${name} PRIVATE ${ARGN})
    target_link_options(${name} PRIVATE -fsanitize=fuzzer)
  endif()
endfunction()
