//===- Emit.h - Generated kernels as files ----------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A kernel and its launch for programs outside of this one:
//
//   NAME.py           the kernel
//   NAME.json         its launch with the contents of all arrays, as `nereid
//   run
//                     --launch` takes it (docs/LaunchFile.md)
//   NAME.check.json   what the arrays hold after it (see run_upstream.py)
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_TEST_FUZZ_SOURCE_EMIT_H
#define NEREID_TEST_FUZZ_SOURCE_EMIT_H

#include "nereid/ABI/Status.h"
#include "test/fuzz/Check.h"
#include "test/fuzz/source/Program.h"

namespace nereid::fuzz::source {

/// FOLDER/NAME.py and FOLDER/NAME.json; `module` is the program, compiled.
Status emitLaunch(const Program &program, mlir::ModuleOp module,
                  const std::string &folder, const std::string &name);

/// These and FOLDER/NAME.check.json, with the errors that upstream is allowed;
/// nothing where a comparison depends on one of them. Makes the folder.
Status emit(const Program &program, mlir::ModuleOp module,
            const std::string &folder, const std::string &name);

} // namespace nereid::fuzz::source

#endif // NEREID_TEST_FUZZ_SOURCE_EMIT_H
