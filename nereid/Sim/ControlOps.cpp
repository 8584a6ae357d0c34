//===- ControlOps.cpp - Branches, ends, barriers, calls -------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// PTX ISA 9.7.12 and 9.7.13.1. Of functions there are the driver's
// vprintf and __assertfail.
//
//===----------------------------------------------------------------------===//

#include "nereid/Sim/Block.h"
#include "nereid/Sim/Decoder.h"
#include "nereid/Sim/Lanes.h"

#include <cstdio>
#include <cstring>
#include <mutex>

namespace nereid::sim {

static void waitAtBarrier(Warp &warp, const Instruction &instruction) {
  unsigned lane = unsigned(std::countr_zero(warp.active));
  warp.barrierId = unsigned(warp.at(instruction.from[0])[lane]) & 15;
  warp.barrierThreads = instruction.from.size() > 1
                            ? uint32_t(warp.at(instruction.from[1])[lane])
                            : 0;
}

/// bar.arrive: what others wait for, and it does not.
static void arriveAtBarrier(Warp &warp, const Instruction &instruction) {
  unsigned lane = unsigned(std::countr_zero(warp.active));
  warp.block.arriveAt(unsigned(warp.at(instruction.from[0])[lane]) & 15,
                      uint32_t(warp.at(instruction.from[1])[lane]), warp);
}

/// bar.sync, barrier[.cta].sync, bar.warp.sync, bar.arrive.
static void decodeBarrier(Decoder &d) {
  if (d.word(1) == "warp") {
    d.made->flow = Flow::Together;
    d.made->members = d.source(0);
    d.made->execute = doNothing;
    return;
  }
  bool arrives = d.has("arrive") && d.word(1) != "cluster";
  if (!d.has("sync") && !arrives) {
    d.refuse();
  }
  d.made->flow = arrives ? Flow::Together : Flow::Barrier;
  d.made->execute = arrives ? arriveAtBarrier : waitAtBarrier;
  d.made->from = {d.source(0)};
  if (d.operandCount() > 1 || arrives) {
    d.made->from.push_back(d.source(1));
  }
}

static void decodeBranch(Decoder &d) {
  d.made->flow = Flow::Branch;
  d.made->target = d.statement->target;
}

static void decodeExit(Decoder &d) { d.made->flow = Flow::Exit; }

static void trap(Warp &warp, const Instruction &) {
  warp.block.fault(warp, Fault::Kind::Trap, "the kernel stops here");
}

//===----------------------------------------------------------------------===//
// vprintf
//===----------------------------------------------------------------------===//

/// What one lane prints. Arguments lie one after the other, each at a multiple
/// of its size.
static std::string formatted(Warp &warp, unsigned lane, uint64_t formatAt,
                             uint64_t argumentsAt) {
  Block &block = warp.block;
  auto byteAt = [&](uint64_t address) {
    return char(
        *block.resolve(warp, lane, address, 1, Space::Generic, Access::Read));
  };
  uint64_t used = 0;
  auto take = [&](uint32_t bytes) {
    used = (used + bytes - 1) / bytes * bytes;
    uint64_t value = 0;
    std::memcpy(&value,
                block.resolve(warp, lane, argumentsAt + used, bytes,
                              Space::Generic, Access::Read),
                bytes);
    used += bytes;
    return value;
  };
  std::string out;
  for (char c = byteAt(formatAt); c; c = byteAt(++formatAt)) {
    if (c != '%') {
      out += c;
      continue;
    }
    std::string conversion = "%";
    for (c = byteAt(++formatAt); c && !std::strchr("diouxXeEfFgGaAcsp%", c);
         c = byteAt(++formatAt)) {
      conversion += c;
    }
    if (c == '%' || !c) {
      out += '%';
      continue;
    }
    bool isLong = conversion.find('l') != std::string::npos;
    conversion += c;
    char text[512];
    if (std::strchr("eEfFgGaA", c)) {
      std::snprintf(text, sizeof(text), conversion.c_str(),
                    std::bit_cast<double>(take(8)));
    } else if (c == 's') {
      std::string argument;
      for (uint64_t at = take(8); char letter = byteAt(at); ++at) {
        argument += letter;
      }
      out += argument;
      continue;
    } else if (c == 'p' || isLong) {
      uint64_t value = take(8);
      std::snprintf(text, sizeof(text), conversion.c_str(), value);
    } else {
      auto value = uint32_t(take(4));
      std::snprintf(text, sizeof(text), conversion.c_str(), value);
    }
    out += text;
  }
  return out;
}

/// Operands: result, arguments, which are variables of the call.
static void printFormatted(Warp &warp, const Instruction &instruction) {
  static std::mutex mutex;
  forLanes(warp.active, [&](unsigned lane) {
    auto pointer = [&](size_t i) {
      uint64_t value = 0;
      std::memcpy(&value,
                  warp.block.resolve(warp, lane, instruction.detail[i], 8,
                                     Space::Local, Access::Read),
                  8);
      return value;
    };
    std::string line = formatted(warp, lane, pointer(0), pointer(1));
    std::lock_guard lock(mutex);
    std::fwrite(line.data(), 1, line.size(), stdout);
  });
}

/// Operands: message, file, line, which are variables of the call.
static void failAssertion(Warp &warp, const Instruction &instruction) {
  auto lane = unsigned(std::countr_zero(warp.active));
  auto parameter = [&](size_t i, size_t bytes) {
    uint64_t value = 0;
    std::memcpy(&value,
                warp.block.resolve(warp, lane, instruction.detail[i], bytes,
                                   Space::Local, Access::Read),
                bytes);
    return value;
  };
  auto text = [&](size_t i) {
    std::string result;
    for (uint64_t at = parameter(i, 8);; ++at) {
      char letter = char(
          *warp.block.resolve(warp, lane, at, 1, Space::Generic, Access::Read));
      if (!letter) {
        return result;
      }
      result += letter;
    }
  };
  warp.block.fault(warp, Fault::Kind::Trap,
                   text(1) + ":" + std::to_string(parameter(2, 4)) +
                       ": assertion `" + text(0) + "` failed");
}

static void decodeCall(Decoder &d) {
  const std::vector<Operand> &operands = d.statement->operands;
  if (operands.size() == 6 && operands[0].name == "__assertfail") {
    for (size_t i = 0; i < 3; ++i) {
      d.made->detail[i] = operands[1 + i].bits;
    }
    d.made->execute = failAssertion;
    return;
  }
  bool isPrint = operands.size() == 4 && operands[1].name == "vprintf";
  if (!isPrint) {
    d.refuse("functions are not simulated, but for vprintf and __assertfail");
  }
  d.made->detail[0] = operands[2].bits;
  d.made->detail[1] = operands[3].bits;
  d.made->execute = printFormatted;
}

void addControlOps(DecodeTable &table) {
  table["bra"] = decodeBranch;
  table["ret"] = decodeExit;
  table["exit"] = decodeExit;
  table["bar"] = decodeBarrier;
  table["barrier"] = decodeBarrier;
  table["call"] = decodeCall;
  table["trap"] = [](Decoder &d) { d.made->execute = trap; };
  for (const char *word :
       {"nanosleep", "griddepcontrol", "setmaxnreg", "pmevent", "brkpt"}) {
    table[word] = [](Decoder &d) { d.made->execute = doNothing; };
  }
}

} // namespace nereid::sim
