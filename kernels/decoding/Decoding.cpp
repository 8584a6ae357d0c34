//===- Decoding.cpp ---------------------------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/decoding/Decoding.h"

#include "kernels/linear/CombinedLinear.h"
#include "kernels/linear/Linear.h"
#include "kernels/operator/AttentionChecks.h"
#include "kernels/operator/Nearby.h"
#include "kernels/operator/OperatorKernel.h"
#include "kernels/operator/OverlappedLaunches.h"
#include "nereid/Runtime/DeviceProperties.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>

using namespace nereid;
using namespace nereid::kernels;
using namespace nereid::literals;

static constexpr int64_t mostSplits = 64;

static void checkArguments(const Tensor &q, const KeyAndValue &own,
                           const Tensor &k, const Tensor &v,
                           const Tensor &lengths,
                           const DecodingOptions &options) {
  Checks checks("decoding");
  checks.floats("q", q).rank(3, 3);
  bool isPaged = options.table.defined();
  checkKeysAndValues(checks, q, k, v, options.window, options.scale, isPaged);
  if (isPaged) {
    checks.integers("table", options.table)
        .shape({q.size(0), -1}, "the batch of q, and pages of a sequence");
    checks.require(k.size(2) >= 1, "k", "pages of a key or more", k.size(2));
  }
  checks.integers("lengths", lengths).shape({q.size(0)}, "the batch of q");
  int64_t splits = options.splits.value_or(1);
  checks.require(splits >= 1 && splits <= mostSplits &&
                     std::has_single_bit(uint64_t(splits)),
                 "splits", "a power of two from 1 to 64", double(splits));
  if (!own.k.defined() && !own.v.defined()) {
    return;
  }
  Shape shape = {q.size(0), k.size(1), q.size(2)};
  for (auto [name, tensor] : {std::pair("own.k", &own.k), {"own.v", &own.v}}) {
    checks.floats(name, *tensor)
        .shape(shape, "batch and head size of q, heads of k")
        .dtype(q.dtype(), "as q has");
  }
  if (own.k.strides() != own.v.strides()) {
    checks.fail("own.v", "the strides of own.k, " + own.k.str(), own.v.str());
  }
}

/// So many that the device has a few programs a processor, of 256 keys or more.
static int64_t splitsFor(int64_t programs, int64_t capacity, Device device) {
  int64_t wanted =
      device.isHost() ? 16 : int64_t(4) * numbersOf(device).processors;
  constexpr int64_t leastKeys = 256;
  int64_t most = std::clamp<int64_t>(capacity / leastKeys, 1, mostSplits);
  int64_t splits = std::clamp<int64_t>(cdiv(wanted, programs), 1, most);
  return int64_t(std::bit_floor(uint64_t(splits)));
}

/// Of one sequence on a GPU, whose splits the product combines at little cost:
/// of a short cache so many that a program has its keys in registers before the
/// launch in front has ended.
static std::optional<int64_t> splitsReadAhead(const Tensor &q, const Tensor &k,
                                              const DecodingOptions &options) {
  constexpr int64_t keysOfProgram = 128, most = 4;
  int64_t capacity = k.size(2), needed = cdiv(capacity, keysOfProgram);
  if (options.splits || options.table.defined() || q.device().isHost() ||
      !hasCompiler() || q.size(0) != 1 || q.size(1) != k.size(1) ||
      needed > 2 * most) {
    return options.splits;
  }
  return std::min(most, int64_t(std::bit_ceil(uint64_t(needed))));
}

/// With zeros after each head, and rows that are read 16 bytes at once, where
/// kernels were compiled for these alone.
static Tensor widened(const Tensor &t, int64_t width) {
  int last = t.rank() - 1;
  bool isAligned =
      reinterpret_cast<uintptr_t>(t.data()) % 16 == 0 && t.stride(last) == 1;
  for (int i = 0; i < last; ++i) {
    isAligned &= t.stride(i) % 16 == 0;
  }
  if (hasCompiler() || (t.size(last) == width && isAligned)) {
    return t;
  }
  Shape shape = t.shape();
  shape.back() = width;
  Tensor wide = zeros(shape, t.dtype(), t.device());
  wide.slice(last, 0, t.size(last)).copyFrom(t);
  return wide;
}

