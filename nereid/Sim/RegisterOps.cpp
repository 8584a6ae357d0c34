//===- RegisterOps.cpp - setmaxnreg ---------------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// PTX ISA 9.7.19.5. Warps of a block take registers out of what the block had
// at its start, and wait until others have put some back. How many a thread has
// at its start is ptxas's to decide, unless the kernel says so: then a kernel
// asks for nothing here, as ptxas ignores it there.
//
//===----------------------------------------------------------------------===//

#include "nereid/Sim/Block.h"
#include "nereid/Sim/Decoder.h"
#include "nereid/Sim/Lanes.h"

namespace nereid::sim {

static constexpr uint32_t leastRegisters = 24, mostRegisters = 256;

static void change(Warp &warp, const Instruction &instruction) {
  Block &block = warp.block;
  auto wanted = uint32_t(instruction.detail[0]);
  bool increases = instruction.detail[1];
  if (!warp.registers) {
    return;
  }
  block.checkWarpgroup(warp);
  if (increases ? wanted < warp.registers : wanted > warp.registers) {
    block.fault(warp, Fault::Kind::Illegal,
                std::to_string(wanted) + " registers for a thread that has " +
                    std::to_string(warp.registers));
  }
  if (!block.takeRegisters(warp, wanted)) {
    warp.suspend(waitsForRegisters);
    return;
  }
  warp.registerChanges.push_back(warp.current);
}

static void decodeSetMaxRegisters(Decoder &d) {
  bool isWhole = d.statement->words.size() == 5 && d.word(2) == "sync" &&
                 d.word(3) == "aligned" && d.lastWord() == "u32";
  if (!isWhole || (d.word(1) != "inc" && d.word(1) != "dec")) {
    d.refuse();
  }
  uint64_t wanted = d.operand(0).bits;
  if (wanted < leastRegisters || wanted > mostRegisters || wanted % 8) {
    d.refuse("registers are a multiple of 8 from 24 to 256");
  }
  d.made->detail[0] = wanted;
  d.made->detail[1] = d.word(1) == "inc";
  d.made->flow = Flow::Together;
  d.made->execute = change;
}

void addRegisterOps(DecodeTable &table) {
  table["setmaxnreg"] = decodeSetMaxRegisters;
}

} // namespace nereid::sim
