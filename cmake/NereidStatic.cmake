# NEREID_STATIC: programs that need nothing but libc, libm and the loader.
# docs/Portable.md says what is in them and why.

# GPUs are reached by dlopen, so the C library itself stays dynamic.
# Equal functions become one (docs/Portable.md says how that was verified). At a
# fixed address a program has no relocations, which are 3 MB of the file, and
# twice that of memory which each start would write.
add_link_options(-static-libstdc++ -static-libgcc -Wl,--gc-sections -Wl,--icf=all -Wl,--strip-all -Wl,--as-needed)
add_link_options($<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>:-no-pie>)
# What a shared library has from archives stays inside: Debian compiled libz.a and
# libzstd.a for programs (-fPIE), and their code reaches only symbols that no other
# library can replace. A Python process may also hold another LLVM.
add_link_options($<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,SHARED_LIBRARY>:-Wl,--exclude-libs,ALL>)

# Debian has oneTBB as a shared library only, and its authors advise against
# archives: two copies in a process are two schedulers. Here nothing else can
# bring another copy. Same version as Debian's, so the same headers.
find_package(Threads REQUIRED)
set(NEREID_TBB_DIR ${PROJECT_BINARY_DIR}/onetbb CACHE PATH "Sources of oneTBB; fetched if absent")
if(NOT EXISTS ${NEREID_TBB_DIR}/src/tbb/version.cpp)
  execute_process(COMMAND ${PROJECT_SOURCE_DIR}/scripts/fetch-onetbb ${NEREID_TBB_DIR}
                  COMMAND_ERROR_IS_FATAL ANY)
endif()
file(GLOB tbbSources ${NEREID_TBB_DIR}/src/tbb/*.cpp)
add_library(NereidTBB STATIC ${tbbSources})
add_library(TBB::tbb ALIAS NereidTBB)
target_include_directories(NereidTBB SYSTEM PUBLIC ${NEREID_TBB_DIR}/include)
# What its own build sets for an archive: no libtbbmalloc, libtbbbind or libirml
# is looked for at run time, so that a program is the same on every machine.
target_compile_definitions(NereidTBB PRIVATE __TBB_BUILD __TBB_DYNAMIC_LOAD_ENABLED=0
                           __TBB_SOURCE_DIRECTLY_INCLUDED=1)
target_compile_options(NereidTBB PRIVATE -mrtm -mwaitpkg -w -ffunction-sections -fdata-sections)
target_link_libraries(NereidTBB PUBLIC Threads::Threads)

include(NereidGloo)

find_library(NEREID_LIBZSTD libzstd.a REQUIRED)
set(NEREID_ZSTD ${NEREID_LIBZSTD})
find_library(NEREID_SODIUM libsodium.a REQUIRED)

# nereid_mlir_archives(<variable>): what stands for libMLIR.so and libLLVM.so.
# All of MLIR's dialects and conversions are named: an archive that nothing asks
# for costs a linker's glance, and a list of our own would break with every new
# #include.
function(nereid_mlir_archives variable)
  # Debian exported every MLIR archive with libLLVM.so in its interface, some
  # with libMLIR.so too. One that is left over gives two LLVMs in one process,
  # with two of each registry.
  foreach(target ${MLIR_EXPORTED_TARGETS})
    get_target_property(type ${target} TYPE)
    get_target_property(interface ${target} INTERFACE_LINK_LIBRARIES)
    if(type STREQUAL STATIC_LIBRARY AND interface)
      list(REMOVE_ITEM interface LLVM MLIR "$<LINK_ONLY:LLVM>" "$<LINK_ONLY:MLIR>")
      set_target_properties(${target} PROPERTIES INTERFACE_LINK_LIBRARIES "${interface}")
    endif()
  endforeach()

  # Z3 serves clang's analyzer only; the two compressors sections of debug
  # information.
  find_library(NEREID_LIBZ libz.a REQUIRED)
  set_target_properties(LLVMSupport PROPERTIES
    INTERFACE_LINK_LIBRARIES "rt;dl;m;${NEREID_LIBZ};${NEREID_LIBZSTD};LLVMDemangle")

  get_property(dialects GLOBAL PROPERTY MLIR_DIALECT_LIBS)
  get_property(conversions GLOBAL PROPERTY MLIR_CONVERSION_LIBS)
  get_property(extensions GLOBAL PROPERTY MLIR_EXTENSION_LIBS)
  get_property(translations GLOBAL PROPERTY MLIR_TRANSLATION_LIBS)
  set(targets X86 NVPTX)
  if(NEREID_AMDGPU)
    list(APPEND targets AMDGPU)
    set(linker LTO DTLTO)
  endif()
  llvm_map_components_to_libnames(llvm ${targets} ${linker} OrcJIT Passes)
  get_target_property(interface LLVMExtensions INTERFACE_LINK_LIBRARIES)
  list(REMOVE_ITEM interface Polly PollyISL)
  set_target_properties(LLVMExtensions PROPERTIES INTERFACE_LINK_LIBRARIES "${interface}")
  # lld as a library initialises every back end that LLVM was built with, and its
  # link-time optimiser asks for Polly. Empty functions instead of those that no
  # kernel needs: their archives would be half of the program.
  set(others "#include <llvm/Plugins/PassPlugin.h>\nllvm::PassPluginLibraryInfo getPollyPluginInfo() { return {}; }\n")
  foreach(target ${LLVM_ALL_TARGETS} ${LLVM_TARGETS_TO_BUILD} ${LLVM_EXPERIMENTAL_TARGETS_TO_BUILD})
    if(NOT target IN_LIST targets)
      list(APPEND otherTargets ${target})
    endif()
  endforeach()
  list(REMOVE_DUPLICATES otherTargets)
  # Only lld's link-time optimiser parses assembly text; AMDGPU's parser has 6 MB.
  foreach(target X86 AMDGPU)
    string(APPEND others "extern \"C\" void LLVMInitialize${target}AsmParser() {}\n")
  endforeach()
  foreach(target ${otherTargets})
    foreach(part TargetInfo Target TargetMC AsmPrinter AsmParser Disassembler)
      string(APPEND others "extern \"C\" void LLVMInitialize${target}${part}() {}\n")
    endforeach()
  endforeach()
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/OtherTargets.cpp CONTENT "${others}" @ONLY)
  add_library(NereidOtherTargets STATIC ${PROJECT_BINARY_DIR}/OtherTargets.cpp)
  target_include_directories(NereidOtherTargets SYSTEM PRIVATE ${LLVM_INCLUDE_DIRS})
  add_library(NereidLeftOut STATIC ${PROJECT_SOURCE_DIR}/cmake/LeftOut.cpp)
  target_include_directories(NereidLeftOut SYSTEM PRIVATE ${LLVM_INCLUDE_DIRS})
  target_compile_options(NereidLeftOut PRIVATE -fno-rtti)
  add_library(NereidGlibc235 STATIC ${PROJECT_SOURCE_DIR}/cmake/Glibc235.c)
  set(${variable} NereidOtherTargets NereidGlibc235 ${dialects} ${conversions} ${extensions} ${translations} MLIROptLib ${llvm}
      PARENT_SCOPE)
endfunction()
