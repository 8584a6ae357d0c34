//===- BenchPoint.h - What is timed, at one point of a sweep ---*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_TOOLS_NEREID_BENCHPOINT_H
#define NEREID_TOOLS_NEREID_BENCHPOINT_H

#include "BenchPlan.h"

#include <deque>

namespace nereid {

/// The arrays of a point, on one device. Several sets of them hold the same
/// values in other places.
class PointArrays {
public:
  /// With `source`, the values that another device's arrays have.
  PointArrays(const VariableValues &values, Device device, uint64_t seed,
              const PointArrays *source = nullptr);

  /// Large random arrays are left as they come: for counting, which looks at no
  /// values.
  bool drawsNothing = false;

  void add(const std::vector<std::string> &texts); ///< NAME=TEXT each
  /// The array's key, or a plain value.
  std::variant<std::string, StaticValue> argument(const NamedText &text);
  /// After all launches are bound: as many as take a GiB, eight at most.
  void makeSets();

  size_t sets() const { return setCount; }
  bool has(const std::string &key) const { return arrays.contains(key); }
  const Tensor &get(const std::string &key, size_t set = 0) const {
    return arrays.at(key)[set];
  }
  /// An integer among the variables' values.
  int64_t number(const std::string &variable) const;

  const VariableValues values;
  const Device device;

private:
  void add(const std::string &key, Tensor tensor);

  const uint64_t seed;
  const PointArrays *source;
  size_t setCount = 1;
  /// By the name, or for an argument's own array by all of its text.
  std::map<std::string, std::vector<Tensor>> arrays;
};

/// A provider's launches with their arguments.
class BoundProvider {
public:
  BoundProvider(const ProviderText &text, PointArrays &arrays);
  BoundProvider(const BoundProvider &) = delete;

  /// On the arrays' set turn % sets.
  void run(size_t turn);
  /// Keys of arrays that the launches write. Compiles.
  std::vector<std::string> written() const;
  /// What the launches ask for by their source, once they have run; nothing
  /// where that is not known of one of them.
  std::optional<SourceOperations> operations() const;
  /// What @triton.autotune chose for the last run; empty without.
  std::string configuration() const;

private:
  using Value = std::variant<std::string, StaticValue>;
  struct Launch {
    Kernel kernel;
    GridText gridText;
    std::optional<Grid> grid;                ///< known since the first run
    std::map<std::string, StaticValue> meta; ///< the same
    std::vector<NamedText> texts;
    std::vector<Value> values;
  };
  std::vector<LaunchArgument> argumentsOf(const Launch &launch,
                                          size_t set) const;

  PointArrays &arrays;
  std::deque<Launch> launches;
};

} // namespace nereid

#endif // NEREID_TOOLS_NEREID_BENCHPOINT_H
