//===- Debug.cpp - Prints and checks --------------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Prints call the driver's vprintf, a line an element as on the CPU. A check
// that fails fills in the launch's DeviceFault (nereid/ABI/LaunchABI.h) and the
// kernel goes on without the access: a trap would take the whole context, and
// every tensor in it, down. Assertions that are to trap
// (nereid/ABI/TrappingAsserts.h) call the driver's __assertfail.
//
//===----------------------------------------------------------------------===//

#include "nereid/ABI/LaunchABI.h"
#include "nereid/ABI/TrappingAsserts.h"
#include "nereid/Conversion/TileGPUToLLVM/LoweringTable.h"

using namespace mlir;

namespace nereid::togpu {

//===----------------------------------------------------------------------===//
// Prints
//===----------------------------------------------------------------------===//

static std::string escapePercent(const std::string &text) {
  std::string out;
  for (char c : text) {
    out += c;
    if (c == '%') {
      out += c;
    }
  }
  return out;
}

Value KernelEmitter::globalText(const std::string &text) {
  auto module = entry->getParentOfType<ModuleOp>();
  OpBuilder at(module.getBodyRegion());
  at.setInsertionPoint(entry);
  std::string terminated = text + '\0';
  std::string name = "nereid_text_" + std::to_string(textCount++);
  auto type = LLVM::LLVMArrayType::get(b.getI8Type(), terminated.size());
  auto global = LLVM::GlobalOp::create(
      at, loc, type, /*isConstant=*/true, LLVM::Linkage::Internal, name,
      b.getStringAttr(terminated), /*alignment=*/1, /*addrSpace=*/1);
  Value address = LLVM::AddressOfOp::create(b, loc, global);
  return LLVM::AddrSpaceCastOp::create(
      b, loc, LLVM::LLVMPointerType::get(b.getContext()), address);
}

/// vprintf(format, arguments): the arguments lie in local memory, each at a
/// multiple of its size.
void KernelEmitter::callPrintf(const std::string &format,
                               ArrayRef<Value> arguments) {
  auto module = entry->getParentOfType<ModuleOp>();
  auto pointer = LLVM::LLVMPointerType::get(b.getContext());
  if (!module.lookupSymbol("vprintf")) {
    OpBuilder at(module.getBodyRegion());
    LLVM::LLVMFuncOp::create(
        at, loc, "vprintf",
        LLVM::LLVMFunctionType::get(b.getI32Type(), {pointer, pointer}));
  }
  SmallVector<Type> types;
  for (Value argument : arguments) {
    types.push_back(argument.getType());
  }
  auto pack = LLVM::LLVMStructType::getLiteral(b.getContext(), types);
  Value memory;
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(&entry.getBody().front());
    memory = LLVM::AllocaOp::create(b, loc, pointer, pack, ops().i32(1), 8);
  }
  for (auto [i, argument] : llvm::enumerate(arguments)) {
    Value at =
        LLVM::GEPOp::create(b, loc, pointer, pack, memory,
                            ArrayRef<LLVM::GEPArg>{0, static_cast<int32_t>(i)});
    LLVM::StoreOp::create(b, loc, argument, at);
  }
  auto callee = module.lookupSymbol<LLVM::LLVMFuncOp>("vprintf");
  LLVM::CallOp::create(b, loc, callee, ValueRange{globalText(format), memory});
}

void KernelEmitter::printElement(tile::PrintOp op, const std::string &index,
                                 ArrayRef<Value> indices, Value element,
                                 Value predicate) {
  scf::IfOp branch;
  if (predicate) {
    branch = scf::IfOp::create(b, loc, predicate, /*withElseRegion=*/false);
    b.setInsertionPointToStart(branch.thenBlock());
  }
  SmallVector<Value> arguments(programId);
  arguments.append(indices.begin(), indices.end());
  std::string format =
      "pid (%d, %d, %d)" + index + escapePercent(op.getPrefix().str());
  if (element) {
    Type type = tile::getElement(op.getValue().getType());
    unsigned bits =
        isa<tile::PtrType>(type) ? 64 : type.getIntOrFloatBitWidth();
    bool isFloat = isa<FloatType>(type);
    if ((op.getHex() && !isFloat) || isa<tile::PtrType>(type)) {
      Value raw = bitsOf(element);
      if (bits < 64) {
        raw = arith::ExtUIOp::create(b, loc, b.getI64Type(), raw);
      }
      format += "0x%0" + std::to_string(std::max(bits, 8u) / 4) + "llx";
      arguments.push_back(raw);
    } else if (isFloat) {
      Value wide =
          type.isF64()
              ? element
              : Value(arith::ExtFOp::create(b, loc, b.getF64Type(),
                                            ops().toF32(element, type)));
      format += op.getHex() ? "%a" : "%f";
      arguments.push_back(wide);
    } else {
      bool isUnsigned = op.getDtype().starts_with("u") || bits == 1;
      Value wide = element;
      if (bits < 64) {
        wide =
            isUnsigned
                ? Value(arith::ExtUIOp::create(b, loc, b.getI64Type(), wide))
                : Value(arith::ExtSIOp::create(b, loc, b.getI64Type(), wide));
      }
      format += isUnsigned ? "%llu" : "%lld";
      arguments.push_back(wide);
    }
  }
  callPrintf(format + "\n", arguments);
  if (branch) {
    b.setInsertionPointAfter(branch);
  }
}

