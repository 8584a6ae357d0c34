//===- SignatureText.h - A kernel's signature, as typed ---------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   '*fp32:16, *fp32, i32:16, i32:1, 1024'     by position, or
//   'x_ptr=*fp32:16, n=i32, BLOCK=1024'        by name, or both in this order
//
// and options of the compilation beside them: 'x_ptr=*fp32, num_warps=8'.
// One entry a parameter: a type (with * for a pointer; :16 when it will be
// divisible by 16, :1 when it will be 1), or a value to compile in.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_TOOLS_NEREID_SIGNATURETEXT_H
#define NEREID_TOOLS_NEREID_SIGNATURETEXT_H

#include "nereid/nereid.h"

namespace nereid {

/// Parameters that are not mentioned take their default. Names that are no
/// parameters may be options, num_warps=8, which go to `options`. Throws
/// InvalidArgument naming the entry. `source` is the kernel's file, for the
/// example that the message gives.
std::vector<ArgumentSpec> parseSignature(const std::string &text,
                                         const KernelDescription &kernel,
                                         const std::string &source,
                                         CompileOptions &options);

/// "add_kernel(*fp32, i32)" -> the kernel and what is between the parentheses;
/// no kernel for other texts.
std::pair<std::string, std::string> splitSignature(const std::string &text);

/// A signature that fits the kernel, to show what one looks like. Pointers are
/// recognised by their annotation, or by what the text of the file does with
/// them.
std::string exampleSignature(const KernelDescription &kernel,
                             const std::string &source);

} // namespace nereid

#endif // NEREID_TOOLS_NEREID_SIGNATURETEXT_H
