// Each word of NEREID_DISABLE takes its policy out of the pipeline. Words that
// are options of a pass are tested beside that pass.
// RUN: nereid-opt %S/prefetch-next-tile.mlir --split-input-file --tilegpu-pipeline="target=sm_90 warps=4" | FileCheck %s --check-prefix=PREFETCH
// RUN: nereid-opt %S/prefetch-next-tile.mlir --split-input-file --tilegpu-pipeline="target=sm_90 warps=4 disable=prefetch" | FileCheck %s --check-prefix=NO-PREFETCH
// PREFETCH: tilegpu.prefetch
// NO-PREFETCH-NOT: tilegpu.prefetch

// RUN: nereid-opt %S/pipeline-loads.mlir --tilegpu-pipeline="target=sm_90a warps=4" | FileCheck %s --check-prefixes=COPIES,CARRIED
// RUN: nereid-opt %S/pipeline-loads.mlir --tilegpu-pipeline="target=sm_90a warps=4 disable=carried-products" | FileCheck %s --check-prefixes=COPIES,ENDED
// RUN: nereid-opt %S/pipeline-loads.mlir --tilegpu-pipeline="target=sm_90a warps=4 disable=copies-ahead" | FileCheck %s --check-prefix=NO-COPIES
// COPIES: tilegpu.copy_async
// COPIES: tile.dot {{.*}}tilegpu.in_flight
// CARRIED: tilegpu.wait_older_products 1
// ENDED-NOT: tilegpu.wait_older_products
// NO-COPIES-NOT: tilegpu.copy_async

// RUN: nereid-opt %S/share-operands.mlir --tilegpu-pipeline="target=sm_90a warps=4" | FileCheck %s --check-prefix=SHARED
// RUN: nereid-opt %S/share-operands.mlir --tilegpu-pipeline="target=sm_90a warps=4 disable=shared-operands" | FileCheck %s --check-prefix=OWN
// SHARED: tilegpu.local_store
// OWN-NOT: tilegpu.local_store

// RUN: nereid-opt %S/stage-operands.mlir --split-input-file --tilegpu-pipeline="target=sm_90a warps=4" | FileCheck %s --check-prefix=STAGED
// RUN: nereid-opt %S/stage-operands.mlir --split-input-file --tilegpu-pipeline="target=sm_90a warps=4 disable=staged-operands" | FileCheck %s --check-prefix=REGISTERS
// STAGED-LABEL: func.func @copied
// STAGED: tilegpu.copy_async
// REGISTERS-LABEL: func.func @copied
// REGISTERS-NOT: tilegpu.copy_async
// REGISTERS: return

// RUN: nereid-opt %S/registers-for-loads.mlir --split-input-file --tilegpu-pipeline="target=sm_90a warps=8" | FileCheck %s --check-prefix=LOADS
// RUN: nereid-opt %S/registers-for-loads.mlir --split-input-file --tilegpu-pipeline="target=sm_90a warps=8 disable=registers-for-loads" | FileCheck %s --check-prefix=NO-LOADS
// LOADS: tilegpu.registers =
// NO-LOADS-NOT: tilegpu.registers =

// RUN: nereid-opt %source/nereid/Conversion/TileToTileGPU/test/accumulate-products.mlir --split-input-file --tilegpu-pipeline="target=sm_90 warps=4" | FileCheck %s --check-prefix=BEGINS
// RUN: nereid-opt %source/nereid/Conversion/TileToTileGPU/test/accumulate-products.mlir --split-input-file --tilegpu-pipeline="target=sm_90 warps=4 disable=accumulated-products" | FileCheck %s --check-prefix=ADDED
// BEGINS-LABEL: func.func @added
// BEGINS-NOT: arith.addf
// BEGINS: return
// ADDED-LABEL: func.func @added
// ADDED: arith.addf

// RUN: nereid-opt %source/nereid/Conversion/TileToTileGPU/test/narrow-comparisons.mlir --split-input-file --tilegpu-pipeline="target=sm_90 warps=1" | FileCheck %s --check-prefix=NARROW
// RUN: nereid-opt %source/nereid/Conversion/TileToTileGPU/test/narrow-comparisons.mlir --split-input-file --tilegpu-pipeline="target=sm_90 warps=1 disable=narrow-comparisons" | FileCheck %s --check-prefix=WIDE
// NARROW-LABEL: func.func @descriptor
// NARROW: arith.cmpi slt, {{.*}} tensor<64xi32,
// WIDE-LABEL: func.func @descriptor
// WIDE: arith.cmpi slt, {{.*}} tensor<64xi64,