void KernelEmitter::emitPrint(tile::PrintOp op) {
  if (!machine->hasPrints()) {
    return fail(op, "prints on " + target.name);
  }
  Value first = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, thread,
                                      ops().i32(0));
  if (!op.getValue()) {
    printElement(op, "", {}, {}, first);
    return;
  }
  if (!isa<RankedTensorType>(op.getValue().getType())) {
    printElement(op, " idx ()", {}, scalar(op.getValue()), first);
    return;
  }
  const TileInfo &tile = info(op.getValue().getType());
  Value once = isFirstCopy(tile.layout);
  for (unsigned r = 0; r < tile.count(); ++r) {
    if (tile.dead[r]) {
      continue;
    }
    std::string index = " idx (";
    SmallVector<Value> indices;
    for (unsigned d = 0; d < tile.shape.size(); ++d) {
      int width = std::to_string(tile.shape[d] - 1).size();
      index += (d ? ", %" : "%") + std::to_string(width) + "d";
      indices.push_back(indexOf(tile, r, d));
    }
    printElement(op, index + ")", indices, regs(op.getValue())[r],
                 andOf(once, insideShape(tile, r)));
  }
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

void KernelEmitter::reportFault(Operation *op, Value bad, Value index,
                                Value value) {
  auto branch = scf::IfOp::create(b, loc, bad, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  auto exchange = LLVM::AtomicCmpXchgOp::create(
      b, loc, faultRecord, ops().i32(DeviceFault::Free),
      ops().i32(DeviceFault::BeingWritten), LLVM::AtomicOrdering::monotonic,
      LLVM::AtomicOrdering::monotonic);
  Value won = LLVM::ExtractValueOp::create(b, loc, exchange, 1);
  auto winner = scf::IfOp::create(b, loc, won, /*withElseRegion=*/false);
  b.setInsertionPointToStart(winner.thenBlock());
  auto put = [&](size_t offset, Value field) {
    LLVM::StoreOp::create(b, loc, field, ops().byteOffset(faultRecord, offset));
  };
  auto site = op->getAttrOfType<IntegerAttr>(tile::siteAttr);
  put(offsetof(DeviceFault, site), ops().i32(site ? site.getInt() : 0));
  put(offsetof(DeviceFault, element),
      arith::ExtUIOp::create(b, loc, b.getI64Type(), index));
  put(offsetof(DeviceFault, value), value ? value : ops().i64(0));
  for (unsigned axis = 0; axis < 3; ++axis) {
    put(offsetof(DeviceFault, programId) + 4 * axis, programId[axis]);
  }
  LLVM::FenceOp::create(b, loc, LLVM::AtomicOrdering::release, "");
  LLVM::StoreOp::create(b, loc, ops().i32(DeviceFault::Written), faultRecord,
                        /*alignment=*/4, /*isVolatile=*/true);
}

/// i1: is the element outside every array of the launch?
Value KernelEmitter::isOutside(Value address, unsigned bytes) {
  auto pointer = LLVM::LLVMPointerType::get(b.getContext());
  Value count = LLVM::LoadOp::create(
      b, loc, b.getI32Type(),
      ops().byteOffset(faultRecord, offsetof(DeviceFault, rangeCount)));
  Value ranges = LLVM::LoadOp::create(
      b, loc, pointer,
      ops().byteOffset(faultRecord, offsetof(DeviceFault, ranges)));
  Value begin = bitsOf(address);
  Value end = arith::AddIOp::create(b, loc, begin, ops().i64(bytes));
  Value outside = arith::ConstantOp::create(b, loc, b.getBoolAttr(true));
  auto loop = scf::ForOp::create(b, loc, ops().i32(0), count, ops().i32(1),
                                 ValueRange{outside});
  loop.getBody()->clear();
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value index =
      arith::ExtUIOp::create(b, loc, b.getI64Type(), loop.getInductionVar());
  auto bound = [&](int which) -> Value {
    Value at = LLVM::GEPOp::create(
        b, loc, pointer, b.getI64Type(), ranges,
        ArrayRef<LLVM::GEPArg>{Value(arith::AddIOp::create(
            b, loc, arith::MulIOp::create(b, loc, index, ops().i64(2)),
            ops().i64(which)))});
    return LLVM::LoadOp::create(b, loc, b.getI64Type(), at);
  };
  Value below =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, begin, bound(0));
  Value above =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ugt, end, bound(1));
  Value notHere = arith::OrIOp::create(b, loc, below, above);
  scf::YieldOp::create(b, loc,
                       ValueRange{arith::AndIOp::create(
                           b, loc, loop.getRegionIterArg(0), notHere)});
  return loop.getResult(0);
}

