//===- ConversionPlan.cpp - How values get from one layout to another -*- C++
//-*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Layout/ConversionPlan.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <set>

namespace nereid {

static std::vector<f2::Vector> basesOf(const LinearLayout &layout, Axis axis) {
  std::vector<f2::Vector> bases;
  for (unsigned i = 0; i < layout.inputBits(axis); ++i) {
    bases.push_back(layout.applyFlat(layout.flattenInput({{axis, 1u << i}})));
  }
  return bases;
}

/// The pull map that keeps the bits of `fixed` axes and is free in the others;
/// absent when the source does not hold every element there.
static std::optional<LinearLayout> pullKeeping(const LinearLayout &source,
                                               const LinearLayout &target,
                                               const std::vector<Axis> &fixed) {
  std::vector<Axis> order;
  f2::Matrix free = source.columns();
  for (const AxisBits &in : source.inputs()) {
    if (std::find(fixed.begin(), fixed.end(), in.axis) == fixed.end()) {
      continue;
    }
    if (target.inputBits(in.axis) != in.bits) {
      return std::nullopt;
    }
    uint64_t first =
        source.flattenInput({{in.axis, in.bits ? (1u << in.bits) - 1 : 0}});
    for (unsigned i = 0; i < free.size(); ++i) {
      // A zero column is dependent, so the solver never uses it.
      free[i] = first >> i & 1 ? 0 : free[i];
    }
  }
  f2::Solver solver(free);
  f2::Matrix columns;
  for (const AxisBits &in : target.inputs()) {
    bool isFixed =
        std::find(fixed.begin(), fixed.end(), in.axis) != fixed.end();
    for (unsigned i = 0; i < in.bits; ++i) {
      uint64_t image =
          target.applyFlat(target.flattenInput({{in.axis, 1u << i}}));
      uint64_t own = isFixed ? source.flattenInput({{in.axis, 1u << i}}) : 0;
      auto rest = solver.solve(image ^ source.applyFlat(own));
      if (!rest) {
        return std::nullopt;
      }
      columns.push_back(*rest ^ own);
    }
  }
  return LinearLayout(target.inputs(), source.inputs(), std::move(columns));
}

//===----------------------------------------------------------------------===//
// The layout of shared memory
//===----------------------------------------------------------------------===//

namespace {
/// Chooses the basis of offsets, in the order word, wide, banks, rest.
class SharedLayout {
public:
  SharedLayout(const LinearLayout &source, const LinearLayout &target,
               unsigned elementBytes, const SharedMemoryShape &memory)
      : source(source), target(target), elementBytes(elementBytes),
        memory(memory) {
    for (unsigned i = 0; i < source.outputBits(); ++i) {
      units.push_back(f2::Vector{1} << i);
    }
  }

  /// Which registers form a vector must not depend on the lane or the warp:
  /// neither may reach the low bits of an offset. That holds for every family
  /// at the full width; odd layouts get narrower accesses.
  void choose(ConversionPlan &plan) {
    unsigned most = elementBytes >= memory.accessBytes
                        ? 0
                        : std::countr_zero(memory.accessBytes / elementBytes);
    for (bool found = false; !found; --most) {
      unsigned fewest = ~0u;
      for (const LinearLayout *side :
           {&target, &source, (const LinearLayout *)nullptr}) {
        wider = side;
        LinearLayout layout = chooseFor(most);
        unsigned stores = vectorOf(source);
        unsigned loads = vectorOf(target);
        unsigned accesses =
            registersOf(source) / stores + registersOf(target) / loads;
        if (accesses < fewest && isUniform(source, layout, stores) &&
            isUniform(target, layout, loads)) {
          plan.shared = layout;
          plan.storeVector = stores;
          plan.loadVector = loads;
          fewest = accesses;
          found = true;
        }
      }
    }
  }

private:
  static unsigned registersOf(const LinearLayout &side) {
    return 1u << side.inputBits(Axis::Register);
  }

  /// What one access of `side` takes beside the word.
  std::vector<f2::Vector> besideWord(const LinearLayout &side) const {
    return &side == wider ? wide : std::vector<f2::Vector>();
  }

  unsigned vectorOf(const LinearLayout &side) const {
    return 1u << (common + besideWord(side).size());
  }

