# cmake --install build --prefix DIR: what a program with kernels compiled ahead
# of time is built from, for find_package(Nereid): the runtime as archives, its
# headers, the compiler as a program, nereid_add_kernels.
if(NEREID_STATIC)
  return() # makes programs; its oneTBB is part of them
endif()
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(folder ${CMAKE_INSTALL_LIBDIR}/cmake/Nereid)

foreach(name Runtime RuntimeCuda Support ABI)
  set_target_properties(Nereid${name} PROPERTIES EXPORT_NAME ${name})
  install(TARGETS Nereid${name} EXPORT NereidTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
endforeach()
target_compile_features(NereidABI PUBLIC cxx_std_20)
foreach(module ABI Support Runtime)
  install(DIRECTORY nereid/${module} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/nereid
          FILES_MATCHING PATTERN "*.h" PATTERN "*.def" PATTERN "Fake*" EXCLUDE PATTERN "*Fixture.h" EXCLUDE)
endforeach()
if(NEREID_COMPILER)
  # Debian keeps LLVM's libraries in a folder of their own.
  # The build folder's program has the same path. CMake would pad its own with
  # a ':', and an empty entry is the working folder, whose files would be loaded.
  set_target_properties(nereid PROPERTIES INSTALL_RPATH_USE_LINK_PATH ON
                        BUILD_WITH_INSTALL_RPATH ON)
  install(TARGETS nereid EXPORT NereidTargets RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
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
