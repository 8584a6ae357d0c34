//===- Npy.h - NumPy array files -------------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads versions 1 to 3 of the .npy format (little and big endian, C and
// Fortran order), writes version 1. bf16 and fp8 have no name in NumPy: bf16 is
// two raw bytes ('<V2'), as ml_dtypes writes and reads it
// (`np.load(path).view(ml_dtypes.bfloat16)`); fp8 is written as the unsigned
// integers of its bits, and read back by saying the dtype.
//
// Source: numpy.lib.format, "NPY format" (public specification).
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_RUNTIME_NPY_H
#define NEREID_RUNTIME_NPY_H

#include "nereid/Runtime/Tensor.h"

namespace nereid {

/// Row-major, whatever order the file has. `dtype`, when given, reinterprets
/// elements of the same size (u2 as f16, u1 as fp8e5). Throws IoError when
/// the file cannot be read, InvalidArgument when it is no .npy file or too
/// short, Unsupported for complex, string, object and structured elements.
Tensor loadNpy(Text text, std::optional<DType> dtype = std::nullopt,
               Device device = Device::best());

/// Writes atomically (temporary name, then rename). Throws IoError.
void saveNpy(Text path, const Tensor &tensor);

} // namespace nereid

#endif // NEREID_RUNTIME_NPY_H
