//===- AMDArithmeticOps.td - Arithmetic --------------------*- tablegen -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_DIALECT_AMD_IR_AMDARITHMETICOPS
#define NEREID_DIALECT_AMD_IR_AMDARITHMETICOPS

include "nereid/Dialect/AMD/IR/AMDDialect.td"

def AMD_FloatToIntOp : AMD_Op<"float_to_int", [Pure]> {
  let summary = "The integer that a float rounds to, or the nearest end of the range";
  let description = [{
    result = clamp(round(source), range of `target`), NaN is 0. A target of 8 bits
    comes in an i16, extended by its sign. V_CVT_I32_F32 and its kin round to zero
    and go to the ends of 32 bits by themselves.
    ```mlir
    %i = amd.float_to_int nearest %x to si8 : f32 -> i16
    ```
  }];
  let arguments = (ins AMD_RoundingAttr:$rounding, AnyTypeOf<[F32, F64]>:$source, TypeAttr:$target);
  let results = (outs AnyTypeOf<[I16, I32, I64]>:$result);
  let assemblyFormat = "$rounding $source `to` $target attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
}

def AMD_ApproximateOp : AMD_Op<"approximate", [Pure, SameOperandsAndResultType]> {
  let summary = "A function by the transcendental unit: V_EXP_F32, V_RSQ_F32";
  let description = [{
    Of 1 ulp where argument and result are normal; results below 2^-126 are zero.
    ```mlir
    %y = amd.approximate exp2 %x
    ```
  }];
  let arguments = (ins AMD_FunctionAttr:$function, F32:$x);
  let results = (outs F32:$result);
  let assemblyFormat = "$function $x attr-dict";
}

#endif // NEREID_DIALECT_AMD_IR_AMDARITHMETICOPS
