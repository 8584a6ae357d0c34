//===- CopyByName.h - Tensors copied to those of their names ----*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_KERNELS_OPERATOR_COPYBYNAME_H
#define NEREID_KERNELS_OPERATOR_COPYBYNAME_H

#include "nereid/Runtime/Tensor.h"

#include <map>
#include <string>

namespace nereid::kernels {

/// Names that only `into`, and that only `from` has.
struct NamesApart {
  std::vector<std::string> missing, unexpected;
};

/// Are both all of one memory, as the names of a tied parameter are? A view of
/// a part is not, nor is what is empty.
bool isSameTensor(const Tensor &a, const Tensor &b);

/// Elements of `from` into the memory of `into`, whose types and devices they
/// take. Of memory that has several names one is enough. Nothing is changed
/// where something does not fit: throws InvalidArgument, beginning with `call`,
/// which names all that is missing, unexpected (both where `strict`), of
/// another shape, or expanded, so that elements share memory. `owner`: "the
/// module"; `hint`: of names that do not fit.
NamesApart copyByName(const char *call, const char *owner, const char *hint,
                      const std::map<std::string, Tensor> &into,
                      const std::map<std::string, Tensor> &from, bool strict);

/// The same without the copy.
NamesApart checkByName(const char *call, const char *owner, const char *hint,
                       const std::map<std::string, Tensor> &into,
                       const std::map<std::string, Tensor> &from, bool strict);

} // namespace nereid::kernels

#endif // NEREID_KERNELS_OPERATOR_COPYBYNAME_H
