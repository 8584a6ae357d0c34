//===- Targets.cpp - What a kernel can be compiled for --------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Pipeline/Compilation.h"

namespace nereid {

Expected<Target> resolveTarget(const std::string &name) {
  if (name == "interp") {
    return Target(InterpTarget());
  }
  if (nvptx::isArchitecture(name)) {
    auto found = nvptx::resolve(name);
    return found.ok() ? Expected<Target>(std::move(*found)) : found.status();
  }
  if (amdgpu::isArchitecture(name)) {
    auto found = amdgpu::resolve(name);
    return found.ok() ? Expected<Target>(std::move(*found)) : found.status();
  }
  auto found = cpu::resolve(name);
  return found.ok() ? Expected<Target>(std::move(*found)) : found.status();
}

const tilegpu::TargetInfo *gpuOf(const Target &target) {
  if (auto *nvptx = std::get_if<nvptx::NvptxTarget>(&target)) {
    return &nvptx->info;
  }
  auto *amdgpu = std::get_if<amdgpu::AmdgpuTarget>(&target);
  return amdgpu ? &amdgpu->info : nullptr;
}

std::string nameOf(const Target &target) {
  if (auto *cpu = std::get_if<cpu::CpuTarget>(&target)) {
    return cpu->name;
  }
  const tilegpu::TargetInfo *gpu = gpuOf(target);
  return gpu ? gpu->name : "interp";
}

} // namespace nereid
