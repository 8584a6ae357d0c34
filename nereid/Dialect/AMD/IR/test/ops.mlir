// Every operation is read as it is printed.
// RUN: nereid-opt %s | nereid-opt | FileCheck %s
// RUN: nereid-opt %s --mlir-print-op-generic | nereid-opt | FileCheck %s

// CHECK-LABEL: llvm.func @memory
llvm.func @memory(%g: i64, %s: i32, %p: i1, %h: i16, %w: i32, %l: i64) {
  // CHECK: amd.load global %{{.*}} {byte} : i64 -> i16
  %b = amd.load global %g {byte} : i64 -> i16
  // CHECK: amd.load global %{{.*}} + -16 if %{{.*}} else %{{.*}}, %{{.*}} : i32, i32 {cache = #amd<cache streamed>} : i64 -> i32, i32
  %v:2 = amd.load global %g + -16 if %p else %w, %w : i32, i32 {cache = #amd<cache streamed>} : i64 -> i32, i32
  // CHECK: amd.load global %{{.*}} {order = #amd<order relaxed>, scope = #amd<scope agent>} : i64 -> i64
  %r = amd.load global %g {order = #amd<order relaxed>, scope = #amd<scope agent>} : i64 -> i64
  // CHECK: amd.load lds %{{.*}} + 32 : i32 -> i32, i32, i32, i32
  %u:4 = amd.load lds %s + 32 : i32 -> i32, i32, i32, i32
  // CHECK: amd.store global %{{.*}} + 8, %{{.*}} if %{{.*}} {cache = #amd<cache streamed>} : i64, i64
  amd.store global %g + 8, %l if %p {cache = #amd<cache streamed>} : i64, i64
  // CHECK: amd.store lds %{{.*}}, %{{.*}} {byte} : i32, i16
  amd.store lds %s, %h {byte} : i32, i16
  // CHECK: amd.compare_and_swap %{{.*}}, %{{.*}}, %{{.*}} if %{{.*}} acq_rel system : i16
  %old = amd.compare_and_swap %g, %h, %h if %p acq_rel system : i16
  // CHECK: amd.atomic fadd %{{.*}} + 16, %{{.*}} if %{{.*}} of f32 relaxed agent : i32 -> i32
  %a = amd.atomic fadd %g + 16, %w if %p of f32 relaxed agent : i32 -> i32
  // CHECK: amd.atomic umax %{{.*}}, %{{.*}} of i64 release workgroup : i64
  amd.atomic umax %g, %l of i64 release workgroup : i64
  // CHECK: amd.count_shared %{{.*}} by 1 if %{{.*}}
  amd.count_shared %s by 1 if %p
  llvm.return
}

// CHECK-LABEL: llvm.func @arithmetic
llvm.func @arithmetic(%f: f32, %d: f64) {
  // CHECK: amd.float_to_int nearest %{{.*}} to si8 : f32 -> i16
  %a = amd.float_to_int nearest %f to si8 : f32 -> i16
  // CHECK: amd.float_to_int down %{{.*}} to ui64 : f64 -> i64
  %b = amd.float_to_int down %d to ui64 : f64 -> i64
  // CHECK: amd.approximate exp2 %{{.*}}
  %c = amd.approximate exp2 %f
  // CHECK: amd.approximate rsqrt %{{.*}}
  %e = amd.approximate rsqrt %f
  llvm.return
}

// CHECK-LABEL: llvm.func @matrices
llvm.func @matrices(%w: i32, %f: f32, %d: f64) {
  // CHECK: amd.mfma 16 deep 16 f16 %{{.*}}, %{{.*}} : i32, i32 times f16 %{{.*}}, %{{.*}} : i32, i32 plus %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : f32, f32, f32, f32
  %a:4 = amd.mfma 16 deep 16 f16 %w, %w : i32, i32 times f16 %w, %w : i32, i32 plus %f, %f, %f, %f : f32, f32, f32, f32
  // CHECK: amd.mfma 16 deep 4 f64 %{{.*}} : f64 times f64 %{{.*}} : f64 plus
  %b:4 = amd.mfma 16 deep 4 f64 %d : f64 times f64 %d : f64 plus %d, %d, %d, %d : f64, f64, f64, f64
  // CHECK: amd.mfma 32 deep 8 si8 %{{.*}} : i32 times si8 %{{.*}} : i32 plus
  %c:16 = amd.mfma 32 deep 8 si8 %w : i32 times si8 %w : i32 plus %w, %w, %w, %w, %w, %w, %w, %w, %w, %w, %w, %w, %w, %w, %w, %w : i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32
  // CHECK: amd.wmma 16 deep 16 ui8 %{{.*}}, %{{.*}} : i32, i32 times si8 %{{.*}}, %{{.*}} : i32, i32 plus
  %e:8 = amd.wmma 16 deep 16 ui8 %w, %w : i32, i32 times si8 %w, %w : i32, i32 plus %w, %w, %w, %w, %w, %w, %w, %w : i32, i32, i32, i32, i32, i32, i32, i32
  llvm.return
}

// CHECK-LABEL: llvm.func @program
llvm.func @program() {
  // CHECK: amd.grid_size 2
  %a = amd.grid_size 2
  // CHECK: amd.lds_barrier
  amd.lds_barrier
  // CHECK: amd.timer
  %b = amd.timer
  // CHECK: amd.hardware_register 4 from 8 size 8
  %c = amd.hardware_register 4 from 8 size 8
  llvm.return
}
