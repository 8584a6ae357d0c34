# cmake --install build --prefix DIR: what a program outside of this tree is
# built from, for find_package(Nereid).
#
#   Nereid::Nereid    the compiler and the runtime as one shared library, for
#                     programs that compile their kernels: nereid/nereid.h
#   Nereid::Kernels   the operators and autograd as one, with Nereid::Nereid
#   Nereid::Runtime   the runtime as archives, for programs whose kernels are
#                     compiled ahead of time: nereid_add_kernels
#   Nereid::Autograd, Nereid::Weights, Nereid::Operators
#                     autograd, files of weights and the operators as archives, without kernels:
#                     nereid_add_operators
#   Nereid::KernelsAheadOfTime
#                     those and the kernels of NEREID_KERNEL_TARGETS, where the
#                     target nereid_kernels was built; a component of its own
#   Nereid::Prof      traces of such programs, an archive beside it
#   Nereid::nereid    the compiler as a program
#
# A program may link shared libraries and archives: the executable's copy
# of the runtime then stands for the library's, as ELF looks names up.
if(NEREID_STATIC)
  return() # makes programs; its oneTBB is part of them
endif()
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(folder ${CMAKE_INSTALL_LIBDIR}/cmake/Nereid)

# What is installed, for `cmake --install` to find all of it.
add_custom_target(nereid_package DEPENDS NereidKernels NereidProf)
if(NEREID_COMPILER)
  add_dependencies(nereid_package nereid NereidKernelsShared)
endif()
if(TARGET nereid_kernels)
  get_target_property(ahead nereid_kernels INTERFACE_LINK_LIBRARIES)
  list(FILTER ahead INCLUDE REGEX "^nereid_ahead_")
  add_dependencies(nereid_package nereid_kernels_registration ${ahead})
endif()
# It builds nothing itself: of a build of some targets it would copy what is
# there, and end at the first file that is not.
set(built Kernels Autograd Weights Prof Runtime RuntimeGpu Support Machine ABI)
list(TRANSFORM built PREPEND Nereid)
if(NEREID_COMPILER)
  list(APPEND built nereid Nereid NereidKernelsShared)
