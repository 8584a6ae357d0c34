//===- PreparedTest.cpp - Kernels found by a key, without their text ------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Random expressions, and each again with one thing changed: an operation, an
// operand, a number, a type, a shape, a stride, an offset. Those of one key
// must have one text, which takes its sizes and numbers from the same places;
// a launch by the key gives the bits of a launch of that text.
//
//===----------------------------------------------------------------------===//

#include "kernels/expression/Prepared.h"
#include "kernels/testing/OperatorTest.h"
#include "nereid/Runtime/Context.h"
#include "nereid/Runtime/Error.h"
#include "nereid/Runtime/Grid.h"

#include <atomic>
#include <cstring>
#include <map>
#include <random>
#include <set>
#include <thread>

using namespace nereid;
using namespace nereid::kernels;
using namespace nereid::kernels::expression;

namespace {

/// A step of a program; operands are earlier steps.
struct Step {
  unsigned operation = 0, a = 0, b = 0, c = 0;
  unsigned tensor = 0, number = 0, type = 0, offset = 0;
  bool operator==(const Step &) const = default;
};

using Program = std::vector<Step>;
using Key = std::vector<uint64_t>;

/// [m, n], and what broadcasts to it, in several layouts and types.
std::vector<Tensor> makeTensors(int64_t m, int64_t n) {
  Device cpu = Device::cpu();
  std::vector<Tensor> all;
  for (DType type : {f32, f16, bf16, f64, i32, i8, u8, i64, i1}) {
    all.push_back(rand({m, n}, f32, cpu, 1).to(type));
  }
  all.push_back(rand({n, m}, f32, cpu, 2).transpose(0, 1));
  all.push_back(rand({m, 2 * n}, f32, cpu, 3).slice(1, 0, 2 * n, 2));
  all.push_back(rand({m, 3 * n}, f32, cpu, 4).slice(1, n, 2 * n));
  all.push_back(rand({n}, f32, cpu, 5));
  all.push_back(rand({m, 1}, f32, cpu, 6));
  all.push_back(rand({}, f32, cpu, 7));
  all.push_back(all[0].bitcast(i32)); // the same memory
  all.push_back(all[0].expand({m, n}));
  all.push_back(rand({2, m, n}, f32, cpu, 8));
  all.push_back(rand({2, n, m}, f32, cpu, 9).transpose(1, 2));
  all.push_back(rand({m, 2, n}, f32, cpu, 10).transpose(0, 1));
  return all;
}

Expression numberOf(const Step &step) {
  switch (step.number % 12) {
  case 0:
    return 0.5;
  case 1:
    return 2.0;
  case 2:
    return -0.0;
  case 3:
    return 0.0;
  case 4:
    return 3.7;
  case 5:
    return 3.8;
  case 6:
    return 3;
  case 7:
    return 1000;
  case 8:
    return 1001;
  case 9:
    return int64_t{1} << 40;
  case 10:
    return constant(3.7);
  default:
    return constant(0.5);
  }
}

constexpr DType types[] = {f32, f16, bf16, i32, i64, i1, u8};

/// Enough kinds of nodes that each case of Op is met.
Expression apply(const Step &step, const std::vector<Expression> &given,
                 const std::vector<Tensor> &tensors) {
  auto in = [&](unsigned i) { return given[i % given.size()]; };
  auto number = [&] { return numberOf(step); };
  switch (step.operation % 32) {
  case 0:
  case 1:
  case 2:
    return tensors[step.tensor % tensors.size()];
  case 3:
    return in(step.a) + in(step.b);
  case 4:
    return in(step.a) - in(step.b);
  case 5:
    return in(step.a) * in(step.b);
  case 6:
    return in(step.a) / in(step.b);
  case 7:
    return in(step.a) + number();
  case 8:
    return number() * in(step.a);
  case 9:
    return -in(step.a);
  case 10:
    return in(step.a) < in(step.b);
  case 11:
    return in(step.a) <= number();
  case 12:
    return in(step.a) == in(step.b);
  case 13:
    return where(in(step.a) != number(), in(step.b), in(step.c));
  case 14:
    return where(in(step.a), in(step.b), number());
  case 15:
    return maximum(in(step.a), in(step.b));
  case 16:
    return minimum(in(step.a), number());
  case 17:
    return cast(in(step.a), types[step.type % std::size(types)]);
  case 18:
    return dropout(in(step.a), 0.25, step.number,
                   step.offset % 3 ? 7 : INT32_MAX);
  case 19:
    return pow(in(step.a), in(step.b));
  case 20:
    return pow(in(step.a), number());
  case 21:
    return gelu(in(step.a));
  case 22:
    return geluTanh(in(step.a));
  case 23:
    return silu(in(step.a)) * in(step.b);
  case 24:
    return softplus(in(step.a));
  case 25:
    return relu(in(step.a)) + abs(in(step.b));
  case 26:
    return sin(in(step.a)) * cos(in(step.b));
  case 27:
    return floor(in(step.a)) + round(in(step.b));
  case 28:
    return log1p(in(step.a)) - expm1(in(step.b));
  case 29:
    return exp(in(step.a)) + log(in(step.b));
  case 30:
    return tanh(in(step.a)) * sigmoid(in(step.b));
  default:
    return sqrt(in(step.a)) + rsqrt(in(step.b));
  }
}

/// Nothing: the types or shapes do not fit.
std::optional<Expression> build(const Program &program,
                                const std::vector<Tensor> &tensors) {
  try {
    std::vector<Expression> values;
    for (const Step &step : program) {
      Step own = step;
      own.operation = values.empty() ? 0 : step.operation;
      values.push_back(apply(own, values, tensors));
    }
    if (!values.back().node->device) {
      return std::nullopt;
    }
    Tensor none;
    Recorded(std::span(&values.back().node, 1), none, none, false);
    return values.back();
  } catch (const Error &) {
    return std::nullopt;
  }
}

class Programs {
public:
  explicit Programs(unsigned seed) : random(seed) {}

