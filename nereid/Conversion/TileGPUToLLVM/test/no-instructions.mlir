// A target may have layouts before anybody has written its instructions.
// RUN: nereid-opt %s --tilegpu-pipeline="target=toy-without-instructions warps=4" | FileCheck %s
// RUN: not nereid-opt %s --gpu-pipeline="target=toy-without-instructions warps=4" 2>&1 | FileCheck %s --check-prefix=ERROR

// CHECK: func.func @nothing
// ERROR: [[#@LINE+1]]:1: error: expected instructions that a vendor's folder has, got 'none' of toy-without-instructions
func.func @nothing() attributes {tile.kernel} {
  return
}
