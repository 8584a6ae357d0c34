# cmake --install build --prefix DIR: what a program outside of this tree is
# built from, for find_package(Nereid).
#
#   Nereid::Nereid    the compiler and the runtime as one shared library, for
#                     programs that compile their kernels: nereid/nereid.h
#   Nereid::Runtime   the runtime as archives, for programs whose kernels are
#                     compiled ahead of time: nereid_add_kernels
#   Nereid::Prof      traces of such programs, an archive beside it
#
# and the compiler as a program. A program may link both: the executable's copy
# of the runtime then stands for the library's, as ELF looks names up.
if(NEREID_STATIC)
  return() # makes programs; its oneTBB is part of them
endif()
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(folder ${CMAKE_INSTALL_LIBDIR}/cmake/Nereid)

# The public API: what a program may include, and all that these include.
# docs/Runtime.md says what each is for; test/aot/check-install compiles each
# alone from the installed files.
set(NEREID_PUBLIC_HEADERS
  nereid/ABI/DType.h nereid/ABI/KernelCompiler.h nereid/ABI/KernelImage.h nereid/ABI/KernelLibrary.h nereid/ABI/LanguageVersion.h
  nereid/ABI/LaunchABI.h nereid/ABI/Status.h
  nereid/Machine/Clock.h nereid/Machine/Machine.h
  nereid/Runtime/Argument.h nereid/Runtime/Context.h nereid/Runtime/DLPack.h nereid/Runtime/Device.h nereid/Runtime/DeviceProperties.h
  nereid/Runtime/Error.h nereid/Runtime/FaultHandler.h nereid/Runtime/Grid.h nereid/Runtime/Kernel.h
  nereid/Runtime/Npy.h nereid/Runtime/Observer.h nereid/Runtime/Pointer.h nereid/Runtime/Stream.h nereid/Runtime/Tensor.h
  nereid/Runtime/TensorDescriptor.h nereid/Runtime/Text.h
  nereid/Support/Knobs.def nereid/Support/Knobs.h)
list(TRANSFORM NEREID_PUBLIC_HEADERS PREPEND ${CMAKE_SOURCE_DIR}/)
target_sources(NereidRuntime PUBLIC FILE_SET HEADERS BASE_DIRS ${CMAKE_SOURCE_DIR} FILES ${NEREID_PUBLIC_HEADERS})
target_sources(NereidProf PUBLIC FILE_SET HEADERS BASE_DIRS ${CMAKE_SOURCE_DIR}
               FILES ${CMAKE_SOURCE_DIR}/nereid/Prof/Profiler.h)

# `cmake --install` builds nothing: of a build of some targets it would copy what
# is there, and end at the first file that is not.
set(installed Prof Runtime RuntimeCuda Support Machine ABI)
list(TRANSFORM installed PREPEND Nereid)
if(NEREID_COMPILER)
  list(APPEND installed nereid Nereid)
endif()
foreach(target ${installed})
  install(CODE "set(built [[$<TARGET_FILE:${target}>]])
if(NOT EXISTS \"\${built}\")
  message(FATAL_ERROR \"cmake --install: expected a finished build, got none of \${built}; hint: cmake --build ${CMAKE_BINARY_DIR}\")
endif()")
endforeach()

foreach(name Prof Runtime RuntimeCuda Support Machine ABI)
  set_target_properties(Nereid${name} PROPERTIES EXPORT_NAME ${name})
  install(TARGETS Nereid${name} EXPORT NereidTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
          FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
endforeach()
target_compile_features(NereidABI PUBLIC cxx_std_20)
if(NEREID_COMPILER)
  # Debian keeps LLVM's libraries in a folder of their own.
  # The build folder's program has the same path. CMake would pad its own with
  # a ':', and an empty entry is the working folder, whose files would be loaded.
  set_target_properties(nereid PROPERTIES INSTALL_RPATH_USE_LINK_PATH ON
                        BUILD_WITH_INSTALL_RPATH ON)
  install(TARGETS nereid EXPORT NereidTargets RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})

  # Whole objects where nothing else would ask for them: a program may use any
  # function of the public API.
  add_library(Nereid SHARED)
  foreach(module Pipeline Tune Bench Prof Runtime RuntimeCuda Support Machine ABI)
    target_sources(Nereid PRIVATE $<TARGET_OBJECTS:Nereid${module}>)
  endforeach()
  set_target_properties(Nereid PROPERTIES LINKER_LANGUAGE CXX EXPORT_NAME Nereid INSTALL_RPATH_USE_LINK_PATH ON
                        VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION}
                        LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
  target_link_libraries(Nereid PRIVATE NereidPipeline NereidTune NereidProf NereidRuntime)
  target_compile_features(Nereid INTERFACE cxx_std_20)
  target_include_directories(Nereid INTERFACE $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}> $<INSTALL_INTERFACE:include>)
  target_sources(Nereid INTERFACE FILE_SET HEADERS BASE_DIRS ${CMAKE_SOURCE_DIR} FILES ${CMAKE_SOURCE_DIR}/nereid/nereid.h)
  install(TARGETS Nereid EXPORT NereidTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
          FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
endif()

install(EXPORT NereidTargets NAMESPACE Nereid:: DESTINATION ${folder})
file(WRITE ${CMAKE_BINARY_DIR}/NereidConfig.cmake [=[
include(CMakeFindDependencyMacro)
find_dependency(TBB)
include(${CMAKE_CURRENT_LIST_DIR}/NereidTargets.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/NereidKernels.cmake)
]=])
write_basic_package_version_file(${CMAKE_BINARY_DIR}/NereidConfigVersion.cmake COMPATIBILITY ExactVersion)
install(FILES ${CMAKE_BINARY_DIR}/NereidConfig.cmake ${CMAKE_BINARY_DIR}/NereidConfigVersion.cmake
              cmake/NereidKernels.cmake DESTINATION ${folder})
