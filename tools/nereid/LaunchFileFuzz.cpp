//===- LaunchFileFuzz.cpp - Any text as a launch file ---------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A launch file is read or refused with a message that names the file. Nothing
// is launched, and no file is touched.
//
//===----------------------------------------------------------------------===//

#include "Commands.h"
#include "LaunchFile.h"

#include "nereid/Runtime/Error.h"

#include <cstdlib>

using namespace nereid;

/// The headers refer to it; launches are not run here.
std::unique_ptr<KernelCompiler> nereid::createKernelCompiler() {
  return nullptr;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string text(reinterpret_cast<const char *>(data), size);
  try {
    JsonReader::Json json = parseJson("fuzz.json", text);
    LaunchDescription launch =
        readLaunch(JsonReader("fuzz.json", json), "/nonexistent");
    if (launch.kernel.find('\0') == 0 || launch.repeat < 0) {
      std::abort();
    }
  } catch (const Error &error) {
    if (error.code() != ErrorCode::InvalidArgument ||
        error.message().find("fuzz.json") == std::string::npos) {
      std::abort();
    }
  }
  return 0;
}

/// Every key that there is, so that mutations begin where readers do.
static const std::string_view whole =
    R"({"kernel": {"file": "k.py", "name": "k"}, "grid": [1, 2, 3], "device": "cpu",
"storages": [{"hex": "00ff", "bytes": 64, "fill": 7, "skew": 4, "out": "o"}, {"file": "x", "pointers": [{"at": 8, "storage": 0, "offset": 4}]},
{"npy": "x.npy"}, {"generate": "randn:f32[8]", "seed": 3}], "arguments": {"a": {"tensor": {"dtype": "fp32", "shape": [2], "strides": [1],
"storage": 0, "offset": 0}}, "b": {"int": "18446744073709551615"}, "c": {"float": "0x1.8p+3"}, "d": [1, 2.5, true, null, "s"], "e": {"tuple": [1],
"names": ["x"], "type": "P"}, "f": {"descriptor": {"base": {"dtype": "fp16", "shape": [4, 4], "storage": 0}, "shape": [4, 4], "strides": [4, 1],
"block_shape": [2, 2], "padding": "nan"}}, "g": {"function": "h"}, "i": {"dtype": "bf16"}}, "options": {"num_warps": 8}, "bind": {"m.N": 3},
"repeat": 2, "id": "x"})";

extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t maxSize);
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size,
                                          size_t maxSize, unsigned int seed) {
  if (seed % 16 == 0 && whole.size() <= maxSize) {
    whole.copy(reinterpret_cast<char *>(data), whole.size());
    size = whole.size();
  }
  return LLVMFuzzerMutate(data, size, maxSize);
}
