//===- Print.h - Tensors as NumPy prints arrays -----------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   std::cout << x;      // [[1.   2.5 ]
//                        //  [3.   4.25]]
//
// As print() of NumPy 2: lines of 75 characters, 8 digits after the point at
// most, as many as tell a number from its neighbours of the same type; of more
// than 1000 elements the first and last three of each dimension. bf16 and fp8
// print as the fp32 numbers that they are. Values are copied to the host first.
// An undefined tensor prints as "undefined".
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_RUNTIME_PRINT_H
#define NEREID_RUNTIME_PRINT_H

#include "nereid/Runtime/Tensor.h"

#include <iosfwd>
#include <string>

namespace nereid {

/// What `<<` prints.
std::string valuesOf(const Tensor &tensor);

std::ostream &operator<<(std::ostream &stream, const Tensor &tensor);

} // namespace nereid

#endif // NEREID_RUNTIME_PRINT_H
