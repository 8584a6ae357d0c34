// The schedule of a product's loop: in a step the product is started first,
// then the addresses and masks of the iteration two ahead are computed; when the
// product of the step before is done, the copies start. Or they start first, and
// then the step's own product is waited for. By one warp at a time nothing is in
// flight.
// RUN: nereid-opt %S/pipeline-loads.mlir --pass-pipeline='builtin.module(tile-to-tilegpu{target=sm_90a warps=4},func.func(tilegpu-schedule-loops))' | FileCheck %s --check-prefixes=CHECK,GROUP,CARRY
// RUN: nereid-opt %S/pipeline-loads.mlir --pass-pipeline='builtin.module(tile-to-tilegpu{target=sm_90a warps=4},func.func(tilegpu-schedule-loops{carry-products=false}))' | FileCheck %s --check-prefixes=CHECK,GROUP,END
// RUN: nereid-opt %S/pipeline-loads.mlir --pass-pipeline='builtin.module(tile-to-tilegpu{target=sm_90 warps=4},func.func(tilegpu-schedule-loops))' | FileCheck %s --check-prefixes=CHECK,WARP
// The two passes are one where the schedule is read from its text.
// RUN: nereid-opt %S/pipeline-loads.mlir --pass-pipeline='builtin.module(tile-to-tilegpu{target=sm_90a warps=4},func.func(tilegpu-schedule-loops))' | nereid-opt --pass-pipeline='builtin.module(func.func(tilegpu-expand-loops))' > %t.two
// RUN: nereid-opt %S/pipeline-loads.mlir --pass-pipeline='builtin.module(tile-to-tilegpu{target=sm_90a warps=4},func.func(tilegpu-schedule-loops,tilegpu-expand-loops))' | nereid-opt > %t.one
// RUN: diff %t.two %t.one

// CHECK: scf.for
// GROUP: arith.subi {{.*}} {tilegpu.schedule = #tilegpu.schedule<stages = [0], orders = [1]>}
// CARRY: tile.load {{.*}} {tilegpu.schedule = #tilegpu.schedule<stages = [0], orders = [3], done = [2, 0]>}
// END: tile.load {{.*}} {tilegpu.schedule = #tilegpu.schedule<stages = [0], orders = [2], done = [2, 0]>}
// GROUP: tile.addptr {{.*}} {tilegpu.schedule = #tilegpu.schedule<stages = [0], orders = [1]>}
// CARRY: tile.load {{.*}} {tilegpu.schedule = #tilegpu.schedule<stages = [0], orders = [4], done = [2, 0]>}
// END: tile.load {{.*}} {tilegpu.schedule = #tilegpu.schedule<stages = [0], orders = [3], done = [2, 0]>}
// GROUP: tile.transpose %{{[0-9]*}} {order = array<i32: 1, 0>} :
// CARRY: tile.dot {{.*}} {tilegpu.schedule = #tilegpu.schedule<stages = [2], orders = [0], done = [3, 2]>, tilegpu.warpgroup_mma}
// END: tile.dot {{.*}} {tilegpu.schedule = #tilegpu.schedule<stages = [2], orders = [0], done = [2, 4]>, tilegpu.warpgroup_mma}
// WARP: arith.subi {{.*}} {tilegpu.schedule = #tilegpu.schedule<stages = [0], orders = [0]>}
// WARP: tile.load {{.*}} {tilegpu.schedule = #tilegpu.schedule<stages = [0], orders = [1], done = [2, 0]>}
// WARP: tile.load {{.*}} {tilegpu.schedule = #tilegpu.schedule<stages = [0], orders = [2], done = [2, 0]>}
// WARP: tilegpu.convert_layout {{.*}} {tilegpu.schedule = #tilegpu.schedule<stages = [2], orders = [3]>}
// WARP: tile.dot {{.*}} {tilegpu.mma, tilegpu.schedule = #tilegpu.schedule<stages = [2], orders = [3]>}
// CHECK: } {tilegpu.slots = 3 : i32}
