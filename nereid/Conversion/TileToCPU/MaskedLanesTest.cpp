//===- MaskedLanesTest.cpp - What masked-out lanes hold -------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every form of access under masks of every kind, at each level of the
// processor whose memory instructions this machine has: masked-out lanes hold
// `other` or zero, and their memory is not read.
//
//===----------------------------------------------------------------------===//

#include "nereid/Conversion/TileToCPU/TestKernel.h"
#include "nereid/Conversion/TileToCPU/TileText.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <optional>
#include <sys/mman.h>

using namespace nereid;

namespace {

constexpr size_t pageBytes = 4096;

/// `pages` that can be used, between two that cannot.
class GuardedPages {
public:
  explicit GuardedPages(size_t pages) : bytes(pages * pageBytes) {
    base = static_cast<std::byte *>(::mmap(nullptr, bytes + 2 * pageBytes,
                                           PROT_NONE,
                                           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    ::mprotect(begin(), bytes, PROT_READ | PROT_WRITE);
  }
  ~GuardedPages() { ::munmap(base, bytes + 2 * pageBytes); }
  std::byte *begin() { return base + pageBytes; }
  std::byte *end() { return begin() + bytes; }

private:
  size_t bytes;
  std::byte *base;
};

/// The places of a block's element, and of what it loads.
struct Access {
  std::string name;
  std::array<int64_t, 3> shape, strides;
  int64_t start = 0;
  enum { Affine, Wrapped, Gathered } kind = Affine;

  int64_t elements() const { return shape[0] * shape[1] * shape[2]; }
  std::array<int64_t, 3> position(int64_t i) const {
    return {i / (shape[1] * shape[2]), i / shape[2] % shape[1], i % shape[2]};
  }
  int64_t offset(int64_t i) const {
    auto p = position(i);
    int64_t at = start;
    for (int d = 0; d < 3; ++d) {
      at += p[d] * strides[d];
    }
    return kind == Wrapped ? at % 37 : kind == Gathered ? at * 7 % 64 : at;
  }
};

/// Of all tests: (rows, n), known at run time only.
constexpr std::array<std::pair<int32_t, int32_t>, 5> limits = {
    {{1, 5}, {0, 200}, {2, 0}, {2, 200}, {1, 64}}};

struct Mask {
  std::string name;
  std::function<bool(std::array<int64_t, 3>, int64_t i, int rows, int n)> holds;
  std::function<TextValue(TileText &, const std::array<TextValue, 3> &,
                          TextValue i, TextValue rows, TextValue n)>
      text;
};

} // namespace

static std::vector<Mask> masks() {
  auto number = [](TileText &t, int value) {
    return t.constant("i32", std::to_string(value));
  };
  using P = std::array<int64_t, 3>;
  using T = std::array<TextValue, 3>;
  return {
      // Constants but for one scalar: parts of a vector are off at all times.
      {"corner",
       [](P p, int64_t, int rows, int) {
         return p[0] >= rows && p[1] < 1 && p[2] >= 1;
       },
       [=](TileText &t, const T &p, TextValue, TextValue rows, TextValue) {
         TextValue inside = t.op("arith.andi", t.compare("sge", p[0], rows),
                                 t.compare("slt", p[1], number(t, 1)));
         return t.op("arith.andi", inside,
                     t.compare("sge", p[2], number(t, 1)));
       }},
      {"block",
       [](P p, int64_t, int rows, int n) { return p[0] < rows && p[2] < n; },
       [=](TileText &t, const T &p, TextValue, TextValue rows, TextValue n) {
         return t.op("arith.andi", t.compare("slt", p[0], rows),
                     t.compare("slt", p[2], n));
       }},
      {"run", [](P, int64_t i, int, int n) { return i < n; },
       [=](TileText &t, const T &, TextValue i, TextValue, TextValue n) {
         return t.compare("slt", i, n);
       }},
      {"constant", [](P p, int64_t, int, int) { return p[1] == 2; },
       [=](TileText &t, const T &p, TextValue, TextValue, TextValue) {
         return t.compare("eq", p[1], number(t, 2));
       }},
      {"one row", [](P p, int64_t, int rows, int) { return p[0] == rows; },
       [=](TileText &t, const T &p, TextValue, TextValue rows, TextValue) {
         return t.compare("eq", p[0], rows);
       }},
      // Half of 128 lanes, whose mask has more bits than a word.
      {"64 of 128", [](P, int64_t i, int, int) { return i % 128 < 64; },
       [=](TileText &t, const T &, TextValue i, TextValue, TextValue) {
         return t.compare("slt", t.op("arith.remui", i, number(t, 128)),
                          number(t, 64));
       }},
  };
}

static std::vector<Access> accesses() {
  return {
      {"run", {2, 8, 8}, {64, 8, 1}},
      {"run of odd length", {3, 5, 7}, {35, 7, 1}},
      {"reversed", {2, 8, 8}, {-64, -8, -1}, 127},
      {"rows that overlap", {2, 8, 8}, {0, 8, 1}},
      {"turned", {2, 8, 8}, {1, 2, 16}},
      {"two apart", {2, 8, 8}, {128, 16, 2}},
      {"five apart", {3, 5, 7}, {175, 35, 5}},
      {"repeated", {2, 8, 8}, {8, 1, 0}},
      {"one address", {2, 8, 8}, {0, 0, 0}},
      {"wrapped", {1, 1, 200}, {0, 0, 1}, 0, Access::Wrapped},
      {"gathered", {2, 8, 8}, {64, 8, 1}, 0, Access::Gathered},
      {"long rows", {2, 1, 100}, {100, 0, 1}},
      {"long", {1, 1, 512}, {0, 0, 1}},
  };
}

/// How a type is written, and one number of it. (Pointers are loaded as i64.)
struct Element {
  std::string type, other;
  unsigned bytes;
  uint64_t otherBits;
};

/// One of each size; which, by turns: those of one size share their accesses.
static std::vector<Element> elements(unsigned turn) {
  const std::vector<std::vector<Element>> all = {
      {{"i8", "42", 1, 42}},
      {{"i16", "42", 2, 42},
       {"bf16", "4.2e+01", 2, 0x4228},
       {"f16", "4.2e+01", 2, 0x5140}},
      {{"i32", "42", 4, 42}, {"f32", "4.2e+01", 4, 0x42280000}},
      {{"i64", "42", 8, 42}, {"f64", "4.2e+01", 8, 0x4045000000000000}}};
  std::vector<Element> result;
  for (const std::vector<Element> &size : all) {
    result.push_back(size[turn % size.size()]);
  }
  return result;
}

static TextValue addressOf(TileText &t, const Access &access,
                           const std::array<TextValue, 3> &p, TextValue x) {
  auto number = [&](int64_t value) {
    return t.constant("i32", std::to_string(value));
  };
  TextValue at = number(access.start);
  for (int d = 0; d < 3; ++d) {
    at = t.op("arith.addi", t.op("arith.muli", p[d], number(access.strides[d])),
              at);
  }
  if (access.kind == Access::Wrapped) {
    at = t.op("arith.remsi", at, number(37));
  } else if (access.kind == Access::Gathered) {
    at = t.op("arith.remui", t.op("arith.muli", at, number(7)), number(64));
  }
  return t.addptr(x, at);
}

/// For every mask, with arrays x and y of its own: stores what a masked load
/// gives or, `decides`, a byte where that is zero.
static std::string kernelText(const Access &access, const Element &element,
                              bool withOther, bool decides) {
  TileText t;
  std::string stored = decides ? "i8" : element.type;
  TextValue rows = t.argument("i32"), n = t.argument("i32");
  const Shape shape(access.shape.begin(), access.shape.end());
  std::array<TextValue, 3> p;
  for (int d = 0; d < 3; ++d) {
    TextValue line = t.range(shape[d]);
    for (int other = 0; other < 3; ++other) {
      line = other == d ? line : t.expand(line, other);
    }
    p[d] = t.broadcast(line, shape);
  }
  auto times = [&](TextValue a, int64_t by) {
    return t.op("arith.muli", a, t.constant("i32", std::to_string(by)));
  };
  TextValue i = t.op("arith.addi",
                     t.op("arith.addi", times(p[0], shape[1] * shape[2]),
                          times(p[1], shape[2])),
                     p[2]);
  for (const Mask &mask : masks()) {
    TextValue x = t.ptr(element.type), y = t.ptr(stored), other;
    if (withOther) {
      other = t.constant(element.type, element.other, shape);
    }
    TextValue value =
        t.load(addressOf(t, access, p, x), mask.text(t, p, i, rows, n), other);
    if (decides) {
      bool isInteger = value.element[0] == 'i';
      TextValue isZero =
          t.compare(isInteger ? "eq" : "oeq", value,
                    t.constant(value.element, isInteger ? "0" : "0.0"));
      t.store(t.addptr(y, i), t.constant("i8", "1"), isZero);
    } else {
      t.store(t.addptr(y, i), value);
    }
    t.line("tile.barrier"); // a pass of its own
  }
  return t.str();
}

namespace {

/// What a mask leaves of x, between pages that cannot be read: the last element
/// at the end of what can (`atEnd`), or the first at its beginning.
class MaskedArray {
public:
  MaskedArray(const Access &access, const Element &element, const Mask &mask,
              std::pair<int32_t, int32_t> limit, bool atEnd)
      : access(access), element(element), mask(mask), limit(limit) {
    std::optional<int64_t> low, high;
    for (int64_t i = 0; i < access.elements(); ++i) {
      if (isOn(i)) {
        int64_t at = access.offset(i);
        low = std::min(low.value_or(at), at);
        high = std::max(high.value_or(at), at);
      }
    }
    int64_t bytes = element.bytes;
    x = !low    ? pages.end()
        : atEnd ? pages.end() - (*high + 1) * bytes
                : pages.begin() - *low * bytes;
    for (int64_t at = low.value_or(0); low && at <= *high; ++at) {
      uint64_t bits = bitsAt(at);
      std::memcpy(x + at * bytes, &bits, bytes);
    }
  }