namespace {
/// What the splits of each head have, or the result where there is one.
struct Splits {
  Tensor result;     ///< of q's shape; undefined: parts and lse
  Tensor parts, lse; ///< fp32 [B, H, splits, width] and [B, H, splits]
};
} // namespace

/// `own` undefined: the token's key and value are in the cache.
static Splits attend(const Tensor &q, const KeyAndValue &own, const Tensor &k,
                     const Tensor &v, const Tensor &lengths,
                     const DecodingOptions &options) {
  checkArguments(q, own, k, v, lengths, options);
  Splits made;
  if (q.numel() == 0) {
    made.result = empty(q.shape(), q.dtype(), q.device());
    return made;
  }
  int64_t batch = q.size(0), heads = q.size(1), headSize = q.size(2),
          kvHeads = k.size(1), capacity = k.size(2), group = heads / kvHeads;
  Tensor table;
  Argument tableRow = none, pages = none, pageSize = none;
  int64_t page = 1;
  if (options.table.defined()) {
    table = options.table.stride(1) == 1 ? options.table
                                         : options.table.contiguous();
    table = hasCompiler() ? table : table.to(i32); // as ahead.txt has it
    page = k.size(2);
    capacity = table.size(1) * page;
    tableRow = Argument(table.stride(0));
    pages = Argument(k.size(0));
    pageSize = hasCompiler() ? Argument(none) : Argument(page);
  }
  bool isHost = q.device().isHost();
  int64_t splits =
      options.splits.value_or(splitsFor(batch * kvHeads, capacity, q.device()));
  // Kernels compiled ahead of time: three head sizes, padded with zeros, and
  // results in fp32, to be combined.
  int64_t width = hasCompiler()     ? headSize
                  : headSize <= 64  ? 64
                  : headSize <= 128 ? 128
                                    : 256;
  bool isWhole = splits == 1 && hasCompiler();
  if (isWhole) {
    made.result = empty(q.shape(), q.dtype(), q.device());
  } else {
    made.parts = empty({batch, heads, splits, width}, f32, q.device());
    made.lse = empty({batch, heads, splits}, f32, q.device());
  }
  double scale = options.scale.value_or(1 / std::sqrt(double(headSize)));
  // With the token's own key, those of a full cache are one less.
  int64_t window = options.window > 0 ? std::min(options.window, capacity + 1)
                                      : capacity + 1;
  Tensor query = widened(q, width), keys = widened(k, width),
         values = widened(v, width);
  query = nearby(query);
  Tensor key = nearby(keys), value = nearby(values);
  bool hasOwn = own.k.defined();
  KeyAndValue token = own;
  if (hasOwn && !isNearby(own.k)) {
    token = {own.k.contiguous(), own.v.contiguous()};
  }
  if (hasOwn && !hasCompiler()) {
    token = {widened(token.k, width), widened(token.v, width)};
    if (token.k.strides() != token.v.strides()) {
      token = {token.k.contiguous(), token.v.contiguous()};
    }
  }
  auto ownStride = [&](int axis) { return hasOwn ? token.k.stride(axis) : 0; };
  bool products = group > 1 || (!isHost && q.dtype() != f32);
  int64_t members = group;
  if (!hasCompiler()) {
    products = group > 1 || !isHost || table.defined();
    members = products ? 16 : 1;
  }
  int64_t block = isHost ? 128 : q.dtype() == f32 ? 32 : 64, warps = 4;
  Tensor counts = (hasCompiler() ? lengths : lengths.to(i32)).contiguous();
  bool early = !isCopied(lengths, counts) && !isCopied(options.table, table) &&
               !isCopied(k, key) && !isCopied(v, value) &&
               beginsEarly(q.device());
  if (early && group == 1 && hasOwn && !table.defined()) {
    // A block of keys and values is in registers before the launch in front has
    // ended: as many as 128 threads hold.
    int64_t bytesAhead = 16 << 10;
    block = std::clamp<int64_t>(
        bytesAhead / (nextPowerOf2(width) * int64_t(byteSize(q.dtype()))), 16,
        256);
    products = false;
  }
  static const OperatorKernel kernel("decoding", "decoding_kernel");
  kernel[{batch * kvHeads, splits, cdiv(group, members)}](
      isWhole ? made.result : made.parts, orNone(made.lse), query, key, value,
      orNone(token.k), orNone(token.v), counts, query.stride(0),
      query.stride(1), query.stride(2), key.stride(0), key.stride(1),
      key.stride(2), key.stride(3), value.stride(0), value.stride(1),
      value.stride(2), value.stride(3), ownStride(0), ownStride(1),
      ownStride(2), kvHeads, group, capacity, window,
      scale * std::numbers::log2e, "GROUP"_a = members, "D"_a = width,
      "BLOCK"_a = block, "PRODUCTS"_a = products, "EARLY"_a = early,
      "table_ptr"_a = orNone(table), "table_row"_a = tableRow,
      "pages"_a = pages,
      "PAGE"_a = hasCompiler() || !table.defined() ? page : 0,
      "page_size"_a = pageSize, "launch_pdl"_a = early, "num_warps"_a = warps,
      "num_stages"_a = 3);
  // A kernel stored the token in what it was given.
  if (hasOwn && key.data() != k.data() && !hasCompiler()) {
    k.copyFrom(key.slice(3, 0, headSize));
  }
  if (hasOwn && value.data() != v.data() && !hasCompiler()) {
    v.copyFrom(value.slice(3, 0, headSize));
  }
  return made;
}

