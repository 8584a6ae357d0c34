//===- AssemblyTest.cpp - Inline assembly by its meaning -------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each instruction against a loop in C++ that follows its description in the
// PTX ISA. On a GPU the assembler itself gives the text its meaning.
//
//===----------------------------------------------------------------------===//

#include "Snippet.h"

#include "nereid/Support/FloatFormats.h"

#include <bit>
#include <cmath>
#include <functional>

using namespace nereid;
using namespace nereid::test;

namespace {

class AssemblyTest : public OnTarget {};

constexpr int count = 256;

std::vector<uint32_t> words(uint32_t seed) {
  std::mt19937 engine(seed);
  std::vector<uint32_t> values(count);
  for (uint32_t &value : values) {
    value = engine();
  }
  // Zero, small shift amounts and the ends of the range meet one another.
  for (int i = 0; i < 64; ++i) {
    values[i] = i * (seed % 3);
  }
  values[64] = 0xffffffff;
  values[65] = 0x80000000;
  values[66] = 0x7fffffff;
  return values;
}

using Integers = std::function<uint32_t(uint32_t, uint32_t, uint32_t)>;

struct IntegerCase {
  const char *text;
  Integers meaning;
};

uint32_t lowBits(uint32_t n) { return n >= 32 ? 0xffffffffu : (1u << n) - 1; }
int32_t asSigned(uint32_t x) { return static_cast<int32_t>(x); }

const IntegerCase integerCases[] = {
    {"add.u32 $0, $1, $2;", [](auto a, auto b, auto) { return a + b; }},
    {"sub.s32 $0, $1, $2;", [](auto a, auto b, auto) { return a - b; }},
    {"add.sat.s32 $0, $1, $2;",
     [](auto a, auto b, auto) {
       int64_t sum = int64_t{asSigned(a)} + asSigned(b);
       return static_cast<uint32_t>(
           std::clamp<int64_t>(sum, INT32_MIN, INT32_MAX));
     }},
    {"mul.lo.u32 $0, $1, $2;", [](auto a, auto b, auto) { return a * b; }},
    {"mul.hi.s32 $0, $1, $2;",
     [](auto a, auto b, auto) {
       return static_cast<uint32_t>(int64_t{asSigned(a)} * asSigned(b) >> 32);
     }},
    {"mad.lo.s32 $0, $1, $2, $3;",
     [](auto a, auto b, auto c) { return a * b + c; }},
    {"{ .reg .u64 t; mul.wide.u32 t, $1, $2; shr.u64 t, t, 7; cvt.u32.u64 $0, "
     "t; }",
     [](auto a, auto b, auto) {
       return static_cast<uint32_t>(uint64_t{a} * b >> 7);
     }},
    {"mul24.lo.u32 $0, $1, $2;",
     [](auto a, auto b, auto) { return (a & 0xffffff) * (b & 0xffffff); }},
    {"min.s32 $0, $1, $2;",
     [](auto a, auto b, auto) {
       return static_cast<uint32_t>(std::min(asSigned(a), asSigned(b)));
     }},
    {"max.u32 $0, $1, $2;",
     [](auto a, auto b, auto) { return std::max(a, b); }},
    {"abs.s32 $0, $1;",
     [](auto a, auto, auto) { return asSigned(a) < 0 ? 0u - a : a; }},
    {"sad.u32 $0, $1, $2, $3;",
     [](auto a, auto b, auto c) { return (a > b ? a - b : b - a) + c; }},
    {"and.b32 $0, $1, $2;", [](auto a, auto b, auto) { return a & b; }},
    {"not.b32 $0, $1;", [](auto a, auto, auto) { return ~a; }},
    {"cnot.b32 $0, $1;", [](auto a, auto, auto) { return a ? 0u : 1u; }},
    {"shl.b32 $0, $1, $2;",
     [](auto a, auto b, auto) { return b > 31 ? 0 : a << b; }},
    {"shr.u32 $0, $1, $2;",
     [](auto a, auto b, auto) { return b > 31 ? 0 : a >> b; }},
    {"shr.s32 $0, $1, $2;",
     [](auto a, auto b, auto) {
       return static_cast<uint32_t>(asSigned(a) >> std::min(b, 31u));
     }},
    {"shf.l.wrap.b32 $0, $1, $2, $3;",
     [](auto a, auto b, auto c) {
       uint64_t both = uint64_t{b} << 32 | a;
       return static_cast<uint32_t>(both << (c & 31) >> 32);
     }},
    {"shf.r.clamp.b32 $0, $1, $2, $3;",
     [](auto a, auto b, auto c) {
       uint64_t both = uint64_t{b} << 32 | a;
       return static_cast<uint32_t>(both >> std::min(c, 32u));
     }},
    {"lop3.b32 $0, $1, $2, $3, 0xe8;", // the majority
     [](auto a, auto b, auto c) { return (a & b) | (a & c) | (b & c); }},
    {"prmt.b32 $0, $1, $2, $3;",
     [](auto a, auto b, auto c) {
       uint64_t both = uint64_t{b} << 32 | a;
       uint32_t result = 0;
       for (int i = 0; i < 4; ++i) {
         uint32_t nibble = c >> 4 * i & 15;
         uint32_t byte = both >> 8 * (nibble & 7) & 255;
         byte = nibble & 8 ? (byte & 128 ? 255 : 0) : byte;
         result |= byte << 8 * i;
       }
       return result;
     }},
    {"bfe.u32 $0, $1, $2, $3;",
     [](auto a, auto b, auto c) {
       uint32_t start = b & 255, length = c & 255;
       return start > 31 ? 0 : a >> start & lowBits(length);
     }},
    {"bfe.s32 $0, $1, $2, $3;",
     [](auto a, auto b, auto c) {
       uint32_t start = b & 255, length = c & 255, result = 0;
       bool sign = length && (a >> std::min(start + length - 1, 31u) & 1);
       for (uint32_t i = 0; i < 32; ++i) {
         bool inside = i < length && start + i <= 31;
         bool bit = inside ? a >> (start + i) & 1 : sign;
         result |= uint32_t{bit} << i;
       }
       return result;
     }},
    {"bfi.b32 $0, $1, $2, $3, 5;",
     [](auto a, auto b, auto c) {
       uint32_t start = c & 255;
       for (uint32_t i = 0; i < 5 && start + i <= 31; ++i) {
         uint32_t at = 1u << (start + i);
         b = a >> i & 1 ? b | at : b & ~at;
       }
       return b;
     }},
    {"popc.b32 $0, $1;",
     [](auto a, auto, auto) { return uint32_t(std::popcount(a)); }},
    {"clz.b32 $0, $1;",
     [](auto a, auto, auto) { return uint32_t(std::countl_zero(a)); }},
    {"bfind.u32 $0, $1;",
     [](auto a, auto, auto) { return uint32_t(31 - std::countl_zero(a)); }},
    {"brev.b32 $0, $1;",
     [](auto a, auto, auto) {
       uint32_t result = 0;
       for (int i = 0; i < 32; ++i) {
         result |= (a >> i & 1) << (31 - i);
       }
       return result;
     }},
    {"dp4a.s32.u32 $0, $1, $2, $3;",
     [](auto a, auto b, auto c) {
       for (int i = 0; i < 4; ++i) {
         c += static_cast<int8_t>(a >> 8 * i) *
              static_cast<int32_t>(b >> 8 * i & 255);
       }
       return c;
     }},
    {"{ .reg .pred p, q; setp.lt.s32 p|q, $1, $2; selp.u32 $0, $1, $3, p; "
     "@q add.u32 $0, $0, 1; }",
     [](auto a, auto b, auto c) {
       return asSigned(a) < asSigned(b) ? a : c + 1;
     }},
    {"{ .reg .pred p, q; setp.hi.u32 p, $1, $2; setp.eq.or.b32 q, $1, $3, p; "
     "not.pred p, q; selp.b32 $0, 7, 9, p; }",
     [](auto a, auto b, auto c) { return a > b || a == c ? 9u : 7u; }},
    {"set.ge.u32.s32 $0, $1, $2;",
     [](auto a, auto b, auto) {
       return asSigned(a) >= asSigned(b) ? 0xffffffffu : 0u;
     }},
    {"{ .reg .b16 h<2>; mov.b32 {h0, h1}, $1; mov.b32 $0, {h1, h0}; }",
     [](auto a, auto, auto) { return std::rotl(a, 16); }},
    {"{ .reg .b8 t<4>; mov.b32 {t0, t1, t2, t3}, $1; cvt.s32.s8 $0, t2; }",
     [](auto a, auto, auto) {
       return static_cast<uint32_t>(static_cast<int8_t>(a >> 16));
     }},
    {"{ .reg .s16 t; cvt.sat.s16.s32 t, $1; cvt.s32.s16 $0, t; }",
     [](auto a, auto, auto) {
       return static_cast<uint32_t>(
           std::clamp(asSigned(a), int32_t{INT16_MIN}, int32_t{INT16_MAX}));
     }},
    {"add.u16x2 $0, $1, $2;",
     [](auto a, auto b, auto) {
       return ((a + b) & 0xffff) | (((a >> 16) + (b >> 16)) << 16);
     }},
    {"// a comment; with a semicolon\n/* and */ mov.u32 $0, 0x10; "
     "{ .reg .u32 unused; }",
     [](auto, auto, auto) { return 16u; }},
    {"{ .reg .u32 t; mov.u32 t, $1; { .reg .u32 t; mov.u32 t, 3; } "
     "mov.u32 $0, t; }",
     [](auto a, auto, auto) { return a; }},
};

TEST_P(AssemblyTest, Integers) {
  std::vector<uint32_t> a = words(1), b = words(2), c = words(4);
  for (const IntegerCase &one : integerCases) {
    std::vector<uint32_t> y(count);
    Snippet(GetParam(),
            "o = tl.arange(0, N)\n"
            "tl.store(y + o, tl.inline_asm_elementwise(TEXT, '=r,r,r,r', "
            "[tl.load(a + o), tl.load(b + o), tl.load(c + o)], tl.uint32, "
            "True, 1))")
        .array("a", a)
        .array("b", b)
        .array("c", c)
        .array("y", y)
        .constant("N", count)
        .constant("TEXT", std::string(one.text))
        .run();
    for (int i = 0; i < count; ++i) {
      ASSERT_EQ(y[i], one.meaning(a[i], b[i], c[i]))
          << one.text << " of " << a[i] << ", " << b[i] << ", " << c[i];
    }
  }
}

using Floats = std::function<double(float, float, float)>;

struct FloatCase {
  const char *text;
  Floats meaning;
  double relative; ///< to the value, beside one unit of the last place
};

const FloatCase floatCases[] = {
    {"add.f32 $0, $1, $2;", [](auto a, auto b, auto) { return a + b; }, 0},
    {"sub.rn.ftz.f32 $0, $1, $2;", [](auto a, auto b, auto) { return a - b; },
     0},
    {"fma.rn.f32 $0, $1, $2, $3;",
     [](auto a, auto b, auto c) { return std::fma(a, b, c); }, 0},
    {"mul.sat.f32 $0, $1, $2;",
     [](auto a, auto b, auto) { return std::clamp(a * b, 0.0f, 1.0f); }, 0},
    {"div.full.f32 $0, $1, $2;", [](auto a, auto b, auto) { return a / b; },
     3e-7},
    {"max.f32 $0, $1, $2;", [](auto a, auto b, auto) { return std::max(a, b); },
     0},
    {"neg.f32 $0, $1;", [](auto a, auto, auto) { return -a; }, 0},
    {"abs.ftz.f32 $0, $1;", [](auto a, auto, auto) { return std::abs(a); }, 0},
    {"rcp.approx.ftz.f32 $0, $1;", [](auto a, auto, auto) { return 1.0 / a; },
     3e-7},
    {"{ abs.f32 $0, $1; sqrt.approx.f32 $0, $0; }",
     [](auto a, auto, auto) { return std::sqrt(double{std::abs(a)}); }, 3e-7},
    {"{ abs.f32 $0, $1; rsqrt.approx.ftz.f32 $0, $0; }",
     [](auto a, auto, auto) { return 1 / std::sqrt(double{std::abs(a)}); },
     4e-7},
    {"ex2.approx.ftz.f32 $0, $1;",
     [](auto a, auto, auto) { return std::exp2(double{a}); }, 4e-7},
    {"{ abs.f32 $0, $1; lg2.approx.f32 $0, $0; }",
     [](auto a, auto, auto) { return std::log2(double{std::abs(a)}); }, 1e-6},
    {"tanh.approx.f32 $0, $1;",
     [](auto a, auto, auto) { return std::tanh(double{a}); }, 1e-3},
    {"sin.approx.f32 $0, $1;",
     [](auto a, auto, auto) { return std::sin(double{a}); }, 1e-5},
    {"{ .reg .pred p; setp.gt.f32 p, $1, 0f3F800000; selp.f32 $0, $2, $3, p; }",
     [](auto a, auto b, auto c) { return a > 1 ? b : c; }, 0},
    {"copysign.f32 $0, $1, $2;",
     [](auto a, auto b, auto) { return std::copysign(b, a); }, 0},
    {"{ .reg .f64 d; cvt.f64.f32 d, $1; mul.f64 d, d, 0d3FE0000000000000; "
     "cvt.rn.f32.f64 $0, d; }",
     [](auto a, auto, auto) { return a * 0.5f; }, 0},
    {"{ .reg .s32 i; cvt.rni.s32.f32 i, $1; cvt.rn.f32.s32 $0, i; }",
     [](auto a, auto, auto) { return std::nearbyint(a); }, 0},
    {"{ .reg .u32 i; cvt.rzi.u32.f32 i, $1; cvt.rn.f32.u32 $0, i; }",
     [](auto a, auto, auto) { return a < 0 ? 0 : std::trunc(a); }, 0},
    {"cvt.rmi.f32.f32 $0, $1;",
     [](auto a, auto, auto) { return std::floor(a); }, 0},
    {"cvt.rna.tf32.f32 $0, $1;",
     [](auto a, auto, auto) {
       return std::bit_cast<float>((std::bit_cast<uint32_t>(a) + 0x1000) &
                                   0xffffe000);
     },
     0},
};

TEST_P(AssemblyTest, Floats) {
  auto a = randomValues<float>(count, -5, 5, 1);
  auto b = randomValues<float>(count, 0.5, 5, 2);
  auto c = randomValues<float>(count, -5, 5, 3);
  for (const FloatCase &one : floatCases) {
    std::vector<float> y(count);
    Snippet(GetParam(),
            "o = tl.arange(0, N)\n"
            "tl.store(y + o, tl.inline_asm_elementwise(TEXT, '=f,f,f,f', "
            "[tl.load(a + o), tl.load(b + o), tl.load(c + o)], tl.float32, "
            "True, 1))")
        .array("a", a)
        .array("b", b)
        .array("c", c)
        .array("y", y)
        .constant("N", count)
        .constant("TEXT", std::string(one.text))
        .run();
    for (int i = 0; i < count; ++i) {
      double expected = one.meaning(a[i], b[i], c[i]);
      ASSERT_LE(std::abs(y[i] - expected),
                one.relative * std::max(1.0, std::abs(expected)))
          << one.text << " of " << a[i] << ", " << b[i] << ", " << c[i];
    }
  }
}

/// Denormals: .ftz makes them zeros of their sign, on both ends.
TEST_P(AssemblyTest, FlushesToZero) {
  std::vector<float> a = {1e-39f, -1e-39f, 1e-30f, 1.0f}, y(4), z(4);
  Snippet(GetParam(),
          "o = tl.arange(0, 4)\n"
          "v = tl.load(a + o)\n"
          "tl.store(y + o, tl.inline_asm_elementwise('mul.ftz.f32 $0, $1, "
          "0f3F000000;', '=f,f', [v], tl.float32, True, 1))\n"
          "tl.store(z + o, tl.inline_asm_elementwise('mul.f32 $0, $1, "
          "0f3F000000;', '=f,f', [v], tl.float32, True, 1))")
      .array("a", a)
      .array("y", y)
      .array("z", z)
      .run();
  EXPECT_EQ(std::bit_cast<uint32_t>(y[0]), 0u);
  EXPECT_EQ(std::bit_cast<uint32_t>(y[1]), 0x80000000u);
  EXPECT_EQ(y[2], 5e-31f);
  EXPECT_EQ(z[0], a[0] / 2);
}

/// Conversions of floats that do not fit clamp; NaN is 0.
TEST_P(AssemblyTest, ConversionsSaturate) {
  std::vector<float> a = {1e10f, -1e10f, NAN, -3.7f, 300.5f, HUGE_VALF};
  std::vector<int32_t> y(6), z(6);
  Snippet(GetParam(),
          "o = tl.arange(0, 6)\n"
          "v = tl.load(a + o)\n"
          "i, b = tl.inline_asm_elementwise('{ .reg .u8 t; cvt.rzi.s32.f32 "
          "$0, $2; cvt.rni.u8.f32 t, $2; cvt.u32.u8 $1, t; }', '=r,=r,f', "
          "[v], (tl.int32, tl.int32), True, 1)\n"
          "tl.store(y + o, i)\n"
          "tl.store(z + o, b)")
      .array("a", a)
      .array("y", y)
      .array("z", z)
      .run();
  EXPECT_EQ(
      y, (std::vector<int32_t>{INT32_MAX, INT32_MIN, 0, -3, 300, INT32_MAX}));
  EXPECT_EQ(z, (std::vector<int32_t>{255, 0, 0, 0, 255, 255}));
}

/// Four bytes share a register on their way in, two halves on their way out;
/// the number of elements need not be a multiple.
TEST_P(AssemblyTest, PacksNarrowElements) {
  std::vector<uint8_t> a(37);
  for (int i = 0; i < 37; ++i) {
    a[i] = static_cast<uint8_t>(7 * i);
  }
  std::vector<uint8_t> shifted(37);
  std::vector<int32_t> wide(37);
  std::vector<uint16_t> halves(37);
  Snippet(GetParam(),
          "o = tl.arange(0, 37)\n"
          "v = tl.load(a + o)\n"
          "tl.store(s + o, tl.inline_asm_elementwise('and.b32 $0, $1, "
          "0x1F1F1F1F; shl.b32 $0, $0, 3;', '=r,r', [v], tl.uint8, True, 4))\n"
          "w = tl.inline_asm_elementwise('{ .reg .b8 t<4>; mov.b32 {t0, t1, "
          "t2, t3}, $4; cvt.u32.u8 $0, t0; cvt.u32.u8 $1, t1; cvt.u32.u8 $2, "
          "t2; cvt.u32.u8 $3, t3; }', '=r,=r,=r,=r,r', [v], tl.int32, True, "
          "4)\n"
          "tl.store(w_ptr + o, w)\n"
          "h = tl.inline_asm_elementwise('cvt.rn.f16x2.f32 $0, $2, $1;', "
          "'=r,f,f', [w.to(tl.float32)], tl.float16, True, 2)\n"
          "tl.store(h_ptr + o, h)")
      .array("a", a)
      .array("s", shifted)
      .array("w_ptr", wide)
      .array("h_ptr", halves, DType::Float16)
      .run();
  for (int i = 0; i < 37; ++i) {
    EXPECT_EQ(shifted[i], static_cast<uint8_t>((a[i] & 0x1f) << 3)) << i;
    EXPECT_EQ(wide[i], a[i]) << i;
    EXPECT_EQ(halves[i], encodeFloat16(a[i])) << i;
  }
}

/// Eight-bit and four-bit floats, one element at a time.
TEST_P(AssemblyTest, SmallFloats) {
  std::vector<float> a = {0,    0.25f, 0.3f, 0.75f, 1,    1.25f, -1.6f,
                          2.5f, -3.5f, 5,    7,     -100, 0.49f, -0.0f};
  int n = static_cast<int>(a.size());
  std::vector<int32_t> codes(n);
  std::vector<float> back(n);
  Snippet(GetParam(),
          "o = tl.arange(0, N)\n"
          "v = tl.load(a + o)\n"
          "c = tl.inline_asm_elementwise('{ .reg .b8 t; "
          "cvt.rn.satfinite.e2m1x2.f32 t, $1, $1; cvt.u32.u8 $0, t; }', "
          "'=r,f', [v], tl.int32, True, 1)\n"
          "tl.store(codes + o, c)\n"
          "d = tl.inline_asm_elementwise('{ .reg .b8 t; .reg .b32 w; .reg .b16 "
          "h, g; cvt.u8.u32 t, $1; cvt.rn.f16x2.e2m1x2 w, t; mov.b32 {h, g}, "
          "w; cvt.f32.f16 $0, g; }', '=f,r', [c], tl.float32, True, 1)\n"
          "tl.store(back + o, d)")
      .array("a", a)
      .array("codes", codes)
      .array("back", back)
      .constant("N", n)
      .run();
  // Ties go to the even code: 0.25 to 0, 0.75 to 1, 1.25 to 1, 2.5 to 2.
  std::vector<float> expected = {0, 0,  0.5f, 1, 1,  1,    -1.5f,
                                 2, -4, 4,    6, -6, 0.5f, -0.0f};
  EXPECT_EQ(back, expected);
  for (int i = 0; i < n; ++i) {
    EXPECT_EQ(codes[i] & 15, codes[i] >> 4) << i; // both halves are v
  }
}

/// Scalars, no operands, and what a launch is.
TEST_P(AssemblyTest, Scalars) {
  std::vector<int64_t> y(4);
  Snippet(GetParam(),
          "t = tl.inline_asm_elementwise('mov.u64 $0, %globaltimer;', '=l', "
          "[], tl.int64, False, 1)\n"
          "u = tl.extra.cuda.globaltimer()\n"
          "tl.store(y, (t > 0) & (u >= t))\n"
          "tl.store(y + 1, tl.inline_asm_elementwise('mov.u32 $0, "
          "%nctaid.x;', '=r', [], tl.int32, True, 1))\n"
          "tl.store(y + 2, tl.extra.cuda.smid())\n"
          "tl.extra.cuda.gdc_wait()\n"
          "tl.store(y + 3, tl.inline_asm_elementwise('shl.b64 $0, $1, 33;', "
          "'=l,0', [tl.program_id(0).to(tl.int64) + 3], tl.int64, True, 1))\n"
          "tl.extra.cuda.gdc_launch_dependents()")
      .array("y", y)
      .run();
  EXPECT_EQ(y, (std::vector<int64_t>{1, 1, 0, int64_t{3} << 33}));
}

/// The message names the instruction, where the call stands.
TEST_P(AssemblyTest, RefusesTheRest) {
  struct Refusal {
    const char *text, *said;
  };
  for (Refusal one : {
           Refusal{"ld.global.u32 $0, [$1];", "'ld.global.u32 $0, [$1]'"},
           Refusal{"mov.u32 $0, %tid.x;", "'%tid.x' is not declared"},
           Refusal{"add.rz.f32 $0, $1, $1;", "'add.rz.f32 $0, $1, $1'"},
           Refusal{"bra.uni done;", "'bra.uni done'"},
           Refusal{"again: bra again;", "the label 'again'"},
           Refusal{"add.u32 $0, $1, 1", "expected ';'"},
           Refusal{"add.u32 $0, $1, 1; }", "'}' without '{'"},
           Refusal{"add.u32 $0, $1, 0q7;", "expected a number, got '0q7'"},
           Refusal{"add.u32 $0, x, 1;", "'x' is not declared"},
           Refusal{".shared .b32 x;", "expected an instruction"},
           Refusal{"add.u32 $0, $1;", "'add.u32 $0, $1'"},
       }) {
    CompileRequest request;
    request.target = GetParam();
    request.source = {"snippet.py",
                      "import triton\nimport triton.language as tl\n"
                      "@triton.jit\ndef k(y, T: tl.constexpr):\n"
                      "    o = tl.arange(0, 8)\n"
                      "    tl.store(y + o, tl.inline_asm_elementwise(T, "
                      "'=r,r', [o], tl.int32, False, 1))\n",
                      {}};
    request.kernel = "k";
    request.arguments = {RuntimeArgument{DType::Int32, true, false, false},
                         StaticValue(std::string(one.text))};
    auto result = createKernelCompiler()->compile(request);
    ASSERT_FALSE(result.ok()) << one.text;
    EXPECT_THAT(result.failure().str(),
                testing::AllOf(testing::HasSubstr(one.said),
                               testing::HasSubstr("snippet.py:6:21")))
        << one.text;
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, AssemblyTest,
                         testing::Values("interp", "cpu"));

} // namespace
