//===- Grid.h - How many programs a launch runs ----------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// kernel[{n}], kernel[{n, m}], or a function of the launch's arguments:
//
//   auto grid = [&](const Meta &m) { return Grid{cdiv(n, m["BLOCK_SIZE"])}; };
//   kernel[grid](...)
//
// as `grid = lambda META: (triton.cdiv(n, META['BLOCK_SIZE']),)` in Python.
// (A lambda written between the brackets needs parentheses around it, since
// C++ reads `[[` as the start of an attribute.)
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_RUNTIME_GRID_H
#define NEREID_RUNTIME_GRID_H

#include "nereid/Runtime/Argument.h"

#include <array>
#include <concepts>
#include <cstring>
#include <memory>
#include <span>
#include <type_traits>

namespace nereid {

/// ceil(a / b) for b > 0. Throws InvalidArgument for b == 0.
int64_t cdiv(int64_t a, int64_t b);
/// The smallest power of two >= n; 1 for n <= 1.
int64_t nextPowerOf2(int64_t n);

/// The arguments of one launch by parameter name: constexpr and run-time
/// scalars, defaults, and the values chosen by autotune and heuristics.
/// Valid during the grid function's call.
class Meta {
public:
  /// An integer or bool. Throws InvalidArgument, naming the parameters that
  /// exist, when there is none of that name or it is no integer.
  int64_t operator[](Text name) const;
  bool contains(Text name) const;
  /// Any argument.
  const Argument &argument(Text name) const;
  /// All arguments that are no tensors.
  std::map<std::string, StaticValue> values() const;

private:
  friend struct LaunchBinding;
  explicit Meta(const struct LaunchBinding &binding) : binding(binding) {}
  const struct LaunchBinding &binding;
};

/// One to three sizes, or a function that computes them. Zero programs in any
/// dimension make the launch a no-op; negative ones are an error.
class Grid {
public:
  static constexpr int maxRank = 3;

  /// No grid: a launch with it fails, saying what to write.
  Grid() = default;
  template <std::integral... Sizes>
    requires(sizeof...(Sizes) >= 1)
  Grid(Sizes... sizes) : rank_(sizeof...(Sizes)) {
    int64_t values[] = {static_cast<int64_t>(sizes)...};
    assign(values);
  }
  explicit Grid(std::span<const int64_t> sizes)
      : rank_(static_cast<int>(sizes.size())) {
    assign(sizes);
  }
  /// Any callable Grid(const Meta &); an empty one is no grid. Small trivially
  /// copyable ones (lambdas that capture up to six words) are stored in place.
  template <typename F>
    requires(!std::same_as<std::remove_cvref_t<F>, Grid> &&
             std::is_invocable_r_v<Grid, F &, const Meta &>)
  Grid(F function) {
    // An empty std::function, a null pointer: as no grid at all.
    if constexpr (std::is_pointer_v<F> ||
                  requires { function.operator bool(); }) {
      if (!function) {
        return;
      }
    }
    if constexpr (sizeof(F) <= sizeof(inlined) &&
                  std::is_trivially_copyable_v<F>) {
      new (inlined) F(function);
      call = [](const Grid &self, const Meta &meta) -> Grid {
        return (*std::launder(reinterpret_cast<F *>(
            const_cast<std::byte *>(self.inlined))))(meta);
      };
    } else {
      held = std::make_shared<F>(std::move(function));
      call = [](const Grid &self, const Meta &meta) -> Grid {
        return (*static_cast<F *>(self.held.get()))(meta);
      };
    }
  }

  bool isFunction() const { return call != nullptr; }
  Grid evaluate(const Meta &meta) const { return call(*this, meta); }
  /// 0 when there is no grid; may exceed maxRank, which a launch refuses.
  int rank() const { return rank_; }
  /// 1 beyond the rank.
  const std::array<int64_t, 3> &sizes() const { return sizes_; }

private:
  void assign(std::span<const int64_t> values) {
    for (size_t i = 0; i < values.size() && i < sizes_.size(); ++i) {
      sizes_[i] = values[i];
    }
  }

  std::array<int64_t, 3> sizes_ = {1, 1, 1};
  int rank_ = 0;
  Grid (*call)(const Grid &, const Meta &) = nullptr;
  alignas(8) std::byte inlined[48];
  std::shared_ptr<void> held;
};

} // namespace nereid

#endif // NEREID_RUNTIME_GRID_H
