//===- NVArithmeticOps.td - Conversions, approximations ----*- tablegen -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_DIALECT_NV_IR_NVARITHMETICOPS
#define NEREID_DIALECT_NV_IR_NVARITHMETICOPS

include "nereid/Dialect/NV/IR/NVDialect.td"

def NV_FloatToIntOp : NV_Op<"float_to_int", [Pure]> {
  let summary = "A float as an integer, at the nearest end of the range beyond it";
  let description = [{
    min(max(round(x), least), greatest) of `target`, whose signedness is part of
    its type. Of NaN: 0 where x is f32 and the target has up to 32 bits, else
    the top bit alone. 8 bits come in an i16. Section "cvt".
    ```mlir
    %i = nv.float_to_int rzi %x : f32 to si8 in i16
    ```
  }];
  let arguments = (ins NV_RoundingAttr:$rounding, AnyTypeOf<[F32, F64]>:$source, TypeAttr:$target);
  let results = (outs AnyTypeOf<[I16, I32, I64]>:$result);
  let assemblyFormat = "$rounding $source attr-dict `:` type($source) `to` $target `in` type($result)";
  let hasVerifier = 1;
}

def NV_PackFloatsOp : NV_Op<"pack_floats", [Pure]> {
  let summary = "Two floats, rounded to nearest even, as one word";
  let description = [{
    word = bits(round(low)) | bits(round(high)) << 16, of f16 or bf16; from
    sm_80 on. Section "cvt".
    ```mlir
    %w = nv.pack_floats %low, %high to bf16
    ```
  }];
  let arguments = (ins F32:$low, F32:$high, TypeAttr:$target);
  let results = (outs I32:$word);
  let assemblyFormat = "$low `,` $high `to` $target attr-dict";
  let hasVerifier = 1;
}

def NV_PackFloat8Op : NV_Op<"pack_float8", [Pure]> {
  let summary = "Two floats as 8-bit floats, rounded to nearest even";
  let description = [{
    half = round(low) | round(high) << 8, the largest finite number beyond it,
    0x7f of NaN; from sm_89 on. Section "cvt".
    ```mlir
    %h = nv.pack_float8 %low, %high to f8E4M3FN
    ```
  }];
  let arguments = (ins F32:$low, F32:$high, TypeAttr:$target);
  let results = (outs I16:$half);
  let assemblyFormat = "$low `,` $high `to` $target attr-dict";
  let hasVerifier = 1;
}

def NV_UnpackFloat8Op : NV_Op<"unpack_float8", [Pure]> {
  let summary = "Two 8-bit floats as two f16";
  let description = [{
    word = bits(f16(low byte)) | bits(f16(high byte)) << 16; from sm_89 on.
    Section "cvt".
    ```mlir
    %w = nv.unpack_float8 %half of f8E4M3FN
    ```
  }];
  let arguments = (ins I16:$half, TypeAttr:$source);
  let results = (outs I32:$word);
  let assemblyFormat = "$half `of` $source attr-dict";
  let hasVerifier = 1;
}

def NV_PackSaturatedOp : NV_Op<"pack_saturated", [Pure]> {
  let summary = "Four signed integers as bytes of one word, the first lowest";
  let description = [{
    byte i = min(max(x_i, least), greatest) of si8 or ui8; from sm_72 on.
    Section "cvt.pack".
    ```mlir
    %w = nv.pack_saturated %x0, %x1, %x2, %x3 to si8
    ```
  }];
  let arguments = (ins I32:$x0, I32:$x1, I32:$x2, I32:$x3, TypeAttr:$target);
  let results = (outs I32:$word);
  let assemblyFormat = "$x0 `,` $x1 `,` $x2 `,` $x3 `to` $target attr-dict";
  let hasVerifier = 1;
}

def NV_RoundTf32Op : NV_Op<"round_tf32", [Pure]> {
  let summary = "The bits of an f32 as an operand of tf32";
  let description = [{
    Rounded to 10 bits after the point, halves away from zero. Section "cvt".
    ```mlir
    %w = nv.round_tf32 %bits
    ```
  }];
  let arguments = (ins I32:$bits);
  let results = (outs I32:$word);
  let assemblyFormat = "$bits attr-dict";
}

