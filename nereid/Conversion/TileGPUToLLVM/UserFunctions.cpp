//===- UserFunctions.cpp - The user's own functions of elements -----------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// tile.map: the region once a register, with the branches of its own. tile.
// inline_asm: one statement of assembly for `pack` registers. And what a
// program asks the machine about itself.
//
//===----------------------------------------------------------------------===//

#include "nereid/Conversion/TileGPUToLLVM/LoweringTable.h"

using namespace mlir;

namespace nereid::togpu {

//===----------------------------------------------------------------------===//
// Maps
//===----------------------------------------------------------------------===//

void KernelEmitter::emitMap(tile::MapOp op) {
  Block &body = op.getFunction().front();
  const TileInfo &tile = info(op.getSources()[0].getType());
  SmallVector<Type> types = flatTypes(body.getTerminator()->getOperandTypes());
  SmallVector<Registers> results(types.size(), Registers(tile.count()));
  auto emitBody = [&](unsigned r) {
    for (auto [source, argument] :
         llvm::zip_equal(op.getSources(), body.getArguments())) {
      scalars[argument] = regs(source)[r];
    }
    emitBlock(body);
    return flat(body.getTerminator()->getOperands());
  };
  Location own = loc;
  for (unsigned r = 0; r < tile.count() && !hasFailed; ++r) {
    if (tile.dead[r]) {
      continue;
    }
    SmallVector<Value> values;
    // A loop over what padding holds need not end.
    if (Value inside = insideShape(tile, r)) {
      auto branch =
          scf::IfOp::create(b, own, types, inside, /*addThenBlock=*/true,
                            /*addElseBlock=*/true);
      branch.thenBlock()->clear();
      branch.elseBlock()->clear();
      b.setInsertionPointToEnd(branch.thenBlock());
      scf::YieldOp::create(b, own, emitBody(r));
      b.setInsertionPointToEnd(branch.elseBlock());
      SmallVector<Value> zeros;
      for (Type type : types) {
        zeros.push_back(LLVM::ZeroOp::create(b, own, type));
      }
      scf::YieldOp::create(b, own, zeros);
      b.setInsertionPointAfter(branch);
      values = branch.getResults();
    } else {
      values = emitBody(r);
    }
    for (auto [i, value] : llvm::enumerate(values)) {
      results[i][r] = value;
    }
  }
  for (auto [result, registers] : llvm::zip_equal(op.getResults(), results)) {
    bind(result, std::move(registers));
  }
}

//===----------------------------------------------------------------------===//
// Assembly
//===----------------------------------------------------------------------===//

/// The constraints of a list, outputs first; clobbers are left out.
static SmallVector<StringRef> registerConstraints(StringRef list) {
  SmallVector<StringRef> parts, registers;
  list.split(parts, ',', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  for (StringRef part : parts) {
    if (!part.trim().starts_with("~")) {
      registers.push_back(part.trim());
    }
  }
  return registers;
}

/// Does the constraint name a register of 16 bits?
static bool isShort(StringRef constraint) {
  return constraint.ltrim("=&") == "h";
}

/// Registers that `count` elements of `bits` bits take.
static unsigned registerCount(unsigned bits, unsigned count, bool isShort) {
  unsigned word = isShort ? 16 : 32;
  return bits >= word ? count : llvm::divideCeil(count * bits, word);
}

static unsigned widthInRegister(Type lane) {
  return isa<LLVM::LLVMPointerType>(lane) ? 64 : lane.getIntOrFloatBitWidth();
}

SmallVector<Registers>
KernelEmitter::runAssembly(tile::InlineAsmOp op,
                           ArrayRef<SmallVector<Value>> inputs) {
  unsigned pack = op.getPack();
  SmallVector<StringRef> constraints = registerConstraints(op.getConstraints());
  unsigned next = 0;
  auto constraint = [&] {
    return next < constraints.size() ? constraints[next] : StringRef();
  };
  SmallVector<Type> types;
  struct Result {
    Type lane;
    unsigned first, count;
  };
  SmallVector<Result> results;
  for (Type output : op.getOutputs().getTypes()) {
    Type lane = laneType(tile::getElement(output));
    unsigned bits = widthInRegister(lane);
    bool small = isShort(constraint());
    unsigned count = registerCount(bits, pack, small);
    results.push_back({lane, next, count});
    for (unsigned i = 0; i < count; ++i) {
      types.push_back(isa<LLVM::LLVMPointerType>(lane) ? b.getI64Type()
                      : bits >= 32                     ? lane
                      : small                          ? Type(b.getI16Type())
                                                       : Type(b.getI32Type()));
    }
    next += count;
  }
  SmallVector<Value> operands;
  for (const SmallVector<Value> &elements : inputs) {
    unsigned bits = widthInRegister(elements[0].getType());
    if (bits >= 32) {
      for (Value element : elements) {
        operands.push_back(isa<LLVM::LLVMPointerType>(element.getType())
                               ? bitsOf(element)
                               : element);
      }
      next += elements.size();
      continue;
    }
    bool small = isShort(constraint());
    SmallVector<Value> words = packWords(elements, small ? 16 : 32);
    operands.append(words);
    next += words.size();
  }
  SmallVector<Value> values = machine->userAssembly(
      op.getText(), op.getConstraints(), op.getPure(), operands, types);
  SmallVector<Registers> unpacked;
  for (const Result &result : results) {
    ArrayRef<Value> words = ArrayRef(values).slice(result.first, result.count);
    if (widthInRegister(result.lane) < 32) {
      unpacked.push_back(unpackWords(words, result.lane, pack));
      continue;
    }
    Registers elements;
    for (Value word : words) {
      elements.push_back(isa<LLVM::LLVMPointerType>(result.lane)
                             ? fromBits(word, result.lane)
                             : word);
    }
    unpacked.push_back(std::move(elements));
  }
  return unpacked;
}

void KernelEmitter::emitInlineAsm(tile::InlineAsmOp op) {
  unsigned pack = op.getPack();
  if (!isa<RankedTensorType>(op.getOutputs()[0].getType())) {
    SmallVector<SmallVector<Value>> inputs;
    for (Value input : op.getInputs()) {
      inputs.emplace_back(pack, scalar(input));
    }
    for (auto [output, elements] :
         llvm::zip_equal(op.getOutputs(), runAssembly(op, inputs))) {
      scalars[output] = op.getPure() ? elements[0] : agreed(elements[0]);
    }
    return;
  }
  const TileInfo &tile = info(op.getOutputs()[0].getType());
  SmallVector<unsigned> live;
  for (unsigned r = 0; r < tile.count(); ++r) {
    if (!tile.dead[r]) {
      live.push_back(r);
    }
  }
  SmallVector<Registers> results(op.getNumResults(), Registers(tile.count()));
  for (size_t first = 0; first < live.size(); first += pack) {
    SmallVector<SmallVector<Value>> inputs;
    for (Value input : op.getInputs()) {
      SmallVector<Value> &elements = inputs.emplace_back();
      for (unsigned i = 0; i < pack; ++i) {
        // The last run is filled up with its last element.
        size_t at = std::min(first + i, live.size() - 1);
        elements.push_back(regs(input)[live[at]]);
      }
    }
    for (auto [registers, elements] :
         llvm::zip_equal(results, runAssembly(op, inputs))) {
      for (unsigned i = 0; i < pack && first + i < live.size(); ++i) {
        registers[live[first + i]] = elements[i];
      }
    }
  }
  for (auto [output, registers] : llvm::zip_equal(op.getOutputs(), results)) {
    bind(output, std::move(registers));
  }
}

//===----------------------------------------------------------------------===//
// The machine
//===----------------------------------------------------------------------===//

Value KernelEmitter::agreed(Value value) {
  Value first = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, thread,
                                      ops().i32(0));
  unsigned scratch = acquireScratch();
  Value at = sharedAddress(scratch);
  storeShared(at, {value}, first);
  barrier();
  return loadShared(at, value.getType(), 1)[0];
}

void addUserFunctionLowerings(LoweringTable &table) {
  table.add<tile::MapOp, &KernelEmitter::emitMap>();
  table.add<tile::InlineAsmOp, &KernelEmitter::emitInlineAsm>();
}

} // namespace nereid::togpu
