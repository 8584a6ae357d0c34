//===- Snippet.h - A kernel as text, run on vectors ------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   Snippet(GetParam(), "tl.store(y + tl.arange(0, N), tl.sort(tl.load(...")
//       .array("x", x).array("y", y).constant("N", 7).run();
//
// Parameters are declared in the order in which they are given.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_TEST_BUILTINS_SNIPPET_H
#define NEREID_TEST_BUILTINS_SNIPPET_H

#include "nereid/ABI/KernelCompiler.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <cstdlib>
#include <cstring>
#include <random>
#include <sstream>

namespace nereid::test {

template <typename T>
constexpr DType dtypeOf() {
  if constexpr (std::is_same_v<T, float>) {
    return DType::Float32;
  } else if constexpr (std::is_same_v<T, double>) {
    return DType::Float64;
  } else if constexpr (std::is_same_v<T, int8_t>) {
    return DType::Int8;
  } else if constexpr (std::is_same_v<T, int16_t>) {
    return DType::Int16;
  } else if constexpr (std::is_same_v<T, int32_t>) {
    return DType::Int32;
  } else if constexpr (std::is_same_v<T, int64_t>) {
    return DType::Int64;
  } else if constexpr (std::is_same_v<T, uint8_t>) {
    return DType::UInt8;
  } else if constexpr (std::is_same_v<T, uint16_t>) {
    return DType::UInt16;
  } else if constexpr (std::is_same_v<T, uint32_t>) {
    return DType::UInt32;
  } else {
    static_assert(std::is_same_v<T, uint64_t>);
    return DType::UInt64;
  }
}

class Snippet {
public:
  /// `body`: lines of the kernel, not indented; `helpers`: text before it.
  Snippet(std::string target, std::string body, std::string helpers = {})
      : body(std::move(body)), helpers(std::move(helpers)) {
    request.target = std::move(target);
  }

  template <typename T>
  Snippet &array(const char *name, std::vector<T> &data,
                 DType dtype = dtypeOf<T>()) {
    declare(name, RuntimeArgument{dtype, true, false, false});
    slots.push_back(reinterpret_cast<uint64_t>(data.data()));
    return *this;
  }
  template <typename T>
  Snippet &scalar(const char *name, T value) {
    declare(name, RuntimeArgument{dtypeOf<T>(), false, false, false});
    uint64_t slot = 0;
    std::memcpy(&slot, &value, sizeof value);
    slots.push_back(slot);
    return *this;
  }
  Snippet &constant(const char *name, StaticValue value) {
    declare(std::string(name) + ": tl.constexpr", std::move(value));
    return *this;
  }

  Snippet &as(LanguageVersion language) {
    request.source.language = language;
    return *this;
  }

  /// Compiles and runs; a failure to compile fails the test with its message.
  void run(int32_t x = 1, int32_t y = 1, int32_t z = 1) {
    static const std::unique_ptr<KernelCompiler> compiler =
        createKernelCompiler();
    request.source.path = "snippet.py";
    request.source.text = text();
    request.kernel = "k";
    Expected<CompileResult> result = compiler->compile(request);
    ASSERT_TRUE(result.ok()) << result.failure().str();
    Expected<HostCode> code = compiler->load(result->image);
    ASSERT_TRUE(code.ok()) << code.failure().str();
    size_t bytes = (result->image.scratchBytes + 63) / 64 * 64 + 64;
    std::unique_ptr<void, decltype(&std::free)> scratch(
        std::aligned_alloc(64, bytes), std::free);
    LaunchFrame frame{
        slots.data(), {x, y, z}, 0, static_cast<std::byte *>(scratch.get()),
        nullptr,      {0, 0, 0}};
    code->entry(code->self, &frame, 0, int64_t{x} * y * z);
  }

private:
  void declare(const std::string &parameter, ArgumentSpec spec) {
    parameters += (parameters.empty() ? "" : ", ") + parameter;
    request.arguments.push_back(std::move(spec));
  }

  std::string text() const {
    std::ostringstream out;
    out << "import triton\nimport triton.language as tl\n"
           "from triton.language.extra import libdevice\n"
        << helpers << "\n@triton.jit\ndef k(" << parameters << "):\n";
    std::istringstream lines(body);
    for (std::string line; std::getline(lines, line);) {
      out << "    " << line << '\n';
    }
    return out.str();
  }

  std::string body, helpers, parameters;
  CompileRequest request;
  std::vector<uint64_t> slots;
};

/// Seeded values in [low, high).
template <typename T>
std::vector<T> randomValues(size_t count, double low, double high,
                            uint32_t seed = 1) {
  std::mt19937 engine(seed);
  std::uniform_real_distribution<double> uniform(low, high);
  std::vector<T> values(count);
  for (T &value : values) {
    value = static_cast<T>(uniform(engine));
  }
  return values;
}

/// A test of every host target.
class OnTarget : public testing::TestWithParam<const char *> {};

} // namespace nereid::test

#endif // NEREID_TEST_BUILTINS_SNIPPET_H
