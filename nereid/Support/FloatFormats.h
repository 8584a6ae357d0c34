//===- FloatFormats.h - The floating-point types C++ does not have -*- C++
//-*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Encoding rounds to nearest, ties to even, in one step from double, so that
// no value is rounded twice. Layouts (sign, exponent, mantissa bits; bias):
//
//   fp16      1 5 10  15   IEEE
//   bf16      1 8  7 127   IEEE, the upper half of fp32
//   fp8e5     1 5  2  15   IEEE; encoding saturates at 57344
//   fp8e4nv   1 4  3   7   no infinity, 0x7f is NaN; saturates at 448
//
// fp8 saturation takes infinities with it, as PTX's cvt.rn.satfinite does.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_SUPPORT_FLOATFORMATS_H
#define NEREID_SUPPORT_FLOATFORMATS_H

#include <cstdint>

namespace nereid {

uint16_t encodeFloat16(double value);
uint16_t encodeBFloat16(double value);
uint8_t encodeFloat8E5M2(double value);
uint8_t encodeFloat8E4M3(double value);

float decodeFloat16(uint16_t bits);
float decodeBFloat16(uint16_t bits);
float decodeFloat8E5M2(uint8_t bits);
float decodeFloat8E4M3(uint8_t bits);

} // namespace nereid

#endif // NEREID_SUPPORT_FLOATFORMATS_H
