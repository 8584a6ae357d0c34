# Tests and their rings (CONTRIBUTING.md has the rule of each):
#
#   exact  a fixed seed and no clock: one answer on every machine
#   level  exact, once a level of the processor is chosen; skipped where it cannot run
#   host   needs something of the machine; looks for it, else skips with a reason
#   speed  budgets of time: serial, and only in scripts/speed
#   soak   random seeds, kills at random moments, long runs: only in scripts/soak
#
# Every test is registered here and nowhere else (scripts/check-rings).
set(NEREID_TEST_RINGS exact level host speed soak)
# Seconds. A limit ends what hangs: ten times what the slowest test of the ring
# takes on two slow cores, never a budget (test/budgets.txt has those).
set(NEREID_TEST_TIMEOUT_exact 600)
set(NEREID_TEST_TIMEOUT_level 1200)
set(NEREID_TEST_TIMEOUT_host 1200)
set(NEREID_TEST_TIMEOUT_speed 1200)
set(NEREID_TEST_TIMEOUT_soak 3600)

# nereid_test(<name> RING <ring> LABELS <label>... [TIMEOUT <seconds>] [POOL]
#             [ENVIRONMENT <NAME=value>...] [PROPERTIES <property> <value>...]
#             [WORKING_DIRECTORY <folder>] COMMAND <program> <argument>...)
#
# POOL      keeps two cores busy: CTest starts nothing beside it on two cores
# The pool of every test has two threads, so that the number of cores of the
# machine changes nothing. Python's sets have one order. Variables of the caller
# that choose a language, tests, seeds or numbers of cases change nothing. A
# GoogleTest filter that matches nothing is a failure.
function(nereid_test name)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "POOL" "RING;TIMEOUT;WORKING_DIRECTORY" "LABELS;ENVIRONMENT;PROPERTIES;COMMAND")
  if(NOT ARG_RING IN_LIST NEREID_TEST_RINGS)
    message(FATAL_ERROR "nereid_test(${name}): expected RING exact, level, host, speed or soak, got '${ARG_RING}'")
  endif()
  if(NOT ARG_LABELS OR NOT ARG_COMMAND OR ARG_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "nereid_test(${name}): expected LABELS and COMMAND and nothing unknown, got '${ARG_UNPARSED_ARGUMENTS}'")
  endif()
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT ${NEREID_TEST_TIMEOUT_${ARG_RING}})
  endif()
  if(NOT ARG_TIMEOUT MATCHES "^[1-9][0-9]*$")
    message(FATAL_ERROR "nereid_test(${name}): expected TIMEOUT in seconds from 1, got '${ARG_TIMEOUT}'")
  endif()
  if(NOT ARG_WORKING_DIRECTORY)
    set(ARG_WORKING_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR})
  endif()
  add_test(NAME ${name} COMMAND ${ARG_COMMAND} WORKING_DIRECTORY ${ARG_WORKING_DIRECTORY})
  set(environment PYTHONHASHSEED=0 ${ARG_ENVIRONMENT})
  if(NOT "${ARG_ENVIRONMENT}" MATCHES "NEREID_NUM_THREADS=")
    list(APPEND environment NEREID_NUM_THREADS=2)
  endif()
  set(modification LC_ALL=set:C.UTF-8 LANGUAGE=unset: GTEST_FILTER=unset: GTEST_SHUFFLE=unset: GTEST_REPEAT=unset:)
  foreach(variable KERNELS_TEST_SEED KERNELS_TEST_CASES)
    if(NOT ARG_RING STREQUAL soak AND NOT "${ARG_ENVIRONMENT}" MATCHES "${variable}=")
      list(APPEND modification ${variable}=unset:)
    endif()
  endforeach()
  set_tests_properties(${name} PROPERTIES LABELS "${ARG_LABELS};${ARG_RING}" TIMEOUT ${ARG_TIMEOUT}
                       ENVIRONMENT "${environment}" ENVIRONMENT_MODIFICATION "${modification}"
                       FAIL_REGULAR_EXPRESSION "Running 0 tests from 0 test suites")
  if(NOT ARG_RING STREQUAL exact) # a level that the machine cannot run, a tool that it lacks
    set_tests_properties(${name} PROPERTIES SKIP_RETURN_CODE 77)
  endif()
  if(ARG_RING STREQUAL speed)
    set_tests_properties(${name} PROPERTIES RUN_SERIAL ON)
  endif()
  if(ARG_POOL)
    set_tests_properties(${name} PROPERTIES PROCESSORS 2)
  endif()
  if(ARG_PROPERTIES)
    set_tests_properties(${name} PROPERTIES ${ARG_PROPERTIES})
  endif()
endfunction()

# A GoogleTest program after it runs as one process for each suite, two at a time: for tests with POOL.
set(NEREID_SHARDS ${PROJECT_SOURCE_DIR}/test/harness/shards 2)

# nereid_googletest(<name> <program> RING <ring> SOURCES <files> [what nereid_test takes]...)
#
# A GoogleTest program. The files' names say which of its tests are of another
# ring: FooSpeedTest.cpp has suites called ...Speed, FooSoakTest.cpp ...Soak,
# FooOnMachineTest.cpp ...OnMachine (scripts/check-rings compares them); each becomes
# a test of its own, <name>.speed, <name>.soak, <name>.on-machine.
# SHARDS: the test itself has POOL, and runs by NEREID_SHARDS.
function(nereid_googletest name program)
  cmake_parse_arguments(PARSE_ARGV 2 ARG "SHARDS" "RING" "SOURCES;LABELS;PROPERTIES;ENVIRONMENT;TIMEOUT")
  set(more LABELS ${ARG_LABELS} ENVIRONMENT ${ARG_ENVIRONMENT} PROPERTIES ${ARG_PROPERTIES} ${ARG_UNPARSED_ARGUMENTS})
  set(others "")
  foreach(pair Speed:speed Soak:soak OnMachine:host)
    string(REPLACE ":" ";" pair ${pair})
    list(POP_FRONT pair suffix ring)
    set(files ${ARG_SOURCES})
    list(FILTER files INCLUDE REGEX "${suffix}Test\\.cpp$")
    if(files)
      string(REPLACE host on-machine end ${ring})
      nereid_test(${name}.${end} RING ${ring} ${more} COMMAND ${program} --gtest_filter=*${suffix}.*)
      string(APPEND others ":*${suffix}.*")
    endif()
  endforeach()
  if(ARG_TIMEOUT)
    list(APPEND more TIMEOUT ${ARG_TIMEOUT})
  endif()
  set(filter "")
  if(others)
    string(REGEX REPLACE "^:" "--gtest_filter=*-" filter ${others})
  endif()
  set(command ${program})
  if(ARG_SHARDS)
    list(APPEND more POOL)
    set(command ${NEREID_SHARDS} $<TARGET_FILE:${program}>)
  endif()
  nereid_test(${name} RING ${ARG_RING} ${more} COMMAND ${command} ${filter})
endfunction()
