//===- Symmetry.cpp - Combinations whose operands may change places -------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Analysis/Symmetry.h"

#include "mlir/IR/Operation.h"

#include "llvm/ADT/DenseMap.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <vector>

using namespace mlir;

namespace nereid {
namespace {

using Number = unsigned;

/// Numbers of values: what computes the same from the same has one number.
class ValueNumbers {
public:
  /// Of the values that `block` yields, if its arguments have these numbers.
  std::vector<Number> ofYields(Block &block, ArrayRef<Number> arguments) {
    llvm::DenseMap<Value, Number> numbers;
    for (auto [argument, number] :
         llvm::zip_equal(block.getArguments(), arguments)) {
      numbers[argument] = number;
    }
    auto numberOf = [&](Value value) {
      auto inside = numbers.find(value);
      return inside != numbers.end() ? inside->second
                                     : of({value.getAsOpaquePointer(), {}, {}});
    };
    for (Operation &op : block.without_terminator()) {
      std::vector<Number> operands;
      for (Value operand : op.getOperands()) {
        operands.push_back(numberOf(operand));
      }
      if (op.hasTrait<OpTrait::IsCommutative>()) {
        std::sort(operands.begin(), operands.end());
      }
      Number whole = of({op.getName().getAsOpaquePointer(),
                         op.getAttrDictionary().getAsOpaquePointer(),
                         std::move(operands)});
      bool isFunction = op.getNumRegions() == 0 && op.getNumResults() == 1;
      for (Value result : op.getResults()) {
        numbers[result] = isFunction ? whole : next++;
      }
    }
    std::vector<Number> yields;
    for (Value value : block.getTerminator()->getOperands()) {
      yields.push_back(numberOf(value));
    }
    return yields;
  }

  Number next = 0;

private:
  using Key = std::tuple<const void *, const void *, std::vector<Number>>;

  Number of(Key key) {
    auto [found, isNew] = known.try_emplace(std::move(key), next);
    next += isNew;
    return found->second;
  }

  std::map<Key, Number> known;
};

} // namespace

bool isSymmetric(Region &combine) {
  Block &block = combine.front();
  ValueNumbers numbers;
  std::vector<Number> arguments(block.getNumArguments());
  for (Number &argument : arguments) {
    argument = numbers.next++;
  }
  std::vector<Number> straight = numbers.ofYields(block, arguments);
  std::rotate(arguments.begin(), arguments.begin() + arguments.size() / 2,
              arguments.end());
  return numbers.ofYields(block, arguments) == straight;
}

} // namespace nereid
