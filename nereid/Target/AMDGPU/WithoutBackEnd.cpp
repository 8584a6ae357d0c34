//===- WithoutBackEnd.cpp - Builds that generate no code for AMD ----------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// With NEREID_AMDGPU=OFF in place of EmitCodeObject.cpp and LinkObject.cpp:
// architectures keep their names, and code for them is refused.
//
//===----------------------------------------------------------------------===//

#include "nereid/Target/AMDGPU/AmdgpuTarget.h"

namespace nereid::amdgpu {

static Status refusal(const AmdgpuTarget &target) {
  return {ErrorCode::Unsupported,
          "target '" + target.name +
              "': expected a build that generates code for AMD's GPUs, got one "
              "without; hint: the program `nereid` does, and CMake's "
              "NEREID_AMDGPU=ON builds it in"};
}

Expected<std::string> emitCodeObject(mlir::ModuleOp, const AmdgpuTarget &target,
                                     const EmitOptions &, StageTimes *) {
  return refusal(target);
}

Expected<std::string> emitAssembly(mlir::ModuleOp, const AmdgpuTarget &target,
                                   const EmitOptions &, StageTimes *) {
  return refusal(target);
}

Expected<std::string> emitLlvmText(mlir::ModuleOp, const AmdgpuTarget &target,
                                   const EmitOptions &, StageTimes *) {
  return refusal(target);
}

void registerTranslation(mlir::DialectRegistry &) {}

} // namespace nereid::amdgpu
