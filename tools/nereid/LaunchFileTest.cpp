//===- LaunchFileTest.cpp - nereid run --launch ---------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CommandFixture.h"

#include <bit>
#include <cstring>
#include <nlohmann/json.hpp>

using namespace nereid;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

namespace {

constexpr const char *launchKernels = R"(from typing import NamedTuple

import triton
import triton.language as tl


@triton.jit
def shift(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(y_ptr + i, tl.load(x_ptr + i, mask=i < n, other=0) + 1, mask=i < n)


@triton.jit
def where(x_ptr, out_ptr):
    tl.store(out_ptr, x_ptr.to(tl.int64) % 256)


@triton.jit
def gather(table, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    p = tl.load(table + tl.program_id(0)).to(tl.pointer_type(tl.float32))
    x = tl.load(p + i, mask=i < n, other=0)
    tl.store(out_ptr + tl.program_id(0) * n + i, x, mask=i < n)


@triton.jit
def scalars(out_ptr, big, f, flag, T: tl.constexpr, MODE: tl.constexpr, P: tl.constexpr):
    tl.store(out_ptr, (big >> 32).to(tl.float64))
    tl.store(out_ptr + 1, f.to(tl.float64))
    tl.store(out_ptr + 2, flag.to(tl.float64))
    tl.store(out_ptr + 3, tl.full([], T[0] * 10 + T[1], tl.float64))
    if MODE == "even":
        tl.store(out_ptr + 4, 4.0)
    tl.store(out_ptr + 5, tl.full([], 6, P).to(tl.float64))


class Pair(NamedTuple):
    first: tl.tensor
    second: tl.tensor


@triton.jit
def twice(x):
    return x * 2


@triton.jit
def add_one(x):
    return x + 1


@triton.jit
def tuples(pointers, pair, f: tl.constexpr, named: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x, (y, n) = pointers
    swapped = Pair(pair.second, pair.first)
    value = f(tl.load(x + i)) * pair.second + swapped.second + named.k
    tl.store(y + i, value, mask=i < n)


@triton.jit
def copy_block(source, target, row, NAN: tl.constexpr):
    block = source.load([row, 0])
    if NAN:
        block = tl.where(block != block, -1.0, block)
    target.store([0, 0], block)
)";

class LaunchFile : public Command {
protected:
  void SetUp() override {
    Command::SetUp();
    write("l.py", launchKernels);
  }
  void write(const std::string &name, std::string_view text) {
    ASSERT_TRUE(writeFileAtomically(root + "/" + name, text).ok());
  }
  template <typename T>
  std::string bytes(std::initializer_list<T> values) {
    std::vector<T> all(values);
    return {reinterpret_cast<const char *>(all.data()), all.size() * sizeof(T)};
  }
  template <typename T>
  std::vector<T> raw(const std::string &name) {
    std::string text = *readFile(root + "/" + name);
    std::vector<T> values(text.size() / sizeof(T));
    std::memcpy(values.data(), text.data(), values.size() * sizeof(T));
    return values;
  }
  std::vector<nlohmann::json> lines(const std::string &text) {
    std::vector<nlohmann::json> result;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) {
      result.push_back(nlohmann::json::parse(line));
    }
    return result;
  }
};

} // namespace

/// Two views of one storage, one element apart: what is written through the
/// second is read through the first.
TEST_F(LaunchFile, ViewsShareMemory) {
  write("x.bin", bytes<float>({1, 2, 3, 4, 5}));
  write("a.json", R"({"kernel": "l.py:shift", "grid": [1],
    "storages": [{"file": "x.bin", "out": "x.out"}],
    "arguments": {
      "x_ptr": {"tensor": {"dtype": "fp32", "shape": [3], "storage": 0}},
      "y_ptr": {"tensor": {"dtype": "fp32", "shape": [3], "strides": [1],
                           "storage": 0, "offset": 8}},
      "n": 3, "BLOCK": 4},
    "options": {"num_warps": 2}})");
  for (const char *device : {"cpu", "interp"}) {
    CommandResult r =
        run("run --launch a.json --device " + std::string(device));
    ASSERT_EQ(r.code, 0) << r.err;
    EXPECT_EQ(r.out, "");
    EXPECT_THAT(raw<float>("x.out"), ElementsAre(1, 2, 2, 3, 4));
  }
}