def NV_ApproximateOp : NV_Op<"approximate", [Pure]> {
  let summary = "A function of f32 by the special-function unit";
  let description = [{
    | function | formula    | error                               | section        |
    |----------|------------|-------------------------------------|----------------|
    | `ex2`    | 2^x        | 2 ulps; below 2^-126 zero           | "ex2"          |
    | `rsqrt`  | 1 / sqrt x | 2^-22.9 of the result               | "rsqrt"        |
    | `tanh`   | tanh x     | 2^-11 of the result; from sm_75 on  | "tanh"         |
    ```mlir
    %y = nv.approximate ex2 %x
    ```
  }];
  let arguments = (ins NV_FunctionAttr:$function, F32:$x);
  let results = (outs F32:$y);
  let assemblyFormat = "$function $x attr-dict";
}

def NV_DivideFullOp : NV_Op<"divide_full", [Pure]> {
  let summary = "x / y with 2 ulps over the full range of f32";
  let description = [{
    Section "div", `.full`.
    ```mlir
    %z = nv.divide_full %x, %y
    ```
  }];
  let arguments = (ins F32:$x, F32:$y);
  let results = (outs F32:$quotient);
  let assemblyFormat = "$x `,` $y attr-dict";
}

def NV_ShiftRightOp : NV_Op<"shift_right", [Pure]> {
  let summary = "A signed word shifted right, by 31 at most";
  let description = [{
    x >> min(amount, 31). To LLVM a shift by 32 and more is poison; the
    instruction clamps. Section "shr".
    ```mlir
    %y = nv.shift_right %x, %amount
    ```
  }];
  let arguments = (ins I32:$x, I32:$amount);
  let results = (outs I32:$y);
  let assemblyFormat = "$x `,` $amount attr-dict";
}

def NV_HideFromAssemblerOp : NV_Op<"hide_from_assembler", [Pure]> {
  let summary = "The word itself, as a value unknown to the assembler";
  let description = [{
    y = x, by an exclusive or with a zero that is computed at run time (a block
    has less than 16 MiB of shared memory). For bugs of ptxas in operands of
    products:

    | bug                   | what ptxas does with a word that it sees through |
    |-----------------------|---|
    | `half_of_known_zero`  | makes two products of 16-bit floats of one of 8-bit floats, on sm_90, and takes 200 for the upper half of a word that is zero (12.8, 13.0) |
    | `equal_left_operands` | takes two wgmma with equal left operands in registers for one, and leaves the other's result undefined (12.8, 13.0) |
    | `kept_for_rare_path`  | keeps words in registers for a path that is rarely taken, which could read them again (an address) |
    ```mlir
    %y = nv.hide_from_assembler %x because half_of_known_zero
    ```
  }];
  let arguments = (ins I32:$x, NV_AssemblerBugAttr:$bug);
  let results = (outs I32:$y);
  let assemblyFormat = "$x `because` $bug attr-dict";
}

def NV_UserAssemblyOp : NV_Op<"user_assembly", [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "The user's own assembly: the one text that stays text";
  let description = [{
    What `tl.inline_asm_elementwise` says, on registers as its constraints name
    them; `pure`: it may be dropped and moved.
    ```mlir
    %y = nv.user_assembly "add.u32 $0, $1, $2;", "=r,r,r" pure (%a, %b) : (i32, i32) -> i32
    ```
  }];
  let arguments = (ins StrAttr:$text, StrAttr:$constraints, UnitAttr:$pure, Variadic<AnyType>:$inputs);
  let results = (outs Variadic<AnyType>:$outputs);
  let assemblyFormat = [{
    $text `,` $constraints (`pure` $pure^)? `(` $inputs `)` attr-dict `:` functional-type($inputs, $outputs)
  }];
}

#endif // NEREID_DIALECT_NV_IR_NVARITHMETICOPS