endif()
foreach(target ${built})
  install(CODE "set(file [[$<TARGET_FILE:${target}>]])
if(NOT EXISTS \"\${file}\")
  message(FATAL_ERROR \"cmake --install: expected a build of all that is installed, got none of \${file}; hint: cmake --build ${PROJECT_BINARY_DIR} --target nereid_package\")
endif()")
endforeach()

# The public API: what a program may include, and all that these include.
# docs/Runtime.md says what each is for; test/aot/check-install compiles each
# alone from the installed files.
set(runtime
  nereid/ABI/DType.h nereid/ABI/KernelCompiler.h nereid/ABI/KernelImage.h nereid/ABI/KernelLibrary.h nereid/ABI/LanguageVersion.h
  nereid/ABI/LaunchABI.h nereid/ABI/Status.h
  nereid/Machine/Clock.h nereid/Machine/Machine.h
  nereid/Runtime/Argument.h nereid/Runtime/Context.h nereid/Runtime/DLPack.h nereid/Runtime/Device.h nereid/Runtime/DeviceProperties.h
  nereid/Runtime/Error.h nereid/Runtime/FaultHandler.h nereid/Runtime/Grid.h nereid/Runtime/Kernel.h
  nereid/Runtime/Npy.h nereid/Runtime/Observer.h nereid/Runtime/Pointer.h nereid/Runtime/Print.h nereid/Runtime/Seeds.h nereid/Runtime/Stream.h nereid/Runtime/Tensor.h
  nereid/Runtime/TensorDescriptor.h nereid/Runtime/Text.h
  nereid/Support/Knobs.def nereid/Support/Knobs.h)
set(autograd
  nereid/Autograd/Record.h nereid/Autograd/Recompute.h nereid/Autograd/Variable.h nereid/Autograd/Views.h)
# kernels/<op>/<Op>.h, but for what the library calls itself.
set(kernels nereid/kernels.h kernels/expression/Values.h kernels/gradients/Outliers.h kernels/linear/NormedLinear.h kernels/operator/Axes.h kernels/operator/OperatorKernel.h
  kernels/module/Generator.h kernels/module/Initialise.h kernels/module/Layers.h
  kernels/operator/OverlappedLaunches.h kernels/reduce/Reductions.h)
file(GLOB headers CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/kernels/*/*.h)
foreach(header ${headers})
  string(REGEX MATCH "^kernels/([^/]+)/([^/]+)[.]h$" matched ${header})
  string(REPLACE "_" "" name ${CMAKE_MATCH_1})
  string(TOLOWER ${CMAKE_MATCH_2} file)
  if(name STREQUAL file AND NOT name MATCHES "^(accumulate|copy|random)$")
    list(APPEND kernels ${header})
  endif()
endforeach()
set(weights nereid/Support/Hash.h nereid/Weights/Safetensors.h)
foreach(pair "Runtime=runtime" "Autograd=autograd" "Weights=weights" "Kernels=kernels")
  string(REPLACE "=" ";" pair ${pair})
  list(POP_FRONT pair module list)
  list(TRANSFORM ${list} PREPEND ${PROJECT_SOURCE_DIR}/)
  target_sources(Nereid${module} PUBLIC FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR} FILES ${${list}})
endforeach()
target_sources(NereidProf PUBLIC FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR}
               FILES ${PROJECT_SOURCE_DIR}/nereid/Prof/Profiler.h)

foreach(name Kernels Autograd Weights Prof Runtime RuntimeGpu Support Machine ABI)
  set_target_properties(Nereid${name} PROPERTIES EXPORT_NAME ${name})
  install(TARGETS Nereid${name} EXPORT NereidTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
          FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
endforeach()
set_target_properties(NereidKernels PROPERTIES EXPORT_NAME Operators)
if(NEREID_COMPILER)
  # Debian keeps LLVM's libraries in a folder of their own.
  # The build folder's program has the same path. CMake would pad its own with
  # a ':', and an empty entry is the working folder, whose files would be loaded.
  set_target_properties(nereid PROPERTIES INSTALL_RPATH_USE_LINK_PATH ON
                        BUILD_WITH_INSTALL_RPATH ON)
  install(TARGETS nereid EXPORT NereidTargets RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  set_target_properties(Nereid PROPERTIES EXPORT_NAME Nereid)
  set_target_properties(NereidKernelsShared PROPERTIES EXPORT_NAME Kernels)
  target_sources(Nereid INTERFACE FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR} FILES ${PROJECT_SOURCE_DIR}/nereid/nereid.h)
  install(TARGETS Nereid NereidKernelsShared EXPORT NereidTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
          FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
endif()

# The operators' kernels: compiled, where they were, and to compile others from.
set(ahead_folder ${CMAKE_INSTALL_LIBDIR}/nereid)
if(TARGET nereid_kernels)
  install(FILES $<TARGET_OBJECTS:nereid_kernels_registration> DESTINATION ${ahead_folder}
          RENAME nereid_kernels.o OPTIONAL)
  get_target_property(archives nereid_kernels NEREID_ARCHIVES)
  install(FILES ${archives} DESTINATION ${ahead_folder} OPTIONAL)
endif()
file(GLOB operators CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}/kernels ${PROJECT_SOURCE_DIR}/kernels/*/ahead.txt)
list(TRANSFORM operators REPLACE "/ahead.txt$" "")
foreach(op ${operators})
  install(FILES kernels/${op}/ahead.txt kernels/${op}/${op}.py DESTINATION ${folder}/kernels/${op})
endforeach()

install(EXPORT NereidTargets NAMESPACE Nereid:: DESTINATION ${folder})
configure_package_config_file(cmake/NereidConfig.cmake.in ${PROJECT_BINARY_DIR}/NereidConfig.cmake
  INSTALL_DESTINATION ${folder} PATH_VARS ahead_folder NO_CHECK_REQUIRED_COMPONENTS_MACRO)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/NereidConfigVersion.cmake COMPATIBILITY ExactVersion)
install(FILES ${PROJECT_BINARY_DIR}/NereidConfig.cmake ${PROJECT_BINARY_DIR}/NereidConfigVersion.cmake
              cmake/NereidKernels.cmake cmake/NereidOperators.cmake cmake/AheadOfTimeForms.cmake DESTINATION ${folder})