TEST_F(LaunchFile, LaunchesAreChecked) {
  write("x.bin", bytes<float>({1, 2, 3, 4, 5}));
  write("a.json", R"({"kernel": "l.py:gather", "grid": 2,
    "storages": [{"bytes": 16, "pointers": [{"at": 0, "storage": 1, "offset": 4},
                                            {"at": 8, "storage": 1}]},
                 {"file": "x.bin"}, {"bytes": 12}],
    "arguments": {
      "table": {"tensor": {"dtype": "u64", "shape": [2], "storage": 0}},
      "out_ptr": {"tensor": {"dtype": "fp32", "shape": [2], "storage": 2}},
      "n": 1, "BLOCK": 1}})");
  CommandResult r = run("run --launch a.json --check");
  ASSERT_EQ(r.code, 0) << r.err;
  EXPECT_THAT(r.out, testing::HasSubstr(
                         "check out_ptr on cpu: fp32[2]: right, equal\n"));
  EXPECT_THAT(r.out, testing::Not(testing::HasSubstr("storage")));
  r = run("run --launch a.json --check interp --results r.jsonl");
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_THAT(*readFile(root + "/r.jsonl"),
              testing::HasSubstr("check out_ptr on cpu: fp32[2]: right"));
  EXPECT_EQ(run("run --launch a.json --check=cpu").code, 2);
}

TEST_F(LaunchFile, StoragesBeginWhereTheyAreTold) {
  for (int skew : {0, 1, 12, 255}) {
    write("a.json", R"({"kernel": "l.py:where", "grid": 1,
      "storages": [{"bytes": 1, "skew": )" +
                        std::to_string(skew) +
                        R"(}, {"bytes": 8, "out": "y.out"}],
      "arguments": {
        "x_ptr": {"tensor": {"dtype": "i8", "shape": [1], "storage": 0}},
        "out_ptr": {"tensor": {"dtype": "i64", "shape": [1], "storage": 1}}}})");
    CommandResult r = run("run --launch a.json");
    ASSERT_EQ(r.code, 0) << r.err;
    EXPECT_THAT(raw<int64_t>("y.out"), ElementsAre(skew));
  }
}

TEST_F(LaunchFile, StoragesOfEveryKind) {
  saveNpy(root + "/x.npy", arange({2, 2}, f32));
  const std::pair<const char *, std::vector<float>> cases[] = {
      {R"("npy": "x.npy")", {1, 2, 3, 4}},
      {R"("hex": "0000803f00000040")", {2, 3, 1, 1}},
      {R"("generate": "full:2.5:f32[3]")", {3.5, 3.5, 3.5, 1}},
      {R"("fill": 0)", {1, 1, 1, 1}}};
  for (const auto &[content, expected] : cases) {
    write("a.json", std::string(R"({"kernel": "l.py:shift", "grid": 1,
      "storages": [{)") +
                        content + R"(, "bytes": 16, "out": "x.out"}],
      "arguments": {
        "x_ptr": {"tensor": {"dtype": "fp32", "shape": [4], "storage": 0}},
        "y_ptr": {"tensor": {"dtype": "fp32", "shape": [4], "storage": 0}},
        "n": 4, "BLOCK": 4}})");
    CommandResult r = run("run --launch a.json");
    ASSERT_EQ(r.code, 0) << content << r.err;
    EXPECT_EQ(raw<float>("x.out"), expected) << content;
  }
}

TEST_F(LaunchFile, TablesOfPointers) {
  write("a.json", R"({"kernel": "l.py:gather", "grid": [2],
    "storages": [
      {"bytes": 24, "fill": 17, "out": "table.out",
       "pointers": [{"at": 0, "storage": 1, "offset": 4},
                    {"at": 8, "storage": 1}]},
      {"generate": "arange:f32[4]"},
      {"bytes": 24, "out": "y.out"}],
    "arguments": {
      "table": {"tensor": {"dtype": "i64", "shape": [2], "storage": 0}},
      "out_ptr": {"tensor": {"dtype": "fp32", "shape": [2, 3], "storage": 2}},
      "n": 3, "BLOCK": 4}})");
  CommandResult r = run("run --launch a.json");
  ASSERT_EQ(r.code, 0) << r.err;
  EXPECT_THAT(raw<float>("y.out"), ElementsAre(1, 2, 3, 0, 1, 2));
  // As it was read, and not with this process's addresses.
  EXPECT_EQ(*readFile(root + "/table.out"), std::string(24, '\x11'));
}

