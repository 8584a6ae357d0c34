# With the time in it, the precompiled header of every build would be another one
# to ccache, and with it all that includes it.
function(nereid_same_precompiled headers)
  if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    target_compile_options(${headers} PRIVATE "SHELL:-Xclang -fno-pch-timestamp")
  endif()
endfunction()
# `headers`: NereidMLIRHeaders or NereidTestHeaders. Executables are compiled with
# -fPIE by CMake, the header with -fPIC: the last flag wins.
function(nereid_reuse_precompiled target headers)
  target_precompile_headers(${target} REUSE_FROM ${headers})
  target_compile_options(${target} PRIVATE -fPIC)
endfunction()

# nereid_library(<name> [MLIR] [RING <ring>] [FOLDERS <folder>...] [EXCLUDE <regex>...]
#                [DEPENDS <targets>...])
#
# A module: every *.cpp of the current folder, and of its FOLDERS, except
# *Test.cpp and *Fuzz.cpp becomes a static library; *Test.cpp become one GoogleTest program <name>Tests
# registered with CTest (label unit, and the ring: exact, or level for tests
# that run what is compiled for this processor; cmake/NereidTest.cmake). MLIR adds the shared precompiled header.
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
  if(ARG_MLIR)
    target_link_libraries(${name} PUBLIC NereidMLIRHeaders)
    target_precompile_headers(${name} REUSE_FROM NereidMLIRHeaders)
  endif()
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
  if(ARG_MLIR)
    nereid_reuse_precompiled(${name} NereidMLIRHeaders)
  endif()
endfunction()

# nereid_test_program(<name> [MLIR] SOURCES ... [DEPENDS ...]): of GoogleTest, whose main function it has.
function(nereid_test_program name)
  cmake_parse_arguments(ARG "MLIR" "" "SOURCES;DEPENDS" ${ARGN})
  nereid_executable(${name} SOURCES ${ARG_SOURCES} DEPENDS ${ARG_DEPENDS} GTest::gtest_main GTest::gmock)
  set(headers NereidTestHeaders)
  if(ARG_MLIR)
    set(headers NereidMLIRHeaders)
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
