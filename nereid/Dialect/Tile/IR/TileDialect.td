//===- TileDialect.td - The dialect, its types and enums -*- tablegen -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_DIALECT_TILE_IR_TILEDIALECT
#define NEREID_DIALECT_TILE_IR_TILEDIALECT

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"

def Tile_Dialect : Dialect {
  let name = "tile";
  let cppNamespace = "::nereid::tile";
  let summary = "Block-level programs: the language's meaning, nothing of a target";
  let description = [{
    A kernel is a `func.func` with the attribute `tile.kernel`. Each argument
    carries `tile.name` (the parameter), `tile.dtype` (its type as the language
    spells it, so that unsigned survives: "u32", "*fp16") and, where the launch
    guarantees it, `tile.divisibility`. Values are scalars (`f32`, `i64`,
    `!tile.ptr<f16>`) or blocks (`tensor<128x64xf16>`,
    `tensor<64x!tile.ptr<f32>>`) of any static shape, powers of two or not.
    Integers are signless: signedness is in the operation. Element-wise
    arithmetic is `arith` and `math` on scalars and tensors, control flow is
    `scf`, and this dialect adds what they lack. An `i1` never lives in memory:
    the language's int1 pointers are `!tile.ptr<i8>` here.
  }];
  let useDefaultTypePrinterParser = 1;
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::math::MathDialect",
    "::mlir::scf::SCFDialect", "::mlir::func::FuncDialect"
  ];
  let hasConstantMaterializer = 1;
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

def Tile_PtrType : TypeDef<Tile_Dialect, "Ptr"> {
  let mnemonic = "ptr";
  let summary = "Address of elements of one type in global memory";
  let parameters = (ins "::mlir::Type":$pointee);
  let builders = [TypeBuilderWithInferredContext<(ins "::mlir::Type":$pointee), [{
    return $_get(pointee.getContext(), pointee);
  }]>];
  let assemblyFormat = "`<` $pointee `>`";
  let genVerifyDecl = 1;
}

def Tile_Float : AnyTypeOf<[F8E4M3FN, F8E5M2, F16, BF16, F32, F64]>;
def Tile_Int : AnyTypeOf<[I1, I8, I16, I32, I64]>;
def Tile_Number : AnyTypeOf<[Tile_Int, Tile_Float]>;
def Tile_Scalar : AnyTypeOf<[Tile_Number, Tile_PtrType]>;

def Tile_Tensor : RankedTensorOf<[Tile_Scalar]>;
def Tile_FloatLike : AnyTypeOf<[Tile_Float, RankedTensorOf<[Tile_Float]>]>;
def Tile_IntLike : AnyTypeOf<[Tile_Int, RankedTensorOf<[Tile_Int]>]>;
def Tile_BoolLike : AnyTypeOf<[I1, RankedTensorOf<[I1]>]>;
def Tile_NumberLike : AnyTypeOf<[Tile_Number, RankedTensorOf<[Tile_Number]>]>;
def Tile_PtrLike : AnyTypeOf<[Tile_PtrType, RankedTensorOf<[Tile_PtrType]>]>;
def Tile_Any : AnyTypeOf<[Tile_Scalar, Tile_Tensor]>;

//===----------------------------------------------------------------------===//
// Enums
//===----------------------------------------------------------------------===//

class Tile_Enum<string name, string summary, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::nereid::tile";
}

def Tile_CacheModifier : Tile_Enum<"CacheModifier", "where an access is cached", [
  I32EnumAttrCase<"None", 0, "none">, I32EnumAttrCase<"CA", 1, "ca">,
  I32EnumAttrCase<"CG", 2, "cg">, I32EnumAttrCase<"CS", 3, "cs">,
  I32EnumAttrCase<"CV", 4, "cv">, I32EnumAttrCase<"WB", 5, "wb">,
  I32EnumAttrCase<"WT", 6, "wt">]>;
def Tile_EvictionPolicy : Tile_Enum<"EvictionPolicy", "how soon a line may leave the cache", [
  I32EnumAttrCase<"Normal", 0, "normal">, I32EnumAttrCase<"First", 1, "evict_first">,
  I32EnumAttrCase<"Last", 2, "evict_last">]>;
def Tile_AtomicKind : Tile_Enum<"AtomicKind", "read-modify-write operation", [
  I32EnumAttrCase<"Add", 0, "add">, I32EnumAttrCase<"FAdd", 1, "fadd">,
  I32EnumAttrCase<"Max", 2, "max">, I32EnumAttrCase<"Min", 3, "min">,
  I32EnumAttrCase<"UMax", 4, "umax">, I32EnumAttrCase<"UMin", 5, "umin">,
  I32EnumAttrCase<"FMax", 6, "fmax">, I32EnumAttrCase<"FMin", 7, "fmin">,
  I32EnumAttrCase<"And", 8, "and">, I32EnumAttrCase<"Or", 9, "or">,
  I32EnumAttrCase<"Xor", 10, "xor">, I32EnumAttrCase<"Xchg", 11, "xchg">]>;
def Tile_MemSemantic : Tile_Enum<"MemSemantic", "memory ordering", [
  I32EnumAttrCase<"Relaxed", 0, "relaxed">, I32EnumAttrCase<"Acquire", 1, "acquire">,
  I32EnumAttrCase<"Release", 2, "release">, I32EnumAttrCase<"AcqRel", 3, "acq_rel">]>;
def Tile_MemScope : Tile_Enum<"MemScope", "threads that observe the ordering", [
  I32EnumAttrCase<"Block", 0, "cta">, I32EnumAttrCase<"Device", 1, "gpu">,
  I32EnumAttrCase<"System", 2, "sys">]>;
def Tile_InputPrecision : Tile_Enum<"InputPrecision", "how float32 operands of a dot are read", [
  I32EnumAttrCase<"TF32", 0, "tf32">, I32EnumAttrCase<"TF32x3", 1, "tf32x3">,
  I32EnumAttrCase<"IEEE", 2, "ieee">, I32EnumAttrCase<"BF16x3", 3, "bf16x3">,
  I32EnumAttrCase<"BF16x6", 4, "bf16x6">]>;
def Tile_GridDependency : Tile_Enum<"GridDependency", "what a launch has to do with its neighbours", [
  I32EnumAttrCase<"Wait", 0, "wait">, I32EnumAttrCase<"Launch", 1, "launch">]>;
def Tile_Rounding : Tile_Enum<"Rounding", "rounding of a float conversion", [
  I32EnumAttrCase<"Nearest", 0, "rtne">, I32EnumAttrCase<"TowardZero", 1, "rtz">]>;

//===----------------------------------------------------------------------===//
// Base class
//===----------------------------------------------------------------------===//

/// `mask`, where present, is i1 in the shape of `of`.
class Tile_MaskOf<string of, string present> : TypesMatchWith<
    "mask is i1 in the shape of " # of, of, "mask", "::nereid::tile::getMaskType($_self)",
    "!(" # present # ") || std::equal_to<>()">;

/// `name` has the element type that `ptr` points to, in the shape of `ptr`.
class Tile_PointeeOf<string name, string present = "true"> : TypesMatchWith<
    name # " has the pointee's type and the pointer's shape", "ptr", name,
    "::nereid::tile::getPointeeLike($_self)", "!(" # present # ") || std::equal_to<>()">;

class Tile_Op<string mnemonic, list<Trait> traits = []> : Op<Tile_Dialect, mnemonic, traits>;

#endif
