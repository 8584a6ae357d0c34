# LLVM, MLIR and lld as archives: of every program with NEREID_STATIC, else of those of nereid_executable(... WHOLE).

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
  set_target_properties(LLVMSupport PROPERTIES
    INTERFACE_LINK_LIBRARIES "rt;dl;m;${NEREID_LIBZ};${NEREID_ZSTD};LLVMDemangle")

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
  set(functions LLVMInitializeX86AsmParser LLVMInitializeAMDGPUAsmParser)
  foreach(target ${otherTargets})
    foreach(part TargetInfo Target TargetMC AsmPrinter AsmParser Disassembler)
      list(APPEND functions LLVMInitialize${target}${part})
    endforeach()
  endforeach()
  list(REMOVE_DUPLICATES functions)
  foreach(function ${functions})
    string(APPEND others "extern \"C\" void ${function}() {}\n")
  endforeach()
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/OtherTargets.cpp CONTENT "${others}" @ONLY)
  add_library(NereidOtherTargets STATIC ${PROJECT_BINARY_DIR}/OtherTargets.cpp)
  target_include_directories(NereidOtherTargets SYSTEM PRIVATE ${LLVM_INCLUDE_DIRS})
  add_library(NereidLeftOut STATIC ${PROJECT_SOURCE_DIR}/cmake/LeftOut.cpp)
  target_include_directories(NereidLeftOut SYSTEM PRIVATE ${LLVM_INCLUDE_DIRS})
  target_compile_options(NereidLeftOut PRIVATE -fno-rtti)
  set(${variable} NereidOtherTargets ${dialects} ${conversions} ${extensions} ${translations} MLIROptLib ${llvm}
      PARENT_SCOPE)
endfunction()
