//===- BuiltinTableTest.cpp - The table and its documents ------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/IRGen/Builtins/Builtins.h"
#include "nereid/IRGen/testing/BuiltinTesting.h"

#include "nereid/Support/testing/GeneratedPage.h"
#include "nereid/Syntax/Parser.h"

#include <filesystem>
#include <fstream>
#include <set>

using namespace nereid;
using namespace nereid::irgen;
using testing::HasSubstr;

namespace {

const Builtin &row(llvm::StringRef module, llvm::StringRef name) {
  const Builtin *found = BuiltinTable::get().find(module, name);
  EXPECT_NE(found, nullptr) << name.str();
  return *found;
}

TEST(BuiltinTable, ReadsSignatures) {
  const Builtin &load = row("tl", "load");
  ASSERT_EQ(load.parameters.size(), 8u);
  EXPECT_EQ(load.parameters[0].name, "pointer");
  EXPECT_FALSE(load.parameters[0].hasDefault);
  EXPECT_TRUE(load.parameters[1].defaultValue.isNone());
  EXPECT_EQ(load.parameters[3].kind, ParameterKind::Ints);
  EXPECT_EQ(load.parameters[5].defaultValue.string(), "");
  EXPECT_EQ(load.parameters[7].kind, ParameterKind::Bool);
  const Builtin &reshape = row("tl", "reshape");
  EXPECT_TRUE(reshape.parameters[1].isVariadic);
  const Builtin &replace = row("tl", "aggregate_replace");
  EXPECT_TRUE(replace.parameters[1].takesKeywords);
  EXPECT_TRUE(reshape.parameters[2].keywordOnly);
  EXPECT_EQ(row("tl", "rand").parameters[2].defaultValue.integer(), 10);
}

TEST(BuiltinTable, FindsByModuleAndAsMember) {
  const BuiltinTable &table = BuiltinTable::get();
  EXPECT_EQ(table.find("tl", "exp"), table.find("tl.math", "exp"));
  EXPECT_EQ(table.find("tl", "to"), nullptr) << "a method only";
  EXPECT_NE(table.findMember("tl", "to"), nullptr);
  EXPECT_EQ(table.findMember("tl", "arange"), nullptr);
  EXPECT_NE(table.findMember("tensor_descriptor", "load"), nullptr);
  EXPECT_NE(table.findMember("tensor_descriptor", "load"),
            table.find("tl", "load"));
  EXPECT_EQ(table.find("tl", "lod"), nullptr);
}

TEST(BuiltinTable, EveryRowIsDescribedAndEveryLibraryExists) {
  for (const auto &builtin : BuiltinTable::get().rows()) {
    EXPECT_TRUE((builtin->flags & Internal) || !builtin->summary.empty())
        << builtin->name;
    EXPECT_TRUE(builtin->emit || !builtin->library.empty()) << builtin->name;
    if (!builtin->library.empty()) {
      EXPECT_FALSE(librarySource(builtin->library).empty()) << builtin->name;
    }
  }
}

/// The functions that public kernels use most (section 2b of the survey), and
/// the attributes' functions beyond them that we promise.
TEST(BuiltinTable, HasWhatKernelsUse) {
  for (const char *name : {"store",
                           "load",
                           "arange",
                           "program_id",
                           "sum",
                           "zeros",
                           "where",
                           "dot",
                           "cdiv",
                           "make_block_ptr",
                           "exp",
                           "num_programs",
                           "range",
                           "max",
                           "full",
                           "maximum",
                           "log",
                           "atomic_add",
                           "sqrt",
                           "rsqrt",
                           "minimum",
                           "trans",
                           "static_range",
                           "reshape",
                           "cumsum",
                           "static_assert",
                           "sigmoid",
                           "cast",
                           "multiple_of",
                           "max_contiguous",
                           "abs",
                           "exp2",
                           "broadcast_to",
                           "advance",
                           "reduce",
                           "make_tensor_descriptor",
                           "log2",
                           "min",
                           "assume",
                           "debug_barrier",
                           "inline_asm_elementwise",
                           "clamp",
                           "dot_scaled",
                           "associative_scan",
                           "rand",
                           "split",
                           "permute",
                           "erf",
                           "join",
                           "device_assert",
                           "expand_dims",
                           "zeros_like",
                           "device_print",
                           "argmax",
                           "ravel",
                           "interleave",
                           "atomic_cas",
                           "atomic_xchg",
                           "philox",
                           "floor",
                           "atomic_poll",
                           "map_elementwise",
                           "fdiv",
                           "static_print",
                           "atomic_max",
                           "argmin",
                           "sin",
                           "cos",
                           "fma",
                           "to_tensor",
                           "gather",
                           "sort",
                           "randint4x",
                           "atomic_min",
                           "histogram",
                           "ceil",
                           "view",
                           "topk",
                           "item",
                           "cat",
                           "swizzle2d",
                           "broadcast",
                           "squeeze",
                           "unsqueeze",
                           "softmax",
                           "expect_zero",
                           "sqrt_rn",
                           "div_rn",
                           "umulhi",
                           "condition",
                           "randint",
                           "randn",
                           "flip",
                           "load_tensor_descriptor",
                           "store_tensor_descriptor",
                           "bitonic_merge",
                           "reduce_or",
                           "add",
                           "mul",
                           "sub",
                           "max_constancy",
                           "xor_sum",
                           "cumprod",
                           "randn4x",
                           "rand4x",
                           "extern_elementwise",
                           "uint_to_uniform_float",
                           "pair_uniform_to_normal",
                           "atomic_and",
                           "atomic_or",
                           "atomic_xor"}) {
    EXPECT_NE(BuiltinTable::get().find("tl", name), nullptr) << name;
  }
  for (const char *name :
       {"tanh",      "pow",          "rsqrt",        "erf",       "exp",
        "fast_tanh", "fast_dividef", "fast_erf",     "fast_expf", "philox",
        "finitef",   "isfinited",    "exp2",         "log2",      "rint",
        "div_rn",    "trunc",        "llrint",       "log",       "sqrt_rn",
        "sin",       "cos",          "fast_cosf",    "fast_sinf", "isinf",
        "isnan",     "fast_log2f",   "ceil",         "fast_logf", "floor",
        "ffs",       "asin",         "atan",         "atan2",     "clz",
        "expm1",     "fast_gelu",    "fast_sigmoid", "fma",       "fmod",
        "log1p",     "popc",         "rcp_rn",       "rsqrt_rn",  "sqrt",
        "acos",      "abs",          "lgamma",       "erfinv",    "normcdf"}) {
    EXPECT_NE(BuiltinTable::get().find("libdevice", name), nullptr) << name;
  }
}

/// Source and rows agree: a function that no row leads to is dead, a row whose
/// function is missing fails when first called.
TEST(BuiltinTable, LibraryFunctionsAreDefined) {
  for (const auto &builtin : BuiltinTable::get().rows()) {
    llvm::StringRef text = librarySource(builtin->library);
    if (!builtin->library.empty() && builtin->name != "atomic_poll") {
      EXPECT_TRUE(text.contains("\ndef " + builtin->name + "("))
          << builtin->name;
    }
  }
}

TEST(BuiltinTable, DocumentIsCurrent) {
  std::filesystem::path root = std::filesystem::path(__FILE__)
                                   .parent_path()
                                   .parent_path()
                                   .parent_path()
                                   .parent_path();
  std::ifstream file(root / "docs" / "BUILTINS.md");
  std::string text{std::istreambuf_iterator<char>(file), {}};
  EXPECT_EQ(differenceOfPage("docs/BUILTINS.md", text, builtinsMarkdown()), "");
}

TEST(BuiltinTable, WrongCallsAreExplained) {
  EXPECT_THAT(errorOf("x: *fp32", "tl.lod(x)"), HasSubstr("'load'"));
  EXPECT_THAT(errorOf("x: *fp32", "tl.load(x, msk=True)"), HasSubstr("'mask'"));
  EXPECT_THAT(errorOf("x: *fp32", "tl.load()"), HasSubstr("pointer"));
  EXPECT_THAT(errorOf("n: i32", "tl.arange(0, n)"), HasSubstr("end"));
  EXPECT_THAT(errorOf("x: *fp32", "v = tl.load(x + tl.arange(0, 4))\n"
                                  "v.sums()"),
              HasSubstr("'sum'"));
  EXPECT_THAT(errorOf("x: *fp32", "libdevice.tanhh(tl.load(x))"),
              HasSubstr("'tanh'"));
}

} // namespace
