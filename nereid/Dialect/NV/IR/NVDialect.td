//===- NVDialect.td - The dialect and its enums ------------*- tablegen -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_DIALECT_NV_IR_NVDIALECT
#define NEREID_DIALECT_NV_IR_NVDIALECT

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def NV_Dialect : Dialect {
  let name = "nv";
  let cppNamespace = "::nereid::nv";
  let summary = "Instructions of NVIDIA's processors that one thread executes";
  let description = [{
    One operation is one PTX instruction, or a few that nothing may come
    between. Upstream's `nvvm` operations stand beside these wherever they say
    what we mean (docs/DialectNV.md has the list); `nv` has what `nvvm` lacks:
    predicates, other values, offsets that the instruction adds, register
    operands of a given class. Sections in the descriptions are those of the
    "PTX ISA" manual.

    Addresses are integers: i64 of global memory, i32 of shared memory.
  }];
  let useDefaultAttributePrinterParser = 1;
}

class NV_Op<string mnemonic, list<Trait> traits = []> : Op<NV_Dialect, mnemonic, traits>;

class NV_Enum<string name, string summary, list<I32EnumAttrCase> cases> : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::nereid::nv";
  let genSpecializedAttr = 0;
}

class NV_EnumAttr<EnumInfo enum, string mnemonic> : EnumAttr<NV_Dialect, enum, mnemonic>;

def NV_Space : NV_Enum<"Space", "a memory", [
  I32EnumAttrCase<"Global", 0, "global">, I32EnumAttrCase<"Shared", 1, "shared">]>;
def NV_SpaceAttr : NV_EnumAttr<NV_Space, "space">;

/// Section "Cache Operators".
def NV_Cache : NV_Enum<"Cache", "a cache operator", [
  I32EnumAttrCase<"Default", 0, "default">,
  I32EnumAttrCase<"CA", 1, "ca">, I32EnumAttrCase<"CG", 2, "cg">,
  I32EnumAttrCase<"CS", 3, "cs">, I32EnumAttrCase<"CV", 4, "cv">,
  I32EnumAttrCase<"WB", 5, "wb">, I32EnumAttrCase<"WT", 6, "wt">]>;
def NV_CacheAttr : NV_EnumAttr<NV_Cache, "cache">;

/// Section "Cache Eviction Priority Hints".
def NV_Eviction : NV_Enum<"Eviction", "how long a line stays in the first-level cache", [
  I32EnumAttrCase<"Normal", 0, "normal">, I32EnumAttrCase<"First", 1, "evict_first">,
  I32EnumAttrCase<"Last", 2, "evict_last">, I32EnumAttrCase<"NoAllocate", 3, "no_allocate">]>;
def NV_EvictionAttr : NV_EnumAttr<NV_Eviction, "eviction">;

/// Section "Memory Consistency Model".
def NV_Order : NV_Enum<"Order", "a memory order", [
  I32EnumAttrCase<"Weak", 0, "weak">, I32EnumAttrCase<"Volatile", 1, "volatile">,
  I32EnumAttrCase<"Relaxed", 2, "relaxed">, I32EnumAttrCase<"Acquire", 3, "acquire">,
  I32EnumAttrCase<"Release", 4, "release">, I32EnumAttrCase<"AcqRel", 5, "acq_rel">]>;
def NV_OrderAttr : NV_EnumAttr<NV_Order, "order">;

def NV_Scope : NV_Enum<"Scope", "the threads that see an order", [
  I32EnumAttrCase<"Block", 0, "cta">, I32EnumAttrCase<"Device", 1, "gpu">,
  I32EnumAttrCase<"System", 2, "sys">]>;
def NV_ScopeAttr : NV_EnumAttr<NV_Scope, "scope">;

/// Section "atom".
def NV_Update : NV_Enum<"Update", "what an atomic operation does to memory", [
  I32EnumAttrCase<"Add", 0, "add">, I32EnumAttrCase<"FAdd", 1, "fadd">,
  I32EnumAttrCase<"And", 2, "and">, I32EnumAttrCase<"Or", 3, "or">,
  I32EnumAttrCase<"Xor", 4, "xor">, I32EnumAttrCase<"Exchange", 5, "exchange">,
  I32EnumAttrCase<"Max", 6, "max">, I32EnumAttrCase<"Min", 7, "min">,
  I32EnumAttrCase<"UMax", 8, "umax">, I32EnumAttrCase<"UMin", 9, "umin">]>;
def NV_UpdateAttr : NV_EnumAttr<NV_Update, "update">;

/// Section "cvt".
def NV_Rounding : NV_Enum<"Rounding", "a rounding to integers", [
  I32EnumAttrCase<"Nearest", 0, "rni">, I32EnumAttrCase<"Zero", 1, "rzi">,
  I32EnumAttrCase<"Down", 2, "rmi">, I32EnumAttrCase<"Up", 3, "rpi">]>;
def NV_RoundingAttr : NV_EnumAttr<NV_Rounding, "rounding">;

def NV_Function : NV_Enum<"Function", "what the special-function unit approximates", [
  I32EnumAttrCase<"Exp2", 0, "ex2">, I32EnumAttrCase<"Rsqrt", 1, "rsqrt">,
  I32EnumAttrCase<"Tanh", 2, "tanh">]>;
def NV_FunctionAttr : NV_EnumAttr<NV_Function, "function">;

def NV_AssemblerBug : NV_Enum<"AssemblerBug", "what ptxas does to a word that it sees through", [
  I32EnumAttrCase<"HalfOfKnownZero", 0, "half_of_known_zero">,
  I32EnumAttrCase<"EqualLeftOperands", 1, "equal_left_operands">,
  I32EnumAttrCase<"KeptForRarePath", 2, "kept_for_rare_path">]>;
def NV_AssemblerBugAttr : NV_EnumAttr<NV_AssemblerBug, "bug">;

#endif // NEREID_DIALECT_NV_IR_NVDIALECT