TEST_F(LaunchFile, ScalarsOfEveryKind) {
  write("a.json", R"({"kernel": {"file": "l.py", "name": "scalars"}, "grid": 1,
    "storages": [{"bytes": 48, "out": "y.out"}],
    "arguments": {
      "out_ptr": {"tensor": {"dtype": "fp64", "shape": [6], "storage": 0}},
      "big": {"int": "9223372036854775808"}, "f": {"float": "-0x1.8p+1"},
      "flag": true, "T": [7, 3], "MODE": "even", "P": {"dtype": "int8"}}})");
  CommandResult r = run("run --launch a.json");
  ASSERT_EQ(r.code, 0) << r.err;
  EXPECT_THAT(raw<double>("y.out"), ElementsAre(0x1p31, -3, 1, 73, 4, 6));
}

TEST_F(LaunchFile, TuplesNamedTuplesAndFunctions) {
  for (const char *device : {"cpu", "interp"}) {
    for (auto [function, expected] :
         {std::pair("twice", std::vector<float>{105, 125, 145, 0}),
          std::pair("add_one", std::vector<float>{115, 125, 135, 0})}) {
      write("a.json", std::string(R"({"kernel": "l.py:tuples", "grid": 1,
        "storages": [{"generate": "arange:f32[4]"},
                     {"bytes": 16, "out": "y.out"}],
        "arguments": {
          "pointers": [
            {"tensor": {"dtype": "fp32", "shape": [4], "storage": 0}},
            [{"tensor": {"dtype": "fp32", "shape": [4], "storage": 1}}, 3]],
          "pair": {"tuple": [5, 10], "names": ["first", "second"],
                   "type": "Pair"},
          "f": {"function": ")") +
                          function + R"("},
          "named": {"tuple": [100], "names": ["k"]}, "BLOCK": 4}})");
      CommandResult r =
          run("run --launch a.json --device " + std::string(device));
      ASSERT_EQ(r.code, 0) << r.err;
      EXPECT_EQ(raw<float>("y.out"), expected) << device << function;
    }
  }
}

TEST_F(LaunchFile, DescriptorsMadeByTheHost) {
  for (const char *padding : {"zero", "nan"}) {
    for (const char *device : {"cpu", "interp"}) {
      write("a.json", std::string(R"({"kernel": "l.py:copy_block", "grid": 1,
        "storages": [{"generate": "arange:f32[64]"},
                     {"bytes": 64, "out": "y.out"}],
        "arguments": {
          "source": {"descriptor": {
            "base": {"dtype": "fp32", "shape": [3, 4], "strides": [8, 1],
                     "storage": 0, "offset": 32},
            "shape": [3, 4], "strides": [8, 1], "block_shape": [2, 8],
            "padding": ")") +
                          padding + R"("}},
          "target": {"descriptor": {
            "base": {"dtype": "fp32", "shape": [2, 8], "storage": 1},
            "shape": [2, 8], "strides": [8, 1], "block_shape": [2, 8]}},
          "row": 2, "NAN": )" +
                          (*padding == 'n' ? "true" : "false") + "}}");
      CommandResult r =
          run("run --launch a.json --device " + std::string(device));
      ASSERT_EQ(r.code, 0) << r.err;
      float p = *padding == 'n' ? -1 : 0;
      EXPECT_THAT(raw<float>("y.out"), ElementsAre(24, 25, 26, 27, p, p, p, p,
                                                   p, p, p, p, p, p, p, p));
    }
  }
}

