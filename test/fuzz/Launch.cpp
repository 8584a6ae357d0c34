//===- Launch.cpp - What a program is launched with -----------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/fuzz/Launch.h"

#include "test/fuzz/Random.h"

#include "nereid/Dialect/Tile/IR/Tile.h"

#include <cmath>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

namespace nereid::fuzz {

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// As 32-bit floats -1.7e38, as integers far from small: what it poisons is
/// seen in results.
static constexpr unsigned char guardByte = 0xfe;

GuardedArray::GuardedArray(size_t bytes, size_t alignment) : bytes(bytes) {
  size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  size_t used = (bytes + alignment - 1) / alignment * alignment;
  pagesBytes = (used + page) / page * page + page; // some guard bytes, a page
  void *mapped = mmap(nullptr, pagesBytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) {
    throw std::bad_alloc();
  }
  pages = static_cast<std::byte *>(mapped);
  std::memset(pages, guardByte, pagesBytes - page);
  mprotect(pages + pagesBytes - page, page, PROT_NONE);
  first = pages + pagesBytes - page - used;
}

GuardedArray::~GuardedArray() { munmap(pages, pagesBytes); }

size_t GuardedArray::wholeBytes() const {
  return pagesBytes - static_cast<size_t>(sysconf(_SC_PAGESIZE));
}

bool GuardedArray::guardsIntact() const {
  size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  auto intact = [](const std::byte *begin, const std::byte *end) {
    for (; begin < end; ++begin) {
      if (*begin != std::byte{guardByte}) {
        return false;
      }
    }
    return true;
  };
  return intact(pages, first) &&
         intact(first + bytes, pages + pagesBytes - page);
}

//===----------------------------------------------------------------------===//
// Contents
//===----------------------------------------------------------------------===//

/// Nearly normal: the sum of twelve uniform numbers.
static double normal(Random &random) {
  double sum = -6;
  for (int i = 0; i < 12; ++i) {
    sum += random.unit();
  }
  return sum;
}

static double floatOf(Random &random, llvm::StringRef fill) {
  if (fill == "whole") {
    return static_cast<double>(random.between(-8, 8));
  }
  if (fill == "positive") {
    return 0.5 + 1.5 * random.unit();
  }
  if (fill == "special" && random.chance(20)) {
    return random.pick({0.0, -0.0, double(INFINITY), -double(INFINITY),
                        double(NAN), 1e30, -1e-30, 6e4});
  }
  return normal(random);
}

static int64_t intOf(Random &random, llvm::StringRef fill) {
  if (fill == "whole") {
    return random.between(-8, 8);
  }
  if (fill == "positive") {
    return random.between(0, 100);
  }
  // Every magnitude: small numbers meet, large ones wrap.
  uint64_t bits = random.next() >> random.below(64);
  return static_cast<int64_t>(random.chance(50) ? bits : -bits);
}

static void fill(Arguments::Buffer &buffer, llvm::StringRef kind, uint64_t seed,
                 uint64_t stream) {
  Random random(seed * 1000003 + stream);
  const interp::Element &element = buffer.element;
  std::byte *at = buffer.array->data();
  for (int64_t i = 0; i < buffer.count; ++i, at += element.bytes) {
    uint64_t bits;
    if (element.isFloat()) {
      double x = floatOf(random, kind);
      x = element.width == 8
              ? interp::roundSaturating(*element.format, x,
                                        interp::Direction::Nearest)
              : interp::round(*element.format, x);
      bits = interp::encode(*element.format, x);
    } else {
      bits = static_cast<uint64_t>(intOf(random, kind));
    }
    std::memcpy(at, &bits, element.bytes);
  }
}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

mlir::func::FuncOp kernelOf(mlir::ModuleOp module) {
  return *module.getOps<mlir::func::FuncOp>().begin();
}

static uint64_t scalarBits(mlir::Attribute value) {
  if (auto number = mlir::dyn_cast<mlir::FloatAttr>(value)) {
    return number.getValue().bitcastToAPInt().getZExtValue();
  }
  llvm::APInt bits = mlir::cast<mlir::IntegerAttr>(value).getValue();
  // The rest of a slot is unspecified: be unkind. An int1 is a whole byte.
  uint64_t unspecified = bits.getBitWidth() == 1 ? 0xabababababababab << 8
                         : bits.getBitWidth() == 64
                             ? 0
                             : 0xabababababababab << bits.getBitWidth();
  return bits.getZExtValue() | unspecified;
}

static Arguments::Buffer makeBuffer(mlir::func::FuncOp function, unsigned i,
                                    uint64_t seed) {
  auto pointer = mlir::cast<tile::PtrType>(function.getArgumentTypes()[i]);
  Arguments::Buffer buffer;
  buffer.parameter = i;
  buffer.element = interp::elementOf(pointer.getPointee());
  buffer.count =
      function.getArgAttrOfType<mlir::IntegerAttr>(i, countAttr).getInt();
  buffer.isOutput = function.getArgAttr(i, outputAttr) != nullptr;
  size_t alignment = buffer.element.bytes;
  if (auto divisibility = function.getArgAttrOfType<mlir::IntegerAttr>(
          i, tile::divisibilityAttr)) {
    alignment = std::max<size_t>(alignment, divisibility.getInt());
  }
  buffer.array = std::make_unique<GuardedArray>(
      static_cast<size_t>(buffer.count) * buffer.element.bytes, alignment);
  if (auto kind = function.getArgAttrOfType<mlir::StringAttr>(i, fillAttr)) {
    auto stream = function.getArgAttrOfType<mlir::IntegerAttr>(i, streamAttr);
    fill(buffer, kind.getValue(), seed,
         stream ? uint64_t(stream.getInt()) : uint64_t(i));
  }
  return buffer;
}

Arguments makeArguments(mlir::func::FuncOp function) {
  Arguments arguments;
  auto seed = function->getAttrOfType<mlir::IntegerAttr>(seedAttr);
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    if (mlir::Attribute value = function.getArgAttr(i, valueAttr)) {
      arguments.slots.push_back(scalarBits(value));
      continue;
    }
    arguments.buffers.push_back(
        makeBuffer(function, i, seed ? uint64_t(seed.getInt()) : 1));
    arguments.slots.push_back(
        reinterpret_cast<uint64_t>(arguments.buffers.back().array->data()));
  }
  if (auto grid = function->getAttrOfType<mlir::DenseI32ArrayAttr>(gridAttr)) {
    std::copy(grid.asArrayRef().begin(), grid.asArrayRef().end(),
              arguments.grid);
  }
  return arguments;
}

} // namespace nereid::fuzz
