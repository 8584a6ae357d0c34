//===- EmitLibrary.cpp - Kernels of a program as one object ---------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The code of every instruction set goes into one module: LLVM generates each
// function for the set that its attributes name. Beside it stand the images and
// the table that ABI/KernelLibrary.h describes.
//
//===----------------------------------------------------------------------===//

#include "nereid/ABI/KernelLibrary.h"
#include "nereid/Target/CPU/CpuTarget.h"
#include "nereid/Target/CPU/X86Machine.h"
#include "nereid/Target/CodeEmission.h"

#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Module.h"
#include "llvm/Linker/Linker.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

using namespace nereid;
using namespace nereid::cpu;

/// The function's module, under its name in the object.
static std::unique_ptr<llvm::Module> parse(const LibraryFunction &function,
                                           llvm::LLVMContext &context,
                                           std::string &errors) {
  llvm::SMDiagnostic problem;
  auto module = llvm::parseAssemblyString(function.llvmText, problem, context);
  llvm::Function *entry =
      module ? module->getFunction(function.entry) : nullptr;
  if (!entry) {
    errors += "cannot read the code of '" + function.entry +
              "': " + problem.getMessage().str() + "\n";
    return nullptr;
  }
  entry->setName(function.name);
  entry->setVisibility(llvm::GlobalValue::HiddenVisibility);
  return module;
}

static llvm::Constant *addBytes(llvm::Module &module, const std::string &bytes,
                                const char *name) {
  auto *data = llvm::ConstantDataArray::getString(module.getContext(), bytes,
                                                  /*AddNull=*/false);
  auto *variable =
      new llvm::GlobalVariable(module, data->getType(), /*isConstant=*/true,
                               llvm::GlobalValue::PrivateLinkage, data, name);
  variable->setAlignment(llvm::Align(16));
  return variable;
}

/// The KernelLibrary, its LibraryImages and LibraryBlocks, field by field.
static void addTable(llvm::Module &module, const LibraryObject &library) {
  llvm::LLVMContext &context = module.getContext();
  auto *pointer = llvm::PointerType::getUnqual(context);
  auto *word = llvm::Type::getInt64Ty(context);
  auto *half = llvm::Type::getInt32Ty(context);
  auto *imageType = llvm::StructType::get(
      context, {pointer, word, pointer, half, half, word, word});
  std::vector<llvm::Constant *> images;
  for (const LibraryObject::Image &image : library.images) {
    llvm::Constant *entry = llvm::ConstantPointerNull::get(pointer);
    if (image.function) {
      entry = module.getFunction(library.functions[*image.function].name);
    }
    images.push_back(llvm::ConstantStruct::get(
        imageType, {addBytes(module, image.bytes, "image"),
                    llvm::ConstantInt::get(word, image.bytes.size()), entry,
                    llvm::ConstantInt::get(half, image.block),
                    llvm::ConstantInt::get(half, 0),
                    llvm::ConstantInt::get(word, image.begin),
                    llvm::ConstantInt::get(word, image.codeSize)}));
  }
  auto *blockType = llvm::StructType::get(context, {pointer, word});
  std::vector<llvm::Constant *> blocks;
  for (const std::string &block : library.blocks) {
    blocks.push_back(llvm::ConstantStruct::get(
        blockType, {addBytes(module, block, "block"),
                    llvm::ConstantInt::get(word, block.size())}));
  }
  auto *blocksType = llvm::ArrayType::get(blockType, blocks.size());
  auto *blockTable = new llvm::GlobalVariable(
      module, blocksType, /*isConstant=*/true,
      llvm::GlobalValue::PrivateLinkage,
      llvm::ConstantArray::get(blocksType, blocks), "blocks");
  auto *imagesType = llvm::ArrayType::get(imageType, images.size());
  auto *table = new llvm::GlobalVariable(
      module, imagesType, /*isConstant=*/true,
      llvm::GlobalValue::PrivateLinkage,
      llvm::ConstantArray::get(imagesType, images), "images");
  auto *libraryType = llvm::StructType::get(
      context, {half, half, pointer, pointer, word, pointer, word});
  auto *symbol = new llvm::GlobalVariable(
      module, libraryType, /*isConstant=*/true,
      llvm::GlobalValue::ExternalLinkage,
      llvm::ConstantStruct::get(
          libraryType,
          {llvm::ConstantInt::get(half, kernelLibraryAbi),
           llvm::ConstantInt::get(half, images.size()), table,
           addBytes(module, library.index, "index"),
           llvm::ConstantInt::get(word, library.index.size()), blockTable,
           llvm::ConstantInt::get(word, blocks.size())}),
      library.symbol);
  symbol->setVisibility(llvm::GlobalValue::HiddenVisibility);
}

static std::unique_ptr<llvm::Module> makeModule(const LibraryObject &library,
                                                llvm::LLVMContext &context,
                                                std::string &errors) {
  auto module = std::make_unique<llvm::Module>(library.symbol, context);
  for (const LibraryFunction &function : library.functions) {
    auto part = parse(function, context, errors);
    if (!part) {
      return nullptr;
    }
    // The linker renames what is local to a part, and complains of modules
    // that are for different machines.
    module->setDataLayout(part->getDataLayout());
    module->setTargetTriple(part->getTargetTriple());
    if (llvm::Linker::linkModules(*module, std::move(part))) {
      errors += "cannot link the code of '" + function.entry + "'\n";
      return nullptr;
    }
  }
  addTable(*module, library);
  return module;
}

Expected<std::string> cpu::emitLibrary(const LibraryObject &library) {
  auto baseline = resolve("x86-64");
  if (!baseline.ok()) {
    return baseline.failure();
  }
  target::CodeEmission emission;
  emission.name = "the kernel library";
  emission.triple = tripleName;
  emission.createMachine = [&](std::string &errors) {
    return createMachine(*baseline, errors);
  };
  // The texts are optimised, and their attributes say what they are for.
  emission.prepare = [](llvm::Module &) {};
  return target::emitCode(
      [&](llvm::LLVMContext &context, std::string &errors) {
        return makeModule(library, context, errors);
      },
      emission);
}
