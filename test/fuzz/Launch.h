//===- Launch.h - What a program is launched with ---------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A program under test is a Tile module whose one function carries its launch
// in attributes, so that the text alone can be run again:
//
//   func.func @k(%x: !tile.ptr<f32> {fuzz.count = 100 : i64,
//                                    fuzz.fill = "normal"},
//                %out: !tile.ptr<i32> {fuzz.count = 64 : i64, fuzz.output},
//                %n: i32 {fuzz.value = 63 : i32})
//       attributes {fuzz.grid = array<i32: 2, 1, 1>, fuzz.seed = 1 : i64}
//
// A pointer is an array of `count` elements; `output` ones may be written and
// begin as poison unless they have a fill. `tile.divisibility` is kept.
// `fuzz.stream` says which stream of random numbers fills an array; without it,
// the parameter's number does.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_TEST_FUZZ_LAUNCH_H
#define NEREID_TEST_FUZZ_LAUNCH_H

#include "nereid/Interp/TileValue.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace nereid::fuzz {

inline constexpr llvm::StringLiteral countAttr = "fuzz.count";
inline constexpr llvm::StringLiteral fillAttr = "fuzz.fill";
inline constexpr llvm::StringLiteral streamAttr = "fuzz.stream";
inline constexpr llvm::StringLiteral outputAttr = "fuzz.output";
inline constexpr llvm::StringLiteral valueAttr = "fuzz.value";
inline constexpr llvm::StringLiteral gridAttr = "fuzz.grid";
inline constexpr llvm::StringLiteral seedAttr = "fuzz.seed";

/// One array in memory of its own: what follows its last byte is a page that
/// cannot be accessed, what precedes its first byte are guard bytes.
class GuardedArray {
public:
  /// `alignment` of the first element, a power of two of at least its size.
  GuardedArray(size_t bytes, size_t alignment);
  ~GuardedArray();
  GuardedArray(const GuardedArray &) = delete;
  GuardedArray &operator=(const GuardedArray &) = delete;

  std::byte *data() { return first; }
  const std::byte *data() const { return first; }
  size_t size() const { return bytes; }
  /// Everything that may be written, guards included; starts at a page.
  std::byte *whole() { return pages; }
  size_t wholeBytes() const;
  /// Are the bytes around the array as they were made?
  bool guardsIntact() const;

private:
  std::byte *pages, *first;
  size_t bytes, pagesBytes;
};

/// The arguments of one run, freshly filled.
struct Arguments {
  struct Buffer {
    std::unique_ptr<GuardedArray> array;
    interp::Element element;
    int64_t count = 0;
    bool isOutput = false;
    unsigned parameter = 0;
  };
  std::vector<uint64_t> slots; ///< one for each parameter
  std::vector<Buffer> buffers;
  int32_t grid[3] = {1, 1, 1};

  int64_t programs() const { return int64_t{grid[0]} * grid[1] * grid[2]; }
};

/// The same function gives the same contents at other addresses.
Arguments makeArguments(mlir::func::FuncOp function);

/// The function under test of a module: its only one.
mlir::func::FuncOp kernelOf(mlir::ModuleOp module);

} // namespace nereid::fuzz

#endif // NEREID_TEST_FUZZ_LAUNCH_H
