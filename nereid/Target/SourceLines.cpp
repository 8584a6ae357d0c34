//===- SourceLines.cpp - Which line an instruction comes from -------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Target/SourceLines.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/BinaryFormat/Dwarf.h"

#include <filesystem>

using namespace mlir;
using namespace nereid::target;

/// The standard functions that travel inside the compiler are in
/// "<nereid>/standard.py", text that was typed in "<stdin>": a profiler has
/// nothing to show for them.
static bool isOnDisk(FileLineColRange position) {
  return position && !position.getFilename().getValue().starts_with("<");
}

/// The innermost position that is in a file; else the outermost; null where
/// there is none.
static FileLineColRange findPosition(Location location) {
  if (auto call = dyn_cast<CallSiteLoc>(location)) {
    FileLineColRange callee = findPosition(call.getCallee());
    if (isOnDisk(callee)) {
      return callee;
    }
    FileLineColRange caller = findPosition(call.getCaller());
    return caller ? caller : callee;
  }
  if (auto named = dyn_cast<NameLoc>(location)) {
    return findPosition(named.getChildLoc());
  }
  if (auto fused = dyn_cast<FusedLoc>(location)) {
    for (Location part : fused.getLocations()) {
      if (FileLineColRange position = findPosition(part)) {
        return position;
      }
    }
  }
  return dyn_cast<FileLineColRange>(location);
}

/// Profilers look for files by their full name. The assembler refuses a whole
/// kernel for a quote or a letter outside ASCII in it: better a file that is
/// not found.
static LLVM::DIFileAttr makeFile(StringAttr name) {
  namespace fs = std::filesystem;
  std::error_code error;
  fs::path path(name.str());
  if (path.is_relative() && fs::exists(path, error)) {
    path = fs::current_path(error) / path;
  }
  std::string text = path.lexically_normal().string();
  for (char &c : text) {
    if (!llvm::isPrint(c) || c == '"' || c == '\\') {
      c = '_';
    }
  }
  return LLVM::DIFileAttr::get(name.getContext(), text, /*directory=*/"");
}

namespace {

/// The positions of one function's operations. The back end of LLVM 22 has no
/// `inlined_at` for `.loc`; a chain of calls is cut down to one position.
class FunctionLines {
public:
  FunctionLines(LLVM::LLVMFuncOp function, FileLineColRange start, LinesIn kind)
      : home(start.getFilename()), scope(makeScope(function, start, kind)) {}

  LLVM::DISubprogramAttr getScope() const { return scope; }

  Location get(Location location) {
    auto [known, isNew] = positions.try_emplace(location, location);
    if (isNew) {
      known->second = convert(location);
    }
    return known->second;
  }

private:
  static LLVM::DISubprogramAttr
  makeScope(LLVM::LLVMFuncOp function, FileLineColRange start, LinesIn kind) {
    MLIRContext *context = function.getContext();
    auto makeId = [&] { return DistinctAttr::create(UnitAttr::get(context)); };
    LLVM::DIFileAttr file = makeFile(start.getFilename());
    auto unit = LLVM::DICompileUnitAttr::get(
        makeId(), llvm::dwarf::DW_LANG_Python, file,
        StringAttr::get(context, "nereid"), /*isOptimized=*/true,
        kind == LinesIn::Assembly ? LLVM::DIEmissionKind::DebugDirectivesOnly
                                  : LLVM::DIEmissionKind::LineTablesOnly);
    auto flags = LLVM::DISubprogramFlags::Definition |
                 LLVM::DISubprogramFlags::Optimized;
    auto type = LLVM::DISubroutineTypeAttr::get(context, {});
    return LLVM::DISubprogramAttr::get(
        context, makeId(), unit, file, function.getNameAttr(),
        function.getNameAttr(), file, start.getStartLine(),
        start.getStartLine(), flags, type, /*retainedNodes=*/{},
        /*annotations=*/{});
  }

  Location convert(Location location) {
    FileLineColRange position = findPosition(location);
    if (!position) {
      return UnknownLoc::get(location.getContext());
    }
    StringAttr name = position.getFilename();
    if (name == home) {
      return position; // translation adds the function's scope
    }
    LLVM::DILexicalBlockFileAttr &block = otherFiles[name];
    if (!block) {
      block = LLVM::DILexicalBlockFileAttr::get(scope, makeFile(name),
                                                /*discriminator=*/0);
    }
    return FusedLoc::get(location.getContext(), {position}, block);
  }

  StringAttr home;
  LLVM::DISubprogramAttr scope;
  llvm::DenseMap<StringAttr, LLVM::DILexicalBlockFileAttr> otherFiles;
  llvm::DenseMap<Location, Location> positions;
};

} // namespace

void nereid::target::addSourceLines(ModuleOp module, LinesIn kind) {
  for (auto function : module.getOps<LLVM::LLVMFuncOp>()) {
    FileLineColRange start = findPosition(function.getLoc());
    if (function.isExternal() || !start ||
        isa<FusedLocWith<LLVM::DISubprogramAttr>>(function.getLoc())) {
      continue;
    }
    FunctionLines lines(function, start, kind);
    for (Operation &op : function.getBody().getOps()) {
      op.setLoc(lines.get(op.getLoc()));
    }
    function->setLoc(
        FusedLoc::get(module.getContext(), {start}, lines.getScope()));
  }
}
