//===- Timing.cpp - How long a warp waits for its own results -------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Sim/Timing.h"

#include <algorithm>
#include <cstdio>
#include <string>

namespace nereid::sim {

/// A load from memory, and from the second-level cache.
static constexpr Cycles loadCycles = {479, 263};

static void raise(Cycles &to, const Cycles &from) {
  for (size_t i = 0; i < to.size(); ++i) {
    to[i] = std::max(to[i], from[i]);
  }
}

static Cycles later(Cycles time, const Cycles &by) {
  for (size_t i = 0; i < time.size(); ++i) {
    time[i] += by[i];
  }
  return time;
}

static Cycles later(Cycles time, uint64_t by) {
  return later(time, Cycles{by, by});
}

//===----------------------------------------------------------------------===//
// Instructions
//===----------------------------------------------------------------------===//

/// Of wgmma...m64nNkK where it has the tensor cores to itself: they take two
/// columns a cycle.
static uint16_t productCycles(const std::vector<std::string_view> &words) {
  for (std::string_view word : words) {
    if (word.starts_with("m64n")) {
      unsigned columns = 0;
      for (char c : word.substr(4)) {
        if (c < '0' || c > '9') {
          break;
        }
        columns = columns * 10 + unsigned(c - '0');
      }
      return uint16_t(columns / 2);
    }
  }
  return 64;
}

/// What stands between the dots of an opcode: "@%p1 ld.global.b32 ...". A
/// decoded program has the text only.
static std::vector<std::string_view> wordsOf(std::string_view text) {
  if (text.starts_with("@")) {
    text.remove_prefix(std::min(text.find(' ') + 1, text.size()));
  }
  text = text.substr(0, text.find_first_of(" ;"));
  std::vector<std::string_view> words;
  while (!text.empty()) {
    words.push_back(text.substr(0, text.find('.')));
    text.remove_prefix(std::min(words.back().size() + 1, text.size()));
  }
  return words;
}

static Timing timingOf(const std::vector<std::string_view> &words) {
  using Kind = Timing::Kind;
  auto word = [&](size_t i) {
    return i < words.size() ? words[i] : std::string_view();
  };
  auto has = [&](std::string_view wanted) {
    return std::find(words.begin(), words.end(), wanted) != words.end();
  };
  std::string_view name = word(0);
  if (name == "ld") {
    return has("shared")  ? Timing{Kind::Plain, 29}
           : has("param") ? Timing{Kind::Plain, 8}
                          : Timing{Kind::Load, 41};
  }
  if (name == "atom") {
    return {has("shared") ? Kind::Plain : Kind::Load, 64};
  }
  if (name == "cp" && word(1) == "async" && word(2) != "bulk") {
    return {word(2) == "commit_group"     ? Kind::CommitCopies
            : word(2).starts_with("wait") ? Kind::WaitCopies
                                          : Kind::Copy,
            0};
  }
  if (name == "wgmma") {
    return word(1) == "mma_async" ? Timing{Kind::Product, productCycles(words)}
           : word(1) == "commit_group" ? Timing{Kind::CommitProducts, 0}
           : word(1) == "wait_group"   ? Timing{Kind::WaitProducts, 0}
                                       : Timing{};
  }
  static constexpr std::pair<std::string_view, uint16_t> others[] = {
      {"ldmatrix", 33}, {"mma", 33},     {"shfl", 23},  {"redux", 23},
      {"bar", 20},      {"barrier", 20}, {"ex2", 23},   {"lg2", 23},
      {"rcp", 23},      {"sqrt", 30},    {"rsqrt", 23}, {"sin", 23},
      {"cos", 23},      {"tanh", 23},    {"div", 40},   {"cvt", 8}};
  for (auto [other, cycles] : others) {
    if (name == other) {
      return {Kind::Plain, cycles};
    }
  }
  return {Kind::Plain, 4};
}

/// By the word "m16n8k16".
static uint32_t multiplicationsOf(const std::vector<std::string_view> &words) {
  for (std::string_view word : words) {
    unsigned m = 0, n = 0, k = 0;
    if (std::sscanf(std::string(word).c_str(), "m%un%uk%u", &m, &n, &k) == 3) {
      return m * n * k / (words[0] == "wgmma" ? 4 : 1);
    }
  }
  return 0;
}

std::vector<Timing> timingsOf(const Program &program) {
  std::vector<Timing> timings;
  for (const Statement &statement : program.statements) {
    std::vector<std::string_view> words = wordsOf(statement.text);
    timings.push_back(timingOf(words));
    if (words[0] == "mma" || words[0] == "wgmma") {
      timings.back().multiplications = multiplicationsOf(words);
    }
  }
  return timings;
}

//===----------------------------------------------------------------------===//
// A warp
//===----------------------------------------------------------------------===//

void WarpClock::begin() {
  std::fill(vectorReady.begin(), vectorReady.end(), Cycles{});
  std::fill(predicateReady.begin(), predicateReady.end(), Cycles{});
  base = latest = copied = multiplied = {};
  copyGroups.clear();
  productGroups.clear();
}

Cycles WarpClock::copyEnd() const { return later(base, loadCycles); }

void WarpClock::waitUntil(const Cycles &time) { raise(base, time); }

/// The end of all groups but the `youngest` last ones.
static Cycles endOf(const std::deque<Cycles> &groups, uint64_t youngest) {
  return youngest < groups.size() ? groups[groups.size() - 1 - youngest]
                                  : Cycles{};
}

void WarpClock::step(const Instruction &instruction, const Timing &timing,
                     const AccessSeen &access) {
  Cycles start = base;
  for (uint32_t from : instruction.from) {
    raise(start, vectorReady[from]);
  }
  for (uint32_t predicate : instruction.predicates) {
    if (predicate != noIndex) {
      raise(start, predicateReady[predicate]);
    }
  }
  if (instruction.isGuarded) {
    raise(start, predicateReady[instruction.guard]);
  }
  raise(latest, start);
  base = later(base, 1); // a warp issues one instruction a cycle
  Cycles end =
      access.isNew ? later(start, loadCycles) : later(start, timing.cycles);
  end = later(end, access.passes > 1 ? access.passes - 1 : 0);
  switch (timing.kind) {
  case Timing::Kind::Plain:
  case Timing::Kind::Load:
    break;
  case Timing::Kind::Copy:
    raise(copied, end);
    break;
  case Timing::Kind::CommitCopies:
    copyGroups.push_back(copied);
    break;
  case Timing::Kind::WaitCopies:
    raise(base, instruction.detail[0] == ~uint64_t{0}
                    ? copied
                    : endOf(copyGroups, instruction.detail[0]));
    break;
  case Timing::Kind::Product:
    raise(multiplied, start);
    multiplied = later(multiplied, timing.cycles * groups);
    break;
  case Timing::Kind::CommitProducts:
    productGroups.push_back(multiplied);
    break;
  case Timing::Kind::WaitProducts:
    raise(base, endOf(productGroups, instruction.detail[0]));
    break;
  }
  for (uint32_t to : instruction.to) {
    if (to != noIndex) {
      vectorReady[to] = end;
    }
  }
  for (uint32_t predicate : instruction.predicates) {
    if (predicate != noIndex) {
      predicateReady[predicate] = end;
    }
  }
  bool allStarted = instruction.flow == Flow::Branch ||
                    instruction.flow == Flow::Barrier ||
                    instruction.flow == Flow::Exit;
  if (allStarted) {
    raise(base, latest);
  }
}

} // namespace nereid::sim