static Tensor combined(const Splits &splits, const Tensor &q) {
  if (splits.result.defined()) {
    return splits.result;
  }
  int64_t headSize = q.size(2), width = splits.parts.size(3),
          count = splits.parts.size(2);
  Tensor o = empty({q.size(0), q.size(1), width}, q.dtype(), q.device());
  bool early = beginsEarly(q.device());
  static const OperatorKernel combine("decoding", "combine_kernel");
  combine[{q.size(0) * q.size(1)}](
      o, splits.parts, splits.lse, count,
      "SPLITS"_a = hasCompiler() ? count : mostSplits, "D"_a = width,
      "EARLY"_a = early, "launch_pdl"_a = early, "num_warps"_a = 4);
  return width == headSize ? o : o.slice(2, 0, headSize).contiguous();
}

Tensor kernels::decoding(const Tensor &q, const Tensor &k, const Tensor &v,
                         const Tensor &lengths,
                         const DecodingOptions &options) {
  return combined(attend(q, {}, k, v, lengths, options), q);
}

static Splits attendNext(const Tensor &q, const KeyAndValue &own,
                         const Tensor &k, const Tensor &v,
                         const Tensor &lengths,
                         const DecodingOptions &options) {
  Checks checks("decoding");
  checks.floats("own.k", own.k).rank(3, 3);
  checks.floats("own.v", own.v).rank(3, 3);
  for (auto [name, cache] : {std::pair("k", &k), {"v", &v}}) {
    checks.any(name, *cache).rank(4, 4);
    if (!isNearby(*cache)) {
      checks.fail(name, "a cache whose keys lie less than 2^22 elements apart",
                  cache->str());
    }
    checks.any(name, *cache).writable();
  }
  Splits splits = attend(q, own, k, v, lengths, options);
  k.noteWrite();
  v.noteWrite();
  return splits;
}

Tensor kernels::decodeNext(const Tensor &q, const KeyAndValue &own,
                           const Tensor &k, const Tensor &v,
                           const Tensor &lengths,
                           const DecodingOptions &options) {
  return combined(attendNext(q, own, k, v, lengths, options), q);
}

Tensor kernels::decodeNextLinear(const Tensor &q, const KeyAndValue &own,
                                 const Tensor &k, const Tensor &v,
                                 const Tensor &lengths, const Tensor &weight,
                                 const Tensor &bias,
                                 const DecodingOptions &options) {
  Checks checks("decoding");
  checks.floats("q", q).rank(3, 3);
  int64_t inner = q.size(1) * q.size(2);
  checks.floats("weight", weight).rank(2, 2).dtype(q.dtype(), "as q has");
  checks.any("weight", weight)
      .shape({weight.size(0), inner}, "heads and head size of q");
  checks.optional("bias", bias).shape({weight.size(0)}, "the rows of weight");
  DecodingOptions chosen = options;
  if (k.defined() && k.rank() == 4) {
    chosen.splits = splitsReadAhead(q, k, options);
  }
  Splits splits = attendNext(q, own, k, v, lengths, chosen);
  if (splits.parts.defined()) {
    if (Tensor y = combinedLinear(splits.parts, splits.lse, weight, bias);
        y.defined()) {
      return y;
    }
  }
  return linear(combined(splits, q).reshape({q.size(0), inner}), weight, bias);
}
