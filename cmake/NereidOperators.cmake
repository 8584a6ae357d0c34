# nereid_add_operators(<target> [OPERATORS <name>...] [TARGETS <target>...]
#                      [PTX <target>...])
#
# The operators with their kernels compiled ahead of time, as the library
# <target>, for programs without a compiler:
#
#   nereid_add_operators(my_operators TARGETS x86-64-v3 x86-64-v4 sm_90a)
#   target_link_libraries(my_program PRIVATE my_operators) # "kernels/softmax/Softmax.h"
#
# OPERATORS   those whose kernels are in it; default: all. The functions of all
#             are there, and one without kernels throws NotFound. accumulate
#             (sums of gradients), copy and expression are what others call
# TARGETS     processors (x86-64-v3) and GPUs (sm_90a, gfx942); default: x86-64-v3,
#             x86-64-v4, sm_80 and sm_90a
# PTX         those of TARGETS whose PTX is kept beside machine code, for GPUs
#             that are not among them; default: all
#
# A program links one such library. docs/AheadOfTime.md says more.
include(${CMAKE_CURRENT_LIST_DIR}/AheadOfTimeForms.cmake)

function(nereid_add_operators target)
  # PREFIX: of the libraries that it is made of.
  cmake_parse_arguments(PARSE_ARGV 1 ARG "" "PREFIX" "OPERATORS;TARGETS;PTX")
  if(ARG_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "nereid_add_operators(${target}): unknown arguments ${ARG_UNPARSED_ARGUMENTS}")
  endif()
  # What is installed of kernels/, or that folder of the sources.
  set(root ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/kernels)
  if(NOT EXISTS ${root})
    get_filename_component(root ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../kernels ABSOLUTE)
  endif()
  file(GLOB known RELATIVE ${root} ${root}/*/ahead.txt)
  list(TRANSFORM known REPLACE "/ahead.txt$" "")
  if(NOT ARG_OPERATORS)
    set(ARG_OPERATORS ${known})
  endif()
  foreach(op ${ARG_OPERATORS})
    if(NOT op IN_LIST known)
      list(JOIN known ", " names)
      message(FATAL_ERROR "nereid_add_operators(${target}): expected OPERATORS among ${names}, got '${op}'")
    endif()
  endforeach()
  if(NOT ARG_TARGETS)
    set(ARG_TARGETS x86-64-v3 x86-64-v4 sm_80 sm_90a)
  endif()
  foreach(one ${ARG_PTX})
    if(NOT one IN_LIST ARG_TARGETS)
      list(JOIN ARG_TARGETS ", " names)
      message(FATAL_ERROR "nereid_add_operators(${target}): expected PTX among the targets ${names}, got '${one}'")
    endif()
  endforeach()
  set(options "")
  if(ARG_PTX)
    list(JOIN ARG_PTX "," ptx)
    set(options --ptx ${ptx})
  endif()
  if(NOT ARG_PREFIX)
    set(ARG_PREFIX ${target})
  endif()

  set(libraries "")
  set(registrations "")
  set(declarations "")
  foreach(op ${ARG_OPERATORS})
    set(folder ${root}/${op})
    if(root STREQUAL CMAKE_CURRENT_SOURCE_DIR)
      set(folder ${op})
    endif()
    nereid_forms(${folder}/ahead.txt signatures)
    set(name ${ARG_PREFIX}_${op})
    nereid_add_kernels(${name} FILES ${folder}/${op}.py SIGNATURES ${signatures} TARGETS ${ARG_TARGETS}
                       OPTIONS ${options})
    set_target_properties(${name} PROPERTIES EXCLUDE_FROM_ALL ON)
    list(APPEND libraries ${name})
    string(APPEND declarations "extern \"C\" const nereid::KernelLibrary nereid_kernels_${name};\n")
    string(APPEND registrations "    {\"${op}\", &nereid_kernels_${name}},\n")
  endforeach()
  file(CONFIGURE OUTPUT ${target}.cpp CONTENT "// Made by nereid_add_operators.
#include \"kernels/operator/OperatorKernel.h\"
@declarations@
const nereid::kernels::LinkedLibrary nereid::kernels::linkedLibraries[] = {
@registrations@    {}};
" @ONLY)
  # An object, so that it is linked though nothing needs it.
  add_library(${target}_registration OBJECT EXCLUDE_FROM_ALL ${CMAKE_CURRENT_BINARY_DIR}/${target}.cpp)
  target_link_libraries(${target}_registration PRIVATE Nereid::Operators)
  add_library(${target} INTERFACE)
  target_sources(${target} INTERFACE $<TARGET_OBJECTS:${target}_registration>)
  target_link_libraries(${target} INTERFACE Nereid::Operators ${libraries})
  list(TRANSFORM libraries REPLACE "(.+)" "$<TARGET_FILE:\\1>" OUTPUT_VARIABLE archives)
  set_target_properties(${target} PROPERTIES NEREID_ARCHIVES "${archives}")
endfunction()
