# Debian's LLVM/MLIR 22, as shared libraries; as archives with NEREID_STATIC and in programs that are WHOLE. The version file of MLIR wants
# major.minor, so "22" alone is refused. NO_DEFAULT_PATH keeps an older Debian
# LLVM on the same machine from being picked up.
find_package(MLIR 22.1 REQUIRED CONFIG PATHS /usr/lib/llvm-22/lib/cmake/mlir NO_DEFAULT_PATH)
list(APPEND CMAKE_MODULE_PATH ${MLIR_CMAKE_DIR} ${LLVM_CMAKE_DIR})
# Debian ships no bin/llvm-lit, which LLVMConfig.cmake names.
set(LLVM_EXTERNAL_LIT ${LLVM_TOOLS_BINARY_DIR}/lit CACHE FILEPATH "" FORCE)
include(TableGen)
include(AddLLVM)
include(AddMLIR)

# One precompiled header for everything that touches MLIR: a conversion then
# compiles in about 2.4 s instead of 17 s. All users need identical flags.
add_library(NereidMLIRHeaders STATIC ${PROJECT_SOURCE_DIR}/cmake/MLIRHeaders.cpp)
target_include_directories(NereidMLIRHeaders SYSTEM PUBLIC ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
target_include_directories(NereidMLIRHeaders PUBLIC ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})
if(NEREID_STATIC)
  include(NereidArchives)
  nereid_mlir_archives(archives)
  add_library(NereidGlibc235 STATIC ${PROJECT_SOURCE_DIR}/cmake/Glibc235.c)
  target_link_libraries(NereidMLIRHeaders PUBLIC NereidGlibc235 ${archives})
elseif(NEREID_WHOLE_PROGRAMS)
  include(NereidArchives)
  nereid_mlir_archives(archives)
  # Of the program that is linked, not of this library.
  set(isWhole $<BOOL:$<TARGET_PROPERTY:NEREID_IS_WHOLE>>)
  target_link_libraries(NereidMLIRHeaders PUBLIC "$<IF:${isWhole},${archives},MLIR;LLVM>")
else()
  target_link_libraries(NereidMLIRHeaders PUBLIC MLIR LLVM)
endif()
set(mlirHeaders
  <mlir/Conversion/LLVMCommon/TypeConverter.h>
  <mlir/Dialect/Arith/IR/Arith.h>
  <mlir/Dialect/Func/IR/FuncOps.h>
  <mlir/Dialect/LLVMIR/LLVMDialect.h>
  <mlir/Dialect/Math/IR/Math.h>
  <mlir/Dialect/SCF/IR/SCF.h>
  <mlir/Dialect/Vector/IR/VectorOps.h>
  <mlir/IR/Builders.h>
  <mlir/IR/BuiltinOps.h>
  <mlir/IR/PatternMatch.h>
  <mlir/Pass/PassManager.h>
  <mlir/Transforms/DialectConversion.h>
  <llvm/ADT/TypeSwitch.h>
  <string>
  <vector>)
nereid_precompile(NereidMLIRHeaders ${mlirHeaders})

if(PROJECT_IS_TOP_LEVEL)
  add_library(NereidMLIRTestHeaders STATIC EXCLUDE_FROM_ALL ${PROJECT_SOURCE_DIR}/cmake/MLIRTestHeaders.cpp)
  nereid_not_optimized(NereidMLIRTestHeaders)
  target_link_libraries(NereidMLIRTestHeaders PRIVATE NereidMLIRHeaders GTest::gmock)
  nereid_precompile(NereidMLIRTestHeaders ${mlirHeaders} <gmock/gmock.h> <gtest/gtest.h>)
endif()
