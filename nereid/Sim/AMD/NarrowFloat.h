//===- NarrowFloat.h - Floats of 8 bits -------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// gfx942 has e4m3 and e5m2 with other biases and without infinities (FNUZ),
// gfx950 and gfx1201 those of the OCP.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_SIM_AMD_NARROWFLOAT_H
#define NEREID_SIM_AMD_NARROWFLOAT_H

#include "nereid/Sim/AMD/Wave.h"

namespace nereid::sim::amd {

enum class NarrowFloat : uint8_t { E4M3, E5M2 };

double narrowValue(const Wave &wave, NarrowFloat kind, uint32_t bits);
/// Rounded to the nearest.
uint32_t narrowOf(const Wave &wave, NarrowFloat kind, float value);

} // namespace nereid::sim::amd

#endif // NEREID_SIM_AMD_NARROWFLOAT_H
