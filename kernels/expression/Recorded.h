//===- Recorded.h - An expression as its kernel sees it ---------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The nodes in order, the tensors that are loaded, each once, and the loops
// over them. The text of the kernel depends on what `key` is of: operations,
// types, small numbers, and what Loops says of strides. So a launch like an
// earlier one finds its kernel by the key, and no text is made.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_KERNELS_EXPRESSION_RECORDED_H
#define NEREID_KERNELS_EXPRESSION_RECORDED_H

#include "kernels/expression/Loops.h"
#include "kernels/expression/Node.h"
#include "nereid/Runtime/Argument.h"
#include "nereid/Runtime/launch/WordTable.h"

#include <memory_resource>
#include <optional>

namespace nereid::kernels::expression {

/// Where a parameter's value comes from, in each launch of a kernel.
struct SizeSource {
  enum class Of : uint8_t { Rows, Columns, Dimension, RowStride, Stride };
  Of of = Of::Rows;
  uint32_t tensor = 0, dimension = 0;
};
struct NumberSource {
  enum class Of : uint8_t { Real, Integer, Seed, Offset, Probability, Scale };
  Of of = Of::Real;
  uint32_t node = 0; ///< its place in the order
};

class Recorded {
public:
  static constexpr uint32_t nowhere = UINT32_MAX;

  /// `gradient` is for Op::Gradient; `result`, where the one root goes, if that
  /// is not row-major. `isForm`: tensors are not looked at (writeForm).
  /// Everything given must outlive this. Throws InvalidArgument where a dropout
  /// is broadcast.
  Recorded(
      std::span<const NodePtr> roots, const Tensor &gradient,
      const Tensor &result, bool isForm,
      std::pmr::memory_resource *memory = std::pmr::get_default_resource());
  Recorded(const Recorded &) = delete;
  Recorded &operator=(const Recorded &) = delete;

  /// Equal for those whose kernels have one text.
  void addTo(WordKey &key) const;

  /// The place of a node in the order.
  uint32_t placeOf(const Node *node) const { return uint32_t((*places)(node)); }
  /// The tensor that a node is; `nowhere`: it is computed.
  uint32_t tensorOf(uint32_t place) const { return tensorOfPlace[place]; }
  bool hasResult() const { return result.defined(); }

  LaunchArgument valueOf(const SizeSource &source) const;
  LaunchArgument valueOf(const NumberSource &source) const;
  /// Do offsets of the numbers that are drawn take 64 bits?
  bool isFar(const Node &dropout) const;
  /// Is it part of the kernel's text? Others are arguments.
  bool isLiteral(const Node &number) const;

  std::span<const NodePtr> roots;
  const bool isForm;
  std::pmr::vector<const Node *> order;
  std::pmr::vector<const Tensor *> tensors;
  Loops loops; ///< over those, and the result after them

private:
  void addTensor(const Tensor &tensor);

  const Tensor &result;
  std::pmr::vector<uint32_t> tensorOfPlace;
  std::optional<Places> places;
};

} // namespace nereid::kernels::expression

#endif // NEREID_KERNELS_EXPRESSION_RECORDED_H
