// RUN: nereid-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(func.func(tilegpu-schedule-loops,tilegpu-expand-loops))'

// expected-error @+1 {{the kernel has no tilegpu.target; expected the name of a GPU}}
func.func @none() attributes {tile.kernel, tilegpu.warps = 4 : i32} {
  return
}

// -----

// expected-error @+1 {{no GPU is called "sm_1"}}
func.func @unknown() attributes {tile.kernel, tilegpu.target = "sm_1", tilegpu.warps = 4 : i32} {
  return
}