  unsigned below(unsigned end) { return unsigned(random() % end); }
  Step step() {
    return {below(32),  below(8),  below(8), below(8),
            below(256), below(12), below(7), below(3)};
  }
  Program program() {
    Program made(2 + below(7));
    for (Step &one : made) {
      one = step();
    }
    return made;
  }
  /// With one field of one step changed.
  Program mutant(Program of) {
    Step &one = of[below(unsigned(of.size()))];
    unsigned *fields[] = {&one.operation, &one.a,      &one.b,    &one.c,
                          &one.tensor,    &one.number, &one.type, &one.offset};
    *fields[below(8)] = below(256);
    return of;
  }

private:
  std::mt19937 random;
};

Key keyOf(const Recorded &expression) {
  WordKey key;
  expression.addTo(key);
  return {key.words().begin(), key.words().end()};
}

std::string textWithSources(const KernelText &kernel) {
  std::string text = kernel.text + "sizes";
  for (const SizeSource &size : kernel.sizes) {
    text += " " + std::to_string(int(size.of)) + "." +
            std::to_string(size.tensor) + "." + std::to_string(size.dimension);
  }
  text += " numbers";
  for (const NumberSource &number : kernel.numbers) {
    text += " " + std::to_string(int(number.of)) + "." +
            std::to_string(number.node);
  }
  return text;
}

/// Every key that was met, with its text.
class Texts {
public:
  void add(std::span<const NodePtr> roots, const Tensor &gradient = {},
           const Tensor &result = {}) {
    Recorded expression(roots, gradient, result, false);
    std::string text = textWithSources(writeKernel(expression));
    auto [found, isNew] = byKey.try_emplace(keyOf(expression), text);
    EXPECT_EQ(found->second, text) << "two texts of one key";
    texts.insert(text);
  }
  size_t keys() const { return byKey.size(); }
  size_t different() const { return texts.size(); }

private:
  std::map<Key, std::string> byKey;
  std::set<std::string> texts;
};

/// As `launchPrepared`, from a text that is made now and a kernel of its own.
Tensor computedAnew(const Expression &e) {
  Tensor none;
  Recorded expression(std::span(&e.node, 1), none, none, false);
  KernelText text = writeKernel(expression);
  Context context = Context::current();
  Kernel kernel = Kernel::fromSource({"<expression>", text.text, {}},
                                     "expression_kernel", context);
  Tensor result = empty(e.shape(), e.dtype(), e.device());
  std::pmr::vector<LaunchArgument> arguments = {result};
  addInputs(expression, text, arguments);
  const Loops &loops = expression.loops;
  int64_t programs = 1;
  if (loops.isFlat()) {
    arguments.push_back({"BLOCK", Argument(nextPowerOf2(loops.columns()))});
  } else {
    arguments.push_back({"BLOCK_M", Argument(1)});
    arguments.push_back({"BLOCK_N", Argument(nextPowerOf2(loops.columns()))});
    programs = loops.rows() * loops.batches();
  }
  kernel.launch(Grid(programs), arguments);
  return result;
}

bool haveSameBits(const Tensor &a, const Tensor &b) {
  return a.shape() == b.shape() && a.dtype() == b.dtype() &&
         std::memcmp(a.data(), b.data(), size_t(a.bytes())) == 0;
}

} // namespace

