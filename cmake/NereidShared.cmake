# The shared libraries that programs with the compiler link:
#
#   Nereid::Nereid    the compiler and the runtime: nereid/nereid.h
#   Nereid::Kernels   the operators and autograd, which compile their kernels as
#                     the program runs: kernels/softmax/Softmax.h
#
# A program whose kernels are compiled ahead of time links archives instead
# (cmake/NereidKernels.cmake, cmake/NereidOperators.cmake).
target_compile_features(NereidABI PUBLIC cxx_std_20)
foreach(name Autograd Weights Prof Support Machine ABI)
  add_library(Nereid::${name} ALIAS Nereid${name})
endforeach()
if(NEREID_STATIC OR NOT NEREID_COMPILER)
  return() # NEREID_STATIC makes programs; its oneTBB is part of them
endif()

include(GNUInstallDirs)

# Whole objects where nothing else would ask for them: a program may use any
# function of the public API.
add_library(Nereid SHARED)
add_library(Nereid::Nereid ALIAS Nereid)
foreach(module Pipeline Tune Bench Prof Runtime RuntimeGpu Support Machine ABI)
  target_sources(Nereid PRIVATE $<TARGET_OBJECTS:Nereid${module}>)
endforeach()
target_link_libraries(Nereid PRIVATE NereidPipeline NereidTune NereidProf NereidRuntime)

# What is in it connects the program to the compiler, as including
# nereid/nereid.h does.
add_library(NereidKernelsShared SHARED ${PROJECT_SOURCE_DIR}/cmake/WithCompiler.cpp)
add_library(Nereid::Kernels ALIAS NereidKernelsShared)
foreach(module Kernels Autograd Weights)
  target_sources(NereidKernelsShared PRIVATE $<TARGET_OBJECTS:Nereid${module}>)
endforeach()
target_link_libraries(NereidKernelsShared PUBLIC Nereid)
# Before it is installed libNereid.so is in the same folder, too.
set_target_properties(NereidKernelsShared PROPERTIES OUTPUT_NAME NereidKernels INSTALL_RPATH $ORIGIN)

foreach(target Nereid NereidKernelsShared)
  set_target_properties(${target} PROPERTIES LINKER_LANGUAGE CXX INSTALL_RPATH_USE_LINK_PATH ON
                        VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION}
                        LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
  target_compile_features(${target} INTERFACE cxx_std_20)
  target_include_directories(${target} INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>
                             $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
endforeach()
target_include_directories(NereidKernelsShared PRIVATE ${PROJECT_SOURCE_DIR})