/// __assertfail(message, file, line, function, bytes of a character), where
/// `bad` is true.
static void stopWhere(KernelEmitter &e, tile::AssertOp op, Value bad) {
  OpBuilder &b = e.b;
  auto module = e.entry->getParentOfType<ModuleOp>();
  auto callee = module.lookupSymbol<LLVM::LLVMFuncOp>("__assertfail");
  if (!callee) {
    OpBuilder at(module.getBodyRegion());
    auto pointer = LLVM::LLVMPointerType::get(b.getContext());
    callee = LLVM::LLVMFuncOp::create(
        at, e.loc, "__assertfail",
        LLVM::LLVMFunctionType::get(
            LLVM::LLVMVoidType::get(b.getContext()),
            {pointer, pointer, b.getI32Type(), pointer, b.getI64Type()}));
  }
  auto branch = scf::IfOp::create(b, e.loc, bad, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  auto place = op.getLoc()->findInstanceOf<FileLineColRange>();
  Value message = e.globalText(op.getMessage().str());
  Value file = e.globalText(place ? place.getFilename().str() : "");
  Value function = e.globalText(e.entry.getSymName().str());
  LLVM::CallOp::create(b, e.loc, callee,
                       ValueRange{message, file,
                                  e.ops().i32(place ? place.getStartLine() : 0),
                                  function, e.ops().i64(1)});
}

void KernelEmitter::emitCheck(Operation *op) {
  bool isTensor = isa<RankedTensorType>(op->getOperand(0).getType());
  const TileInfo *tile =
      isTensor ? &info(op->getOperand(0).getType()) : nullptr;
  Value checked = op->getOperand(0);
  Registers values = isTensor ? regs(checked) : Registers{scalar(checked)};
  Registers masks;
  if (op->getNumOperands() > 1) {
    masks = isTensor ? regs(op->getOperand(1))
                     : Registers{scalar(op->getOperand(1))};
  }
  Value always = arith::ConstantOp::create(b, loc, b.getBoolAttr(true));
  bool traps = op->hasAttr(trapsAttr);
  Value anyBad;
  Registers good(values.size());
  for (unsigned r = 0; r < values.size(); ++r) {
    if (tile && tile->dead[r]) {
      continue;
    }
    Value bad, value;
    if (isa<tile::AssertOp>(op)) {
      bad = arith::XOrIOp::create(b, loc, values[r], always);
    } else if (isa<tile::CheckNanOp>(op)) {
      Value wide = ops().toF32(values[r], tile::getElement(checked.getType()));
      bad =
          arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNO, wide, wide);
    } else {
      auto pointer = cast<tile::PtrType>(tile::getElement(checked.getType()));
      bad = isOutside(values[r], tile::getElementBytes(pointer.getPointee()));
      value = bitsOf(values[r]);
    }
    Value counts = tile ? insideShape(*tile, r) : Value();
    if (!masks.empty()) {
      counts = andOf(counts, masks[r]);
    }
    bad = andOf(bad, counts);
    if (traps) {
      anyBad = anyBad ? Value(arith::OrIOp::create(b, loc, anyBad, bad)) : bad;
      continue;
    }
    reportFault(op, bad, tile ? rowMajorIndex(*tile, r) : ops().i32(0), value);
    good[r] = arith::XOrIOp::create(b, loc, bad, always);
  }
  if (anyBad) {
    stopWhere(*this, cast<tile::AssertOp>(op), anyBad);
  }
  if (isa<tile::CheckBoundsOp>(op)) {
    checkedPointers[checked] = std::move(good);
  }
}

void addDebugLowerings(LoweringTable &table) {
  table.add<tile::PrintOp, &KernelEmitter::emitPrint>();
  table.add<tile::AssertOp, &KernelEmitter::emitCheck>();
  table.add<tile::CheckBoundsOp, &KernelEmitter::emitCheck>();
  table.add<tile::CheckNanOp, &KernelEmitter::emitCheck>();
}

} // namespace nereid::togpu
