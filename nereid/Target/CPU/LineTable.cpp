//===- LineTable.cpp - From machine code to the kernel's source -----------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// DWARF has a file, a line and a column a row. A place here has an end as well,
// and code of several files is in one function, so the line numbers given to
// LLVM are indices of a list of places.
//
//===----------------------------------------------------------------------===//

#include "nereid/Target/CPU/LineTable.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/Transforms/Passes.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/DebugInfo/DWARF/DWARFContext.h"
#include "llvm/Object/ObjectFile.h"

#include <map>
#include <set>

namespace nereid::cpu {
namespace {

/// Line n of the object's table is places[n - 1].
class LineEntries {
public:
  unsigned indexOf(const SourceLocation &place) {
    auto key = std::tuple(place.file, place.line, place.column, place.endLine,
                          place.endColumn);
    auto [found, isNew] = indices.try_emplace(key, all.size() + 1);
    if (isNew) {
      all.push_back({place, {}});
    }
    return static_cast<unsigned>(found->second);
  }
  /// Of an instruction that computes with loads and may have one of them folded
  /// into it.
  unsigned indexOfFold(std::vector<unsigned> loads) {
    all.push_back({{}, std::move(loads)});
    return static_cast<unsigned>(all.size());
  }
  /// `seen`: the lines that the table has. What computes can only meet bad
  /// memory by a folded load, which is one that has no line of its own.
  SourceLocation at(unsigned index, const std::set<unsigned> &seen) const {
    if (index == 0 || index > all.size()) {
      return {};
    }
    const Entry &entry = all[index - 1];
    if (entry.loads.empty()) {
      return entry.place;
    }
    for (unsigned load : entry.loads) {
      if (!seen.count(load)) {
        return all[load - 1].place;
      }
    }
    return all[entry.loads.back() - 1].place;
  }

private:
  struct Entry {
    SourceLocation place;
    std::vector<unsigned> loads;
  };
  using Key = std::tuple<std::string, uint32_t, uint32_t, uint32_t, uint32_t>;
  std::map<Key, size_t> indices;
  std::vector<Entry> all;
};

} // namespace

static Status internal(const std::string &what) {
  return {ErrorCode::Internal, "internal error: no line table: " + what};
}

/// The loads of its block that may become an operand of the instruction for
/// `op`: nothing else uses them, as they are or as another type.
static std::vector<mlir::Operation *> foldableLoads(mlir::Operation *op) {
  std::vector<mlir::Operation *> loads;
  if (!mlir::isMemoryEffectFree(op) || op->getNumRegions() != 0) {
    return loads;
  }
  for (mlir::Value operand : op->getOperands()) {
    mlir::Operation *source = operand.getDefiningOp();
    while (source && mlir::isa<mlir::LLVM::BitcastOp>(source)) {
      source = source->getOperand(0).getDefiningOp();
    }
    bool isLoad =
        mlir::isa_and_nonnull<mlir::LLVM::LoadOp, mlir::LLVM::MaskedLoadOp>(
            source);
    if (isLoad && source->getBlock() == op->getBlock() && source->hasOneUse()) {
      loads.push_back(source);
    }
  }
  return loads;
}

/// Locations become lines of a file of places; functions get a scope.
static bool
markPlaces(mlir::ModuleOp module, LineEntries &places,
           llvm::function_ref<SourceLocation(mlir::Location)> placeOf) {
  mlir::MLIRContext *context = module.getContext();
  std::vector<std::pair<mlir::Operation *, unsigned>> found;
  module->walk([&](mlir::Operation *op) {
    std::vector<unsigned> loads;
    for (mlir::Operation *load : foldableLoads(op)) {
      if (SourceLocation place = placeOf(load->getLoc()); place.line) {
        loads.push_back(places.indexOf(place));
      }
    }
    SourceLocation place = placeOf(op->getLoc());
    found.emplace_back(op, !loads.empty() ? places.indexOfFold(std::move(loads))
                           : place.line   ? places.indexOf(place)
                                          : 0);
  });
  for (const auto &[op, index] : found) {
    op->setLoc(index ? mlir::Location(mlir::FileLineColLoc::get(
                           context, "places", index, 1))
                     : mlir::UnknownLoc::get(context));
  }
  mlir::PassManager passes(context, mlir::ModuleOp::getOperationName());
  passes.addPass(mlir::LLVM::createDIScopeForLLVMFuncOpPass());
  return mlir::succeeded(passes.run(module));
}

static llvm::StringRef codeOf(const llvm::object::ObjectFile &object) {
  for (const llvm::object::SectionRef &section : object.sections()) {
    auto name = llvm::expectedToOptional(section.getName());
    auto contents = llvm::expectedToOptional(section.getContents());
    if (name && contents && *name == ".text") {
      return *contents;
    }
  }
  return "";
}

static Expected<uint64_t> addressOf(const llvm::object::ObjectFile &object,
                                    const std::string &entry) {
  for (const llvm::object::SymbolRef &symbol : object.symbols()) {
    auto name = llvm::expectedToOptional(symbol.getName());
    auto address = llvm::expectedToOptional(symbol.getAddress());
    if (name && address && *name == llvm::StringRef(entry)) {
      return *address;
    }
  }
  return internal("the object has no '" + entry + "'");
}

static llvm::Expected<std::unique_ptr<llvm::object::ObjectFile>>
open(const std::vector<std::byte> &bytes) {
  llvm::StringRef text(reinterpret_cast<const char *>(bytes.data()),
                       bytes.size());
  return llvm::object::ObjectFile::createObjectFile(
      llvm::MemoryBufferRef(text, "kernel"));
}

static std::string tableOf(const llvm::object::ObjectFile &object,
                           uint64_t entry, const LineEntries &places) {
  std::map<int64_t, unsigned> rows; // the last row of an address is the one
  std::unique_ptr<llvm::DWARFContext> dwarf =
      llvm::DWARFContext::create(object);
  for (const auto &unit : dwarf->compile_units()) {
    const llvm::DWARFDebugLine::LineTable *table =
        dwarf->getLineTableForUnit(unit.get());
    for (size_t i = 0; table && i < table->Rows.size(); ++i) {
      const auto &row = table->Rows[i];
      rows[static_cast<int64_t>(row.Address.Address - entry)] =
          row.EndSequence ? 0 : row.Line;
    }
  }
  std::set<unsigned> seen;
  for (const auto &[offset, line] : rows) {
    seen.insert(line);
  }
  std::string text;
  for (const auto &[offset, line] : rows) {
    SourceLocation place = places.at(line, seen);
    text += std::to_string(offset) + " " + std::to_string(place.line) + " " +
            std::to_string(place.column) + " " + std::to_string(place.endLine) +
            " " + std::to_string(place.endColumn) + " " + place.file + "\n";
  }
  return text;
}

Expected<std::string>
emitLineTable(mlir::ModuleOp module, const CpuTarget &target,
              const std::string &entry,
              llvm::function_ref<SourceLocation(mlir::Location)> placeOf) {
  mlir::OwningOpRef<mlir::ModuleOp> marked(
      mlir::cast<mlir::ModuleOp>(module->clone()));
  LineEntries places;
  if (!markPlaces(*marked, places, placeOf)) {
    return internal("no scopes");
  }
  auto plain = emitObject(module, target);
  auto withLines = emitObject(*marked, target);
  if (!plain.ok() || !withLines.ok()) {
    return plain.ok() ? withLines.status() : plain.status();
  }
  auto before = open(*plain), after = open(*withLines);
  if (!before || !after) {
    llvm::consumeError(before.takeError());
    llvm::consumeError(after.takeError());
    return internal("unreadable object");
  }
  if (codeOf(**before) != codeOf(**after)) {
    return internal("debug information changes the code");
  }
  Expected<uint64_t> address = addressOf(**after, entry);
  if (!address.ok()) {
    return address.status();
  }
  return tableOf(**after, *address, places);
}

} // namespace nereid::cpu
