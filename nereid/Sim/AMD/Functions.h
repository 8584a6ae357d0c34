//===- Functions.h - Functions of numbers as instructions -------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An instruction that maps numbers to a number is a C++ function; its types are
// those of the operands. A bool is a bit of a mask of lanes, a bool & the bit
// that it gives besides its result; of a scalar instruction it is SCC.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_SIM_AMD_FUNCTIONS_H
#define NEREID_SIM_AMD_FUNCTIONS_H

#include "nereid/Sim/AMD/Families.h"
#include "nereid/Sim/AMD/Wave.h"
#include "nereid/Sim/Lanes.h"

namespace nereid::sim::amd {

template <typename T>
constexpr Type typeOf() {
  using U = std::remove_cvref_t<T>;
  if constexpr (std::is_same_v<U, bool>) {
    return Type::Mask;
  } else if constexpr (std::is_same_v<U, float>) {
    return Type::F32;
  } else if constexpr (std::is_same_v<U, double>) {
    return Type::F64;
  } else if constexpr (std::is_same_v<U, Half>) {
    return Type::F16;
  } else if constexpr (sizeof(U) == 2) {
    return std::is_signed_v<U> ? Type::I16 : Type::B16;
  } else if constexpr (sizeof(U) == 4) {
    return std::is_signed_v<U> ? Type::I32 : Type::B32;
  } else {
    return std::is_signed_v<U> ? Type::I64 : Type::B64;
  }
}

template <typename T>
constexpr bool isBitResult = std::is_same_v<T, bool &>;

//===----------------------------------------------------------------------===//
// On lanes
//===----------------------------------------------------------------------===//

/// f(sources) in each active lane.
template <auto F, typename Out, typename... In, size_t... I>
void mapEach(LaneResult &to, const Lanes *from, uint64_t active, Out (*)(In...),
             std::index_sequence<I...>) {
  forMask(active, [&](unsigned lane) {
    bool bit = false;
    auto argument = [&]<typename T>(size_t i) -> decltype(auto) {
      if constexpr (isBitResult<T>) {
        return (bit);
      } else if constexpr (std::is_same_v<T, bool>) {
        return bool(from[i][lane]);
      } else {
        return fromSlot<T>(from[i][lane]);
      }
    };
    Out result = F(argument.template operator()<In>(I)...);
    if constexpr (std::is_same_v<Out, bool>) {
      bit = result;
    } else {
      to.value[lane] = toSlot<Out>(result);
    }
    to.mask |= uint64_t(bit) << lane;
  });
}

template <auto F, typename Out, typename... In>
constexpr Semantics describeMap(std::string_view names, unsigned flags,
                                unsigned detail, Out (*)(In...)) {
  Semantics of;
  of.names = names;
  of.execute = executeMap;
  of.map = [](LaneResult &to, const Lanes *from, uint64_t active) {
    mapEach<F>(to, from, active, +F, std::index_sequence_for<In...>());
  };
  of.to = typeOf<Out>();
  unsigned count = 0;
  auto add = [&]<typename T>() {
    if constexpr (isBitResult<T>) {
      of.carry = Type::Mask;
    } else {
      of.from[count++] = typeOf<T>();
    }
  };
  (add.template operator()<In>(), ...);
  of.flags = uint16_t(flags);
  of.detail = detail;
  return of;
}

/// A vector instruction.
template <auto F>
constexpr Semantics lanesOf(std::string_view names, unsigned flags = 0,
                            unsigned detail = 0) {
  return describeMap<F>(names, flags, detail, +F);
}

//===----------------------------------------------------------------------===//
// On scalars
//===----------------------------------------------------------------------===//

template <auto F, typename Out, typename... In, size_t... I>
void scalarEach(Wave &wave, const Instruction &instruction, Out (*)(In...),
                std::index_sequence<I...>) {
  bool scc = wave.scc;
  auto argument = [&]<typename T>(size_t i) -> decltype(auto) {
    if constexpr (isBitResult<T>) {
      return (scc);
    } else {
      return fromSlot<T>(wave.readScalar(instruction.from[i]));
    }
  };
  Out result = F(argument.template operator()<In>(I)...);
  if constexpr (std::is_same_v<Out, bool>) {
    wave.scc = result;
  } else {
    wave.writeScalar(instruction.to, toSlot<Out>(result));
    wave.scc = scc;
  }
}

template <auto F, typename Out, typename... In>
constexpr Semantics describeScalar(std::string_view names, unsigned flags,
                                   unsigned detail, Out (*)(In...)) {
  Semantics of;
  of.names = names;
  of.execute = [](Wave &wave, const Instruction &instruction) {
    scalarEach<F>(wave, instruction, +F, std::index_sequence_for<In...>());
  };
  of.to = std::is_same_v<Out, bool> ? Type::None : typeOf<Out>();
  unsigned count = 0;
  auto add = [&]<typename T>() {
    if constexpr (!isBitResult<T>) {
      of.from[count++] = typeOf<T>();
    }
  };
  (add.template operator()<In>(), ...);
  of.flags = uint16_t(flags);
  of.detail = detail;
  return of;
}

/// A scalar instruction. SCC is the last parameter, as it was, to be changed;
/// a function to bool gives SCC and has no other result.
template <auto F>
constexpr Semantics scalarOf(std::string_view names, unsigned flags = 0,
                             unsigned detail = 0) {
  return describeScalar<F>(names, flags, detail, +F);
}

/// One with its own function; types in the order result, sources.
constexpr Semantics custom(std::string_view names, Execute execute,
                           Type to = Type::None, std::array<Type, 4> from = {},
                           unsigned flags = 0, unsigned detail = 0) {
  return {names,      execute, nullptr,         to,
          Type::None, from,    uint16_t(flags), detail};
}

} // namespace nereid::sim::amd

#endif // NEREID_SIM_AMD_FUNCTIONS_H
