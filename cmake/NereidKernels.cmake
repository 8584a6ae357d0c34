# nereid_add_kernels(<target> FILES <kernels.py>... SIGNATURES <text>...
#                    [TARGETS <target>...] [NAMESPACE <name>] [HEADER <name.h>]
#                    [TUNED <tuned.json>] [DEPENDS <file>...]
#                    [OPTIONS <option>...])
#
# Compiles Triton-language kernels ahead of time into the static library
# <target>, and a header with a typed C++ function for each. What links <target>
# gets the runtime with it, and no compiler.
#
#   nereid_add_kernels(my_kernels
#     FILES softmax.py
#     SIGNATURES "softmax_kernel(*fp32:16, *fp32:16, i32:16, i32, BLOCK=1024)"
#     TARGETS x86-64 x86-64-v3 x86-64-v4 sm_80 sm_90a)
#   target_link_libraries(my_program PRIVATE my_kernels)   # "my_kernels.h"
#
# FILES       paths, relative to the current source folder
# SIGNATURES  KERNEL(...) as `nereid compile --signature` takes it, one for each
#             form of a kernel
# TARGETS     processors (x86-64-v3) and GPUs (sm_90a, gfx942); default: x86-64,
#             x86-64-v3, x86-64-v4 and sm_80
# NAMESPACE   of the functions; default: the name of the header
# HEADER      default: <target>.h
# TUNED       choices that `nereid tune --export` wrote: signatures leave the
#             tuned parameters out, and the program chooses by the launch's key
# DEPENDS     more files that the kernels read, such as modules they import
# OPTIONS     further options of `nereid compile`, such as --num-warps=8
#
# An edited kernel, or another nereid, makes the library again. docs/AheadOfTime.md
# says more.
function(nereid_add_kernels target)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "" "NAMESPACE;HEADER;TUNED" "FILES;SIGNATURES;TARGETS;DEPENDS;OPTIONS")
  if(ARG_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "nereid_add_kernels(${target}): unknown arguments ${ARG_UNPARSED_ARGUMENTS}")
  endif()
  foreach(needed FILES SIGNATURES)
    if(NOT ARG_${needed})
      message(FATAL_ERROR "nereid_add_kernels(${target}): ${needed} is missing")
    endif()
  endforeach()
  if(TARGET Nereid::nereid)
    set(program $<TARGET_FILE:Nereid::nereid>)
  else()
    # A build of the runtime alone takes the compiler from elsewhere.
    find_program(NEREID_PROGRAM nereid)
    if(NOT NEREID_PROGRAM)
      message(FATAL_ERROR "nereid_add_kernels(${target}): there is no nereid to compile kernels with; "
                          "set NEREID_PROGRAM to it, or build with NEREID_COMPILER=ON")
    endif()
    set(program ${NEREID_PROGRAM})
  endif()
  if(NOT ARG_TARGETS)
    set(ARG_TARGETS x86-64 x86-64-v3 x86-64-v4 sm_80)
  endif()
  if(NOT ARG_HEADER)
    set(ARG_HEADER ${target}.h)
  endif()
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${target}.kernels)
  file(MAKE_DIRECTORY ${folder})
  set(header ${folder}/${ARG_HEADER})
  set(object ${folder}/${target}.o)
  set(arguments --emit header -o ${header} --object ${object})
  list(JOIN ARG_TARGETS "," targets)
  list(APPEND arguments --target ${targets})
  foreach(signature ${ARG_SIGNATURES})
    list(APPEND arguments --signature ${signature})
  endforeach()
  if(ARG_NAMESPACE)
    list(APPEND arguments --namespace ${ARG_NAMESPACE})
  endif()
  if(ARG_TUNED)
    list(APPEND arguments --tuned ${ARG_TUNED})
  endif()
  # Paths as they are written here stand in the messages of failing kernels.
  add_custom_command(
    OUTPUT ${header} ${object}
    COMMAND ${program} compile ${ARG_FILES} ${arguments} ${ARG_OPTIONS}
    DEPENDS ${ARG_FILES} ${ARG_TUNED} ${ARG_DEPENDS} ${program}
    WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}
    COMMENT "Compiling the kernels of ${target}"
    VERBATIM)
  add_library(${target} STATIC ${object} ${header})
  set_source_files_properties(${object} PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
  set_target_properties(${target} PROPERTIES LINKER_LANGUAGE CXX)
  target_include_directories(${target} INTERFACE ${folder})
  target_link_libraries(${target} INTERFACE Nereid::Runtime)
endfunction()