TEST_F(LaunchFile, ABatchGoesOnAfterARefusal) {
  std::string good = R"({"kernel": "l.py:shift", "grid": 1, "id": "GOOD",
    "storages": [{"bytes": 16, "out": "x.out"}],
    "arguments": {
      "x_ptr": {"tensor": {"dtype": "i32", "shape": [4], "storage": 0}},
      "y_ptr": {"tensor": {"dtype": "i32", "shape": [4], "storage": 0}},
      "n": 4, "BLOCK": 4}, "repeat": 3})";
  std::erase(good, '\n');
  std::string wrong = R"({"kernel": "l.py:shift", "grid": 1, "id": "WRONG"})";
  write("many.jsonl", wrong + "\n\n" + good + "\n{\n");
  write("list.json", "[" + wrong + "," + good + "]");
  CommandResult r = run("run --launch many.jsonl list.json");
  EXPECT_EQ(r.code, 1) << r.err;
  std::vector<nlohmann::json> results = lines(r.out);
  ASSERT_EQ(results.size(), 5u);
  EXPECT_EQ(results[0]["launch"], "many.jsonl:1");
  EXPECT_EQ(results[0]["id"], "WRONG");
  EXPECT_EQ(results[0]["status"], "refused");
  EXPECT_THAT(results[0]["error"].get<std::string>(),
              HasSubstr("missing arguments"));
  EXPECT_EQ(results[1]["launch"], "many.jsonl:3");
  EXPECT_EQ(results[1]["status"], "ok");
  EXPECT_EQ(results[1]["id"], "GOOD");
  EXPECT_EQ(results[1]["launches"], 3);
  EXPECT_EQ(results[2]["status"], "refused");
  EXPECT_EQ(results[3]["launch"], "list.json:/0");
  EXPECT_EQ(results[4]["status"], "ok");
  // Repeated launches begin with the memory of the first.
  EXPECT_THAT(raw<int32_t>("x.out"), ElementsAre(1, 1, 1, 1));

  r = run("run --launch - --results lines.json < many.jsonl");
  EXPECT_EQ(r.code, 1);
  EXPECT_EQ(r.out, "");
  EXPECT_EQ(lines(*readFile(root + "/lines.json")).size(), 3u);
}