  static bool isUniform(const LinearLayout &distributed,
                        const LinearLayout &shared, unsigned vector) {
    LinearLayout toOffset = distributed.compose(shared.invert());
    for (const AxisBits &in : toOffset.inputs()) {
      for (unsigned i = 0; in.axis != Axis::Register && i < in.bits; ++i) {
        if (toOffset.basis(in.axis, i, Axis::Offset) & (vector - 1)) {
          return false;
        }
      }
    }
    return true;
  }

  LinearLayout chooseFor(unsigned most) {
    unsigned bits = source.outputBits();
    chooseVector(most);
    common = word.size();
    fillWord();
    chooseWide(most);
    // Lanes of one wavefront: as many as fill it.
    unsigned bytes = elementBytes << word.size();
    unsigned cycle = memory.wavefrontBytes();
    unsigned bankBits = bytes >= cycle ? 0 : std::countr_zero(cycle / bytes);
    bankBits = std::min<unsigned>(bankBits, bits - word.size());
    std::vector<f2::Vector> p = wavefront(source, bankBits);
    std::vector<f2::Vector> q = wavefront(target, bankBits);
    extendTo(p, bankBits);
    extendTo(q, bankBits);
    std::vector<f2::Vector> rest = commonComplement(p, q);
    std::vector<f2::Vector> low = word;
    low.insert(low.end(), rest.begin(), rest.end());
    f2::Matrix columns = word;
    // The lanes of the wider side then stay out of its vector.
    std::vector<f2::Vector> banks =
        f2::complement(low, wider == &target ? q : p);
    columns.insert(columns.end(), banks.begin(), banks.end());
    columns.insert(columns.end(), rest.begin(), rest.end());
    assert(columns.size() == bits && f2::rank(columns) == bits);
    return LinearLayout({{Axis::Offset, bits}}, source.outputs(), columns);
  }

  /// Elements that both sides keep in registers, at most 2^most of them.
  void chooseVector(unsigned most) {
    auto both = f2::intersection(basesOf(source, Axis::Register),
                                 basesOf(target, Axis::Register));
    std::sort(both.begin(), both.end());
    word = f2::complement({}, both);
    word.resize(std::min<size_t>(word.size(), most));
  }

  /// Narrower than a bank's word: lanes that share a word do not conflict,
  /// so the word is filled up with anything, registers by preference.
  void fillWord() {
    while (word.size() < units.size() &&
           elementBytes << word.size() < memory.bankBytes) {
      auto candidates = basesOf(source, Axis::Register);
      auto more = basesOf(target, Axis::Register);
      candidates.insert(candidates.end(), more.begin(), more.end());
      candidates.insert(candidates.end(), units.begin(), units.end());
      word.push_back(f2::complement(word, candidates).front());
    }
  }

  /// Elements that one side alone keeps in registers too, at most 2^most with
  /// the common ones.
  void chooseWide(unsigned most) {
    wide.clear();
    if (!wider || common < word.size()) {
      return; // words hold what neither side has in registers
    }
    auto registers = basesOf(*wider, Axis::Register);
    std::sort(registers.begin(), registers.end());
    wide = f2::complement(word, registers);
    wide.resize(std::min<size_t>(wide.size(), most - common));
  }

  /// What one wavefront touches, modulo the word.
  std::vector<f2::Vector> wavefront(const LinearLayout &layout,
                                    unsigned count) const {
    std::vector<f2::Vector> touched = besideWord(layout);
    std::vector<f2::Vector> lanes = basesOf(layout, Axis::Lane);
    lanes.resize(std::min<size_t>(lanes.size(), count - touched.size()));
    touched.insert(touched.end(), lanes.begin(), lanes.end());
    return f2::complement(word, touched);
  }

  void extendTo(std::vector<f2::Vector> &span, size_t size) const {
    std::vector<f2::Vector> have = word;
    have.insert(have.end(), span.begin(), span.end());
    for (f2::Vector v : f2::complement(have, units)) {
      if (span.size() >= size) {
        break;
      }
      span.push_back(v);
    }
  }