  bool isOn(int64_t i) const {
    return mask.holds(access.position(i), i, limit.first, limit.second);
  }
  /// Of element `i` of the load.
  uint64_t expected(int64_t i, bool withOther) const {
    uint64_t bits = isOn(i)     ? bitsAt(access.offset(i))
                    : withOther ? element.otherBits
                                : 0;
    return bits & (~uint64_t{0} >> (64 - 8 * element.bytes));
  }
  std::byte *data() const { return x; }

private:
  /// Not zero in any type.
  static uint64_t bitsAt(int64_t at) {
    return 0x3b3a39383c3d3e3f + 0x0101010101010101 * (at % 61);
  }

  const Access &access;
  const Element &element;
  const Mask &mask;
  std::pair<int32_t, int32_t> limit;
  GuardedPages pages{2};
  std::byte *x;
};

class MaskedLanes : public testing::TestWithParam<std::string> {};

} // namespace

static void check(const TestKernel &kernel, const Access &access,
                  const Element &element, bool withOther, bool decides,
                  std::pair<int32_t, int32_t> limit, bool atEnd) {
  std::vector<Mask> all = masks();
  std::vector<std::unique_ptr<MaskedArray>> arrays;
  unsigned bytes = decides ? 1 : element.bytes;
  std::vector<std::vector<std::byte>> results(
      all.size(),
      std::vector<std::byte>(access.elements() * bytes, std::byte{0x77}));
  std::vector<uint64_t> slots = {TestKernel::slotOf(limit.first),
                                 TestKernel::slotOf(limit.second)};
  for (size_t m = 0; m < all.size(); ++m) {
    arrays.push_back(
        std::make_unique<MaskedArray>(access, element, all[m], limit, atEnd));
    slots.push_back(TestKernel::slotOf(arrays[m]->data()));
    slots.push_back(TestKernel::slotOf(results[m].data()));
  }
  kernel.launch({1, 1, 1}, slots, 0);
  for (size_t m = 0; m < all.size(); ++m) {
    for (int64_t i = 0; i < access.elements(); ++i) {
      uint64_t expected = arrays[m]->expected(i, withOther), got = 0;
      if (decides) {
        expected = expected ? 0x77 : 1;
      }
      std::memcpy(&got, &results[m][i * bytes], bytes);
      ASSERT_EQ(got, expected)
          << access.name << ", " << element.type << ", mask '" << all[m].name
          << "'" << (withOther ? ", with other" : "")
          << (decides ? ", decides a store" : "") << ", rows " << limit.first
          << ", n " << limit.second << ", element " << i;
    }
  }
}

TEST_P(MaskedLanes, HoldOtherOrZero) {
  unsigned turn = 0;
  for (const Access &access : accesses()) {
    for (const Element &element : elements(turn++)) {
      bool withOther = (turn + element.bytes) % 3 == 0;
      for (bool decides : {false, true}) {
        if (decides && withOther) {
          continue;
        }
        TestKernel kernel(kernelText(access, element, withOther, decides),
                          GetParam());
        ASSERT_TRUE(kernel.ok()) << access.name << ": " << kernel.error();
        for (auto limit : limits) {
          for (bool atEnd : {false, true}) {
            check(kernel, access, element, withOther, decides, limit, atEnd);
            if (HasFatalFailure()) {
              return;
            }
          }
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Levels, MaskedLanes,
                         // What the newer ones add are products.
                         testing::ValuesIn(runnable({"x86-64", "x86-64-v2",
                                                     "x86-64-v3",
                                                     "x86-64-v4"})),
                         [](const auto &info) {
                           std::string name = info.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });
