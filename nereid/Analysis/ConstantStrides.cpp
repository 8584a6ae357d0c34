//===- ConstantStrides.cpp - By how much a tile grows per step ------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Analysis/ConstantStrides.h"

#include "nereid/Dialect/TileGPU/IR/TileGPU.h"

using namespace mlir;

namespace nereid {

using Strides = ConstantStrides::Strides;

/// The value of all elements.
static std::optional<int64_t> splatConstant(Value value) {
  if (auto splat = value.getDefiningOp<tile::SplatOp>()) {
    value = splat.getSource();
  }
  auto constant = value.getDefiningOp<arith::ConstantOp>();
  Attribute attribute = constant ? Attribute(constant.getValue()) : Attribute();
  if (auto dense = dyn_cast_or_null<SplatElementsAttr>(attribute)) {
    attribute = dense.getSplatValue<Attribute>();
  }
  auto integer = dyn_cast_or_null<IntegerAttr>(attribute);
  if (!integer || integer.getValue().getBitWidth() > 64) {
    return std::nullopt;
  }
  return integer.getValue().getSExtValue();
}

/// a + b * c modulo 2^64, as the values themselves.
static int64_t wrappedSum(int64_t a, int64_t b, int64_t c) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) +
                              static_cast<uint64_t>(b) *
                                  static_cast<uint64_t>(c));
}

static Strides combine(const Strides &x, const Strides &y, int64_t scale) {
  Strides sum;
  for (auto [a, b] : llvm::zip_equal(x, y)) {
    sum.push_back(a && b ? std::optional<int64_t>(wrappedSum(*a, scale, *b))
                         : std::nullopt);
  }
  return sum;
}

static Strides scaled(const Strides &x, int64_t factor) {
  Strides product;
  for (std::optional<int64_t> a : x) {
    product.push_back(a ? std::optional<int64_t>(wrappedSum(0, *a, factor))
                        : std::nullopt);
  }
  return product;
}

/// A wider type: what grows in a narrow one wraps, what is equal stays so.
static Strides widened(const Strides &x, Type from) {
  bool isNarrow = tile::getElement(from).getIntOrFloatBitWidth() < 32;
  Strides strides = x;
  for (std::optional<int64_t> &stride : strides) {
    if (isNarrow && stride != 0) {
      stride.reset();
    }
  }
  return strides;
}

const Strides &ConstantStrides::get(Value tensor) {
  auto found = known.find(tensor);
  if (found == known.end()) {
    auto strides = std::make_unique<Strides>(compute(tensor));
    found = known.try_emplace(tensor, std::move(strides)).first;
  }
  return *found->second;
}

Strides ConstantStrides::compute(Value tensor) {
  size_t rank = tile::getShape(tensor.getType()).size();
  Strides unknown(rank);
  Operation *op = tensor.getDefiningOp();
  if (!op || op->getNumResults() != 1) {
    return unknown;
  }
  auto of = [&](unsigned i) -> const Strides & {
    return get(op->getOperand(i));
  };
  auto product = [&](unsigned i, std::optional<int64_t> factor) {
    return factor && std::abs(*factor) < int64_t{1} << 31
               ? scaled(of(i), *factor)
               : unknown;
  };
  return llvm::TypeSwitch<Operation *, Strides>(op)
      .Case<tile::SplatOp>([&](Operation *) { return Strides(rank, 0); })
      .Case([&](arith::ConstantOp constant) {
        return isa<SplatElementsAttr>(constant.getValue()) ? Strides(rank, 0)
                                                           : unknown;
      })
      .Case([&](tile::RangeOp) { return Strides{1}; })
      .Case([&](arith::AddIOp) { return combine(of(0), of(1), 1); })
      .Case([&](arith::SubIOp) { return combine(of(0), of(1), -1); })
      .Case([&](tile::AddPtrOp) {
        auto type = cast<tile::PtrType>(tile::getElement(tensor.getType()));
        return combine(Strides(of(0)),
                       widened(of(1), op->getOperand(1).getType()),
                       tile::getElementBytes(type.getPointee()));
      })
      .Case([&](arith::MulIOp) {
        if (auto factor = splatConstant(op->getOperand(1))) {
          return product(0, factor);
        }
        if (auto factor = splatConstant(op->getOperand(0))) {
          return product(1, factor);
        }
        Strides equal;
        for (auto [x, y] : llvm::zip_equal(Strides(of(0)), of(1))) {
          equal.push_back(x == 0 && y == 0 ? std::optional<int64_t>(0)
                                           : std::nullopt);
        }
        return equal;
      })
      .Case([&](arith::ShLIOp) {
        auto count = splatConstant(op->getOperand(1));
        return count && *count >= 0 && *count < 31
                   ? product(0, int64_t{1} << *count)
                   : unknown;
      })
      .Case([&](arith::ExtSIOp) {
        return widened(of(0), op->getOperand(0).getType());
      })
      .Case<tile::PtrCastOp, tile::HintOp, tile::IntToPtrOp, tile::PtrToIntOp,
            tilegpu::ConvertLayoutOp>([&](Operation *) { return of(0); })
      .Case([&](tile::ExpandDimsOp expand) {
        Strides strides = of(0);
        strides.insert(strides.begin() + expand.getAxis(), 0);
        return strides;
      })
      .Case([&](tile::BroadcastOp broadcast) {
        Strides strides = of(0);
        ArrayRef<int64_t> from =
            tile::getShape(broadcast.getSource().getType());
        for (auto [stride, size] : llvm::zip_equal(strides, from)) {
          stride = size == 1 ? std::optional<int64_t>(0) : stride;
        }
        return strides;
      })
      .Case([&](tile::TransposeOp transpose) {
        const Strides &source = of(0);
        Strides strides;
        for (int32_t from : transpose.getOrder()) {
          strides.push_back(source[from]);
        }
        return strides;
      })
      .Default([&](Operation *) { return unknown; });
}

} // namespace nereid