TEST(PreparedExpressions, ofOneKeyHaveOneText) {
  std::vector<std::vector<Tensor>> tensors = {
      makeTensors(4, 6), makeTensors(16, 32), makeTensors(1, 6),
      makeTensors(4, 1)};
  Programs programs(1);
  Texts texts;
  size_t built = 0;
  for (int i = 0; i < 1500; ++i) {
    Program program = programs.program();
    for (int mutant = 0; mutant < 4; ++mutant) {
      const auto &given = tensors[programs.below(unsigned(tensors.size()))];
      if (std::optional<Expression> e =
              build(mutant ? programs.mutant(program) : program, given)) {
        texts.add({&e->node, 1});
        ++built;
      }
    }
  }
  EXPECT_GT(built, 3000u);
  // A key says little more than a text: names of parameters that none reads.
  EXPECT_LT(texts.keys(), texts.different() + texts.different() / 4);
}

TEST(PreparedExpressions, withGradientsResultsAndSeveralRootsHaveOneText) {
  std::vector<Tensor> tensors = makeTensors(4, 6);
  Programs programs(2);
  Texts texts;
  std::vector<Tensor> results = {
      empty({6, 4}, f32, Device::cpu()).transpose(0, 1),
      empty({4, 12}, f32, Device::cpu()).slice(1, 0, 12, 2),
      empty({4, 9}, f32, Device::cpu()).slice(1, 0, 6), Tensor()};
  for (int i = 0; i < 600; ++i) {
    std::optional<Expression> e = build(programs.program(), tensors);
    if (!e || e->shape() != Shape{4, 6}) {
      continue;
    }
    for (const Tensor &result : results) {
      texts.add({&e->node, 1}, {}, result);
    }
    NodePtr leaf = inOrder({&e->node, 1})[0]->shared_from_this();
    if (!isFloat(e->dtype()) || !isFloat(leaf->dtype)) {
      continue;
    }
    NodePtr derived =
        derivatives(e->node, gradientOf(*e->node).node, {&leaf, 1})[0];
    if (!derived || derived->shape != e->shape()) {
      continue;
    }
    for (const Tensor &dy : {tensors[0], tensors[9], tensors[1]}) {
      texts.add({&derived, 1}, dy);
      NodePtr both[] = {derived, e->node}, turned[] = {e->node, derived};
      texts.add(both, dy);
      texts.add(turned, dy);
    }
  }
  EXPECT_GT(texts.different(), 500u);
}

TEST(PreparedExpressions, shareAKeyWhereOnlySizesAndNumbersDiffer) {
  auto keyFor = [](const Expression &e) {
    Tensor none;
    return keyOf(Recorded(std::span(&e.node, 1), none, none, false));
  };
  Device cpu = Device::cpu();
  auto chain = [&](int64_t m, int64_t n, double number) {
    Tensor x = rand({m, n}, f32, cpu, 1), row = rand({n}, f32, cpu, 2);
    return keyFor(gelu(x + row) * number);
  };
  EXPECT_EQ(chain(4, 6, 3.7), chain(40, 60, 99.5));
  EXPECT_NE(chain(4, 6, 3.7), chain(4, 6, 2));   // part of the text
  EXPECT_NE(chain(4, 6, 3.7), chain(1, 6, 3.7)); // no rows
}

TEST(PreparedExpressions, computeTheBitsOfTheirText) {
  std::vector<Tensor> tensors = makeTensors(4, 6);
  Programs programs(3);
  int compared = 0;
  while (compared < 30) {
    std::optional<Expression> e = build(programs.program(), tensors);
    if (!e || e->node->inputs.empty()) {
      continue;
    }
    Tensor first = evaluate(*e), second = evaluate(*e);
    EXPECT_TRUE(haveSameBits(first, second)) << source(*e);
    EXPECT_TRUE(haveSameBits(first, computedAnew(*e))) << source(*e);
    ++compared;
  }
}

TEST(PreparedExpressions, areFoundByThreadsAtOnce) {
  Tensor x = rand({64}, f32, Device::cpu(), 1);
  std::vector<double> expected = evaluate(Expression(x) * 3.25 + 1).toFloat64();
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 50; ++i) {
        // The second is new to all of them.
        Tensor y = evaluate(Expression(x) * 3.25 + 1),
               z = evaluate(maximum(Expression(x) * 3.25 + 1, i % 7));
        wrong += y.toFloat64() != expected || z.numel() != 64;
      }
    });
  }
  for (std::thread &thread : threads) {
    thread.join();
  }
  EXPECT_EQ(wrong, 0);
}