TEST_F(LaunchFile, MistakesAreToldWithTheirPlace) {
  struct Case {
    const char *text, *expected;
  } cases[] = {
      {"{\n  \"kernel\": }",
       "a.json: expected JSON, got a parse error at line 2"},
      {"[]", ""},
      {"3", "a.json: expected an object, got 3"},
      {"{}", "a.json: expected the key \"kernel\", got {}"},
      {R"({"kernel": "l.py:shift", "gird": 1})",
       "got \"gird\"; did you mean 'grid'?"},
      {R"({"kernel": "l.py:shift", "grid": [1, 2, 3, 4]})",
       "a.json: /grid: expected one to three sizes, got [1,2,3,4]"},
      {R"({"kernel": "l.py:shift", "grid": -1})",
       "/grid: expected an integer of at least 0, got -1"},
      {R"({"kernel": "l.py:shift", "grid": 1, "storages": [{}]})",
       "/storages/0: expected \"bytes\", or contents"},
      {R"({"kernel": "l.py:shift", "grid": 1,
           "storages": [{"hex": "0g"}]})",
       "/storages/0/hex: expected two hexadecimal digits a byte, got \"0g\""},
      {R"({"kernel": "l.py:shift", "grid": 1,
           "storages": [{"hex": "00", "fill": 1}]})",
       "/storages/0: expected one of fill, file, hex, npy and generate"},
      {R"({"kernel": "l.py:shift", "grid": 1,
           "storages": [{"hex": "0000", "bytes": 1}]})",
       "/storages/0: expected contents of at most 1 bytes, got 2"},
      {R"({"kernel": "l.py:shift", "grid": 1,
           "storages": [{"file": "none.bin"}]})",
       "none.bin"},
      {R"({"kernel": "l.py:shift", "grid": 1, "storages": [
           {"bytes": 8, "pointers": [{"at": 4, "storage": 0}]}]})",
       "/storages/0/pointers: expected an element within the storage's 8"},
      {R"({"kernel": "l.py:shift", "grid": 1,
           "arguments": {"n": {"integer": 1}}})",
       "/arguments/n: expected a value: a number"},
      {R"({"kernel": "l.py:shift", "grid": 1,
           "arguments": {"n": {"int": "18446744073709551616"}}})",
       "/arguments/n/int: expected an integer from -2^63 to 2^64 - 1"},
      {R"({"kernel": "l.py:shift", "grid": 1,
           "arguments": {"n": {"float": "1.5x"}}})",
       "/arguments/n/float: expected a number, or one as text"},
      {R"({"kernel": "l.py:shift", "grid": 1, "storages": [{"bytes": 8}],
           "arguments": {"x_ptr": {"tensor":
             {"dtype": "fp33", "shape": [1], "storage": 0}}}})",
       "/arguments/x_ptr/tensor/dtype: expected a dtype such as \"fp32\""},
      {R"({"kernel": "l.py:shift", "grid": 1, "storages": [{"bytes": 8}],
           "arguments": {"x_ptr": {"tensor":
             {"dtype": "fp32", "shape": [1], "storage": 1}}}})",
       "/tensor/storage: expected an integer from 0 to 0, got 1"},
      {R"({"kernel": "l.py:shift", "grid": 1, "storages": [{"bytes": 8}],
           "arguments": {"x_ptr": {"tensor":
             {"dtype": "fp32", "shape": [2], "storage": 0, "offset": 4}}}})",
       "/arguments/x_ptr: expected a view within storage 0 of 8 bytes, got "
       "fp32[2] at byte 4, which ends at 12"},
      {R"({"kernel": "l.py:shift", "grid": 1, "storages": [{"bytes": 8}],
           "arguments": {"x_ptr": {"tensor":
             {"dtype": "fp32", "shape": [1], "storage": 0, "offset": 2}}}})",
       "/arguments/x_ptr: a tensor of float32: expected an address that is a "
       "multiple of 4 bytes"},
      {R"({"kernel": "l.py:shift", "grid": 1, "options": {"num_warps": 3}})",
       "launch option 'num_warps': expected a power of two"},
      {R"({"kernel": "l.py:shft", "grid": 1})", "did you mean 'shift'"},
      {R"({"kernel": "l.py:copy_block", "grid": 1, "storages": [{"bytes": 64}],
           "arguments": {"source": {"descriptor": {"base": {"dtype": "fp32",
             "shape": [2, 8], "storage": 0}, "shape": [2, 8],
             "strides": [8, 2], "block_shape": [2, 8]}}}})",
       "/arguments/source: tensor descriptor: expected a last stride of 1"},
      {R"({"kernel": "l.py:tuples", "grid": 1, "arguments": {
           "pointers": [1, [2, 3]], "pair": [1, 2], "f": {"function": "thrice"},
           "named": {"tuple": [1], "names": ["k"]}, "BLOCK": 4}})",
       "no kernel 'thrice'"},
      {R"({"kernel": "l.py:tuples", "grid": 1, "arguments": {
           "pair": {"tuple": [1, 2], "names": ["k"]}}})",
       "/arguments/pair/names: expected one name an item"},
  };
  for (const Case &c : cases) {
    write("a.json", c.text);
    CommandResult r = run("run --launch a.json");
    if (!*c.expected) {
      EXPECT_EQ(r.code, 0) << c.text << r.err;
      continue;
    }
    EXPECT_NE(r.code, 0) << c.text;
    EXPECT_LE(r.code, 2) << c.text << r.err;
    EXPECT_THAT(r.err, HasSubstr(c.expected)) << c.text;
  }
  EXPECT_THAT(run("run --launch a.json --grid 1").err, HasSubstr("--grid"));
  EXPECT_THAT(run("run").err, HasSubstr("or --launch FILE"));
  EXPECT_THAT(run("run --launch none.json").err, HasSubstr("none.json"));
}