  /// A complement of word + p that is one of word + q as well.
  std::vector<f2::Vector>
  commonComplement(const std::vector<f2::Vector> &p,
                   const std::vector<f2::Vector> &q) const {
    std::vector<f2::Vector> withP = word, withQ = word;
    withP.insert(withP.end(), p.begin(), p.end());
    withQ.insert(withQ.end(), q.begin(), q.end());
    std::vector<f2::Vector> shared = f2::intersection(withP, withQ);
    std::vector<f2::Vector> onlyP = f2::complement(shared, p);
    std::vector<f2::Vector> onlyQ = f2::complement(shared, q);
    assert(onlyP.size() == onlyQ.size());
    std::vector<f2::Vector> both = withP;
    both.insert(both.end(), onlyQ.begin(), onlyQ.end());
    std::vector<f2::Vector> rest = f2::complement(both, units);
    for (size_t i = 0; i < onlyP.size(); ++i) {
      rest.push_back(onlyP[i] ^ onlyQ[i]);
    }
    return rest;
  }

  const LinearLayout &source, &target;
  unsigned elementBytes;
  const SharedMemoryShape &memory;
  /// `word` begins with the `common` vector and fills at least a bank's word.
  std::vector<f2::Vector> units, word, wide;
  size_t common = 0;
  /// The side that may take `wide` too; null: neither.
  const LinearLayout *wider = nullptr;
};
} // namespace

static LinearLayout alignOutputs(const LinearLayout &source,
                                 const LinearLayout &target) {
  std::vector<Axis> outputs;
  for (const AxisBits &out : source.outputs()) {
    outputs.push_back(out.axis);
  }
  return target.transposeOutputs(outputs);
}

ConversionPlan planShared(const LinearLayout &source,
                          const LinearLayout &target, unsigned elementBytes,
                          const SharedMemoryShape &memory) {
  assert(source.isSurjective() && target.isSurjective());
  LinearLayout to = alignOutputs(source, target);
  ConversionPlan plan;
  plan.kind = ConversionPlan::Kind::Shared;
  plan.pull = to.invertAndCompose(source);
  SharedLayout(source, to, elementBytes, memory).choose(plan);
  return plan;
}

std::optional<ConversionPlan> planWithinWarp(const LinearLayout &source,
                                             const LinearLayout &target) {
  assert(source.isSurjective() && target.isSurjective());
  LinearLayout to = alignOutputs(source, target);
  ConversionPlan plan;
  if (auto pull = pullKeeping(source, to, {Axis::Lane, Axis::Warp})) {
    plan.kind = source == to ? ConversionPlan::Kind::Nothing
                             : ConversionPlan::Kind::Registers;
    plan.pull = *pull;
    return plan;
  }
  if (auto pull = pullKeeping(source, to, {Axis::Warp})) {
    plan.kind = ConversionPlan::Kind::Shuffles;
    plan.pull = *pull;
    return plan;
  }
  return std::nullopt;
}

ConversionPlan planConversion(const LinearLayout &source,
                              const LinearLayout &target, unsigned elementBytes,
                              const SharedMemoryShape &memory) {
  std::optional<ConversionPlan> plan = planWithinWarp(source, target);
  return plan ? *plan : planShared(source, target, elementBytes, memory);
}

unsigned countWavefronts(const LinearLayout &distributed,
                         const LinearLayout &shared, unsigned reg,
                         unsigned vector, unsigned elementBytes,
                         const SharedMemoryShape &memory) {
  unsigned bytes = vector * elementBytes, word = memory.bankBytes;
  unsigned cycle = memory.wavefrontBytes();
  unsigned lanes = 1u << distributed.inputBits(Axis::Lane);
  unsigned group =
      std::min(lanes, bytes >= cycle ? 1 : cycle / std::max(bytes, word));
  LinearLayout toOffset = distributed.compose(shared.invert());
  unsigned cycles = 0;
  for (unsigned first = 0; first < lanes; first += group) {
    std::vector<std::set<uint64_t>> words(memory.banks);
    for (unsigned lane = first; lane < first + group; ++lane) {
      uint64_t offset = toOffset.applyFlat(distributed.flattenInput(
          {{Axis::Register, reg}, {Axis::Lane, lane}}));
      for (unsigned b = 0; b < bytes; b += std::min(bytes, word)) {
        uint64_t place = (offset * elementBytes + b) / word;
        words[place % memory.banks].insert(place);
      }
    }
    size_t most = 0;
    for (const auto &bank : words) {
      most = std::max(most, bank.size());
    }
    cycles += most;
  }
  return cycles;
}

} // namespace nereid
