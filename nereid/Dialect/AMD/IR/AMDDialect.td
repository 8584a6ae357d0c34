//===- AMDDialect.td - The dialect and its enums -----------*- tablegen -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_DIALECT_AMD_IR_AMDDIALECT
#define NEREID_DIALECT_AMD_IR_AMDDIALECT

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def AMD_Dialect : Dialect {
  let name = "amd";
  let cppNamespace = "::nereid::amd";
  let summary = "Instructions of AMD's processors that one thread executes";
  let description = [{
    One operation is what one lane of a wave asks of the processor: an access
    with its width, predicate and order, or an instruction that `arith` and
    `math` lack. `amd-to-llvm` makes `llvm` and `rocdl` operations of them, and
    branches of predicates (docs/amd/DialectAMD.md). Upstream's `rocdl` stands beside
    these wherever it says what we mean.

    Addresses are integers: i64 of global memory, i32 of the local data share
    (LDS).
  }];
  let useDefaultAttributePrinterParser = 1;
}

class AMD_Op<string mnemonic, list<Trait> traits = []> : Op<AMD_Dialect, mnemonic, traits>;

class AMD_Enum<string name, string summary, list<I32EnumAttrCase> cases> : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::nereid::amd";
  let genSpecializedAttr = 0;
}

class AMD_EnumAttr<EnumInfo enum, string mnemonic> : EnumAttr<AMD_Dialect, enum, mnemonic>;

def AMD_Space : AMD_Enum<"Space", "a memory", [
  I32EnumAttrCase<"Global", 0, "global">, I32EnumAttrCase<"LDS", 1, "lds">]>;
def AMD_SpaceAttr : AMD_EnumAttr<AMD_Space, "space">;

/// How a cache treats the line; the bits are chosen by LLVM for each chip
/// (AMDGPUUsage, "Memory Model").
def AMD_Cache : AMD_Enum<"Cache", "how long a line stays in the caches", [
  I32EnumAttrCase<"Normal", 0, "normal">, I32EnumAttrCase<"Streamed", 1, "streamed">]>;
def AMD_CacheAttr : AMD_EnumAttr<AMD_Cache, "cache">;

def AMD_Order : AMD_Enum<"Order", "a memory order", [
  I32EnumAttrCase<"Weak", 0, "weak">, I32EnumAttrCase<"Volatile", 1, "volatile">,
  I32EnumAttrCase<"Relaxed", 2, "relaxed">, I32EnumAttrCase<"Acquire", 3, "acquire">,
  I32EnumAttrCase<"Release", 4, "release">, I32EnumAttrCase<"AcqRel", 5, "acq_rel">]>;
def AMD_OrderAttr : AMD_EnumAttr<AMD_Order, "order">;

/// AMDGPUUsage, "Memory Scopes"; `system` is LLVM's default.
def AMD_Scope : AMD_Enum<"Scope", "the threads that see an order", [
  I32EnumAttrCase<"Workgroup", 0, "workgroup">, I32EnumAttrCase<"Agent", 1, "agent">,
  I32EnumAttrCase<"System", 2, "system">]>;
def AMD_ScopeAttr : AMD_EnumAttr<AMD_Scope, "scope">;

def AMD_Update : AMD_Enum<"Update", "what an atomic operation does to memory", [
  I32EnumAttrCase<"Add", 0, "add">, I32EnumAttrCase<"FAdd", 1, "fadd">,
  I32EnumAttrCase<"And", 2, "and">, I32EnumAttrCase<"Or", 3, "or">,
  I32EnumAttrCase<"Xor", 4, "xor">, I32EnumAttrCase<"Exchange", 5, "exchange">,
  I32EnumAttrCase<"Max", 6, "max">, I32EnumAttrCase<"Min", 7, "min">,
  I32EnumAttrCase<"UMax", 8, "umax">, I32EnumAttrCase<"UMin", 9, "umin">]>;
def AMD_UpdateAttr : AMD_EnumAttr<AMD_Update, "update">;

def AMD_Rounding : AMD_Enum<"Rounding", "a rounding to integers", [
  I32EnumAttrCase<"Nearest", 0, "nearest">, I32EnumAttrCase<"Zero", 1, "zero">,
  I32EnumAttrCase<"Down", 2, "down">, I32EnumAttrCase<"Up", 3, "up">]>;
def AMD_RoundingAttr : AMD_EnumAttr<AMD_Rounding, "rounding">;

def AMD_Function : AMD_Enum<"Function", "what the transcendental unit approximates", [
  I32EnumAttrCase<"Exp2", 0, "exp2">, I32EnumAttrCase<"Rsqrt", 1, "rsqrt">]>;
def AMD_FunctionAttr : AMD_EnumAttr<AMD_Function, "function">;

#endif // NEREID_DIALECT_AMD_IR_AMDDIALECT
