//===- Specialize.h - What an argument specializes --------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The rules of the language (its specification calls them argument
// specialization), for a parameter that is not tl.constexpr:
//
//   None                      compiled in
//   bool                      int1
//   int 1                     compiled in, unless do_not_specialize or typed
//   int                       int32, int64, uint64: the first that holds it;
//                             "divisible by 16" is compiled in
//   float                     float32
//   tensor, address           pointer; an address divisible by 16 is compiled
//   in dtype, tuple              compiled in
//
// A type annotation fixes the type, and an integer must then fit it.
// do_not_specialize switches 1 and divisibility off,
// do_not_specialize_on_alignment divisibility only.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_RUNTIME_LAUNCH_SPECIALIZE_H
#define NEREID_RUNTIME_LAUNCH_SPECIALIZE_H

#include "nereid/Runtime/Argument.h"
#include "nereid/Runtime/launch/WordTable.h"

namespace nereid {

/// Why an argument does not fit its parameter.
enum class ArgumentMismatch : uint8_t {
  None,
  ConstexprGotTensor,
  UndefinedTensor,
  PointerGotScalar,
  ScalarGotTensor,
  PointeeMismatch,
  IntegerGotFloat,
  NumberExpected,
  OutOfRange,
  StringGiven,
};

struct Specialized {
  bool isStatic = false;
  RuntimeArgument runtime; ///< when not static
  uint64_t slot = 0;       ///< the bits that are passed at run time
};

/// Null mismatch on success. No allocation.
ArgumentMismatch specialize(const ParameterDescription &parameter,
                            const Argument &argument, Specialized &out);

/// Appends what distinguishes specializations.
void appendKey(WordKey &key, const Specialized &specialized,
               const Argument &argument);
/// Appends an argument's value (a tensor's dtype, shape and strides): what
/// heuristics can depend on.
void appendValue(WordKey &key, const Argument &argument);

/// The compiler's view of the same.
ArgumentSpec specOf(const Specialized &specialized, const Argument &argument);

} // namespace nereid

#endif // NEREID_RUNTIME_LAUNCH_SPECIALIZE_H
