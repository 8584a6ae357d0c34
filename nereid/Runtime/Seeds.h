//===- Seeds.h - Seeds that are drawn again --------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   std::vector<uint64_t> seeds;
//   { KeptSeeds keep(seeds);     y = function(x); }
//   { RepeatedSeeds same(seeds); z = function(x); } // the same random numbers
//
// A function that is computed twice draws the same numbers both times. Every
// sequence of seeds asks `drawSeed`: that of the process, and a Generator.
// Sequences stand still while seeds are repeated, and other threads draw from
// them as ever; to set their states back would draw seeds twice.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_RUNTIME_SEEDS_H
#define NEREID_RUNTIME_SEEDS_H

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace nereid {

/// Of this thread; the innermost one counts.
class SeedScope {
public:
  SeedScope(const SeedScope &) = delete;
  SeedScope &operator=(const SeedScope &) = delete;

  using Draw = uint64_t (*)(void *sequence);
  /// The next of `sequence`, or what a scope repeats. Throws InvalidArgument
  /// where more are drawn than were kept.
  static uint64_t next(Draw draw, void *sequence);
  static bool isRepeating();

protected:
  SeedScope();
  ~SeedScope();

  std::vector<uint64_t> *kept = nullptr;
  std::span<const uint64_t> repeated;

private:
  static uint64_t nextOf(SeedScope *scope, Draw draw, void *sequence);

  size_t used = 0;
  SeedScope *outer;
};

/// While it lives, what is drawn is appended to `seeds`.
class KeptSeeds : public SeedScope {
public:
  explicit KeptSeeds(std::vector<uint64_t> &seeds) { kept = &seeds; }
};

/// While it lives, what is drawn are `seeds`, from the first on.
class RepeatedSeeds : public SeedScope {
public:
  explicit RepeatedSeeds(std::span<const uint64_t> seeds) { repeated = seeds; }
};

/// The next seed of a sequence, `draw()`, where none is repeated.
template <typename F>
uint64_t drawSeed(F draw) {
  return SeedScope::next(
      [](void *sequence) { return (*static_cast<F *>(sequence))(); }, &draw);
}

} // namespace nereid

#endif // NEREID_RUNTIME_SEEDS_H
