//===- LinearTest.cpp -------------------------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/linear/Linear.h"
#include "kernels/linear/Product.h"
#include "kernels/linear/reference.h"
#include "kernels/operator/OperatorKernel.h"
#include "kernels/testing/OperatorTest.h"
#include "nereid/Runtime/Error.h"

#include <gmock/gmock.h>

using namespace nereid;
using namespace nereid::kernels;
using ::testing::HasSubstr;

NEREID_OPERATOR_TEST(Linear);

namespace {

constexpr auto activations = {Activation::None, Activation::Relu,
                              Activation::Gelu, Activation::GeluTanh,
                              Activation::Silu};

/// activation(product * scale + bias) + residual.
Numbers withOptions(Numbers y, const MatmulOptions &options, size_t n) {
  Numbers bias = exactly(options.bias), residual = exactly(options.residual);
  for (size_t i = 0; i < y.size(); ++i) {
    Number z = options.scale == 1 ? y[i] : y[i] * options.scale;
    z = bias.empty() ? z : z + bias[i % n];
    z = reference::activate(z, options.activation);
    y[i] = residual.empty() ? z : z + residual[i];
  }
  return y;
}

} // namespace

TEST_P(Linear, matmulAgreesWithDoublePrecision) {
  int64_t most = isSlow ? 40 : 260;
  forCases([&] {
    int64_t m = awkwardSize(most), n = awkwardSize(most), k = awkwardSize(most);
    int64_t ofA = coin() ? 0 : pick(1, 3), // 0: two dimensions
        ofB = oneOf<int64_t>({0, 1, std::max<int64_t>(ofA, 1)});
    DType dtype = floatType();
    Tensor a = random(ofA ? Shape{ofA, m, k} : Shape{m, k}, dtype),
           b = random(ofB ? Shape{ofB, k, n} : Shape{k, n}, dtype);
    MatmulOptions options;
    options.activation = oneOf(activations);
    Shape shape = ofA || ofB ? Shape{std::max(ofA, ofB), m, n} : Shape{m, n};
    if (coin()) {
      options.bias = random({n}, coin() ? f32 : dtype);
    }
    if (coin()) {
      options.residual = random(shape, dtype);
    }
    if (coin()) {
      options.scale = 0.25;
    }
    if (coin()) {
      options.type = f32;
    }
    Tensor y = matmul(a, b, options);
    EXPECT_EQ(y.shape(), shape);
    Numbers expected = reference::product(
        exactly(a), size_t(std::max<int64_t>(ofA, 1)), exactly(b),
        size_t(std::max<int64_t>(ofB, 1)), size_t(m), size_t(n), size_t(k));
    expectClose(y, withOptions(expected, options, size_t(n)), "y");
    EXPECT_EQ(matmul(a, b, options).toFloat64(), y.toFloat64()) << "other bits";
  });
}

// roles_kernel with more slots than blocks along K, as many and fewer, and with
// none, whole or in pieces; K = 0 has no tensor map, and takes another kernel.
TEST_P(Linear, rolesOfWarpsAgreeWithDoublePrecision) {
  forCases([&] {
    int64_t k = oneOf<int64_t>({0, 16, 24, 64, 128, 176, 200, 320, 560});
    int64_t m = 8 * pick(1, 18), n = 8 * pick(1, 18), batches = pick(1, 2);
    DType dtype = coin() ? bf16 : f16;
    Product product;
    product.a = coin() ? random({batches, m, k}, dtype)
                       : random({batches, k, m}, dtype).transpose(1, 2);
    product.b = coin() ? random({batches, k, n}, dtype)
                       : random({batches, n, k}, dtype).transpose(1, 2);
    product.options.activation = oneOf(activations);
    if (coin()) {
      product.options.bias = random({n}, f32);
    }
    if (coin()) {
      product.options.residual = random({batches, m, n}, dtype);
    }
    ProductPlan plan;
    plan.blockM = plan.blockK = 64;
    plan.blockN = oneOf<int64_t>({64, 128});
    plan.stages = int(pick(2, 4));
    plan.splits = k < 128 || coin() ? 1 : pick(2, 3);
    plan.hasRoles = true;
    plan.rows = batches == 1 && coin() ? pick(0, m) : 0;
    product.plan = plan;
    Tensor y = run(product);
    Numbers expected = reference::product(exactly(product.a), size_t(batches),
                                          exactly(product.b), size_t(batches),
                                          size_t(m), size_t(n), size_t(k));
    expectClose(y, withOptions(expected, product.options, size_t(n)), "y");
    EXPECT_EQ(run(product).toFloat64(), y.toFloat64()) << "other bits";
  });
}

// Whole numbers so small that no sum is rounded, in whatever order.
TEST_P(Linear, rolesOfWarpsMultiplyBytes) {
  forCases([&] {
    int64_t k = 16 * pick(1, 24), m = 16 * pick(1, 9), n = 16 * pick(1, 9);
    DType dtype = hasCompiler() ? oneOf({i8, fp8e4nv, fp8e5}) : i8;
    auto numbers = [&](Shape shape, uint64_t of) {
      return randint(shape, -4, 5, i32, Device::cpu(), of)
          .to(f32)
          .to(dtype)
          .to(device);
    };
    Product product;
    product.a = numbers({1, m, k}, seed);
    product.b = numbers({1, n, k}, seed + 1).transpose(1, 2);
    if (dtype != i8) {
      product.options.type = f32;
    }
    ProductPlan plan;
    plan.blockM = 64;
    plan.blockN = oneOf<int64_t>({64, 128});
    plan.blockK = oneOf<int64_t>({128, 256});
    plan.stages = int(pick(2, 3));
    plan.hasRoles = true;
    product.plan = plan;
    Values expected;
    for (const Number &sum :
         reference::product(exactly(product.a), 1, exactly(product.b), 1,
                            size_t(m), size_t(n), size_t(k))) {
      expected.push_back(sum.value);
    }
    EXPECT_EQ(run(product).toFloat64(), expected);
  });
}

TEST_P(Linear, matmulOfFp8HasAResultOfBf16) {
  if (!hasCompiler()) {
    GTEST_SKIP() << "products of fp8 want a compiler";
  }
  Tensor a = randn({9, 33}, f32, Device::cpu(), 1).to(fp8e4nv).to(device),
         b = randn({33, 7}, f32, Device::cpu(), 2).to(fp8e4nv).to(device);
  Tensor y = matmul(a, b);
  EXPECT_EQ(y.dtype(), bf16);
  expectClose(y, reference::product(exactly(a), 1, exactly(b), 1, 9, 7, 33),
              "y");
}

// Few enough rows that a kernel of their own takes them, and one more; so few
// terms; and lines of memory along each dimension of the weight.
TEST_P(Linear, aFewRowsAgreeWithDoublePrecision) {
  int64_t most = isSlow ? 40 : 3000;
  forCases([&] {
    bool hasFewTerms = pick(0, 2) == 0;
    int64_t m = hasFewTerms ? awkwardSize(most / 10)
                            : oneOf<int64_t>({1, 2, 3, 5, 8, 9}),
            n = awkwardSize(hasFewTerms ? most / 10 : most),
            k = hasFewTerms ? oneOf<int64_t>({1, 2, 8, 9}) : awkwardSize(most);
    DType dtype = floatType();
    Tensor x =
        coin() ? random({m, k}, dtype) : random({k, m}, dtype).transpose(0, 1);
    Tensor w = randn({n, k}, f32, Device::cpu(), seed).to(dtype).to(device);
    MatmulOptions options;
    options.activation = oneOf(activations);
    if (coin()) {
      options.bias = random({n}, dtype);
    }
    if (coin()) {
      options.residual = random({m, n}, dtype);
    }
    options.scale = oneOf({1.0, 0.5});
    Tensor b = w.transpose(0, 1);
    if (coin()) {
      b = b.contiguous();
    }
    Tensor y = matmul(x, b, options);
    Numbers expected = reference::product(exactly(x), 1, exactly(b), 1,
                                          size_t(m), size_t(n), size_t(k));
    expectClose(y, withOptions(expected, options, size_t(n)), "y");
    EXPECT_EQ(matmul(x, b, options).toFloat64(), y.toFloat64()) << "other bits";
  });
}

TEST_P(Linear, matmulOfIntegersIsExact) {
  forCases(
      [&] {
        int64_t most = isSlow ? 40 : 200;
        int64_t m = awkwardSize(most), n = awkwardSize(most),
                k = awkwardSize(most);
        Tensor a = laidOut(randint({m, k}, -128, 128, i8, Device::cpu(), seed)),
               b = laidOut(
                   randint({k, n}, -128, 128, i8, Device::cpu(), seed + 1));
        Values expected;
        for (const Number &sum :
             reference::product(exactly(a), 1, exactly(b), 1, size_t(m),
                                size_t(n), size_t(k))) {
          expected.push_back(sum.value);
        }
        Tensor y = matmul(a, b);
        EXPECT_EQ(y.dtype(), i32);
        EXPECT_EQ(y.toFloat64(), expected);
        MatmulOptions options;
        options.scale = 0x1p-10;
        options.type = f32;
        for (double &value : expected) {
          value *= 0x1p-10;
        }
        EXPECT_EQ(matmul(a, b, options).toFloat64(), expected);
      },
      3);
}

// The loop over K would be none, and nothing be copied by the engine.
TEST_P(Linear, productsOfOneBlockOfKTakeNoRoles) {
  ProductSize size = {1, 3072, 768, 1, /*isMapped=*/true};
  EXPECT_FALSE(planProduct(size, bf16, false, device, true).hasRoles);
}

// Large blocks would leave most processors idle.
TEST_P(Linear, smallProductsTakeSmallBlocks) {
  if (device.isHost() || !hasCompiler()) {
    GTEST_SKIP() << "of kernels with roles of warps";
  }
  for (DType dtype : {bf16, i8, fp8e4nv}) {
    ProductPlan plan = planProduct({1, 512, 512, 512, /*isMapped=*/true}, dtype,
                                   false, device, true);
    EXPECT_LE(plan.blockM * plan.blockN, 64 * 64) << languageName(dtype);
  }
}

TEST_P(Linear, partsOfKAreSummed) {
  if (isSlow) {
    GTEST_SKIP() << "too long for this device";
  }
  // Few blocks of a deep product: splits, wherever the device has processors
  // for them.
  constexpr int64_t m = 17, n = 40, k = 5003;
  MatmulOptions options;
  options.activation = Activation::Silu;
  Tensor a = random({m, k}, f32), b = random({k, n}, f32);
  options.bias = random({n}, f32);
  Numbers expected = reference::product(exactly(a), 1, exactly(b), 1, m, n, k);
  EXPECT_GT(planProduct({1, m, n, k}, f32, false, device).splits, 1);
  expectClose(matmul(a, b, options), withOptions(expected, options, n), "y");
}

TEST_P(Linear, gradientsOfMatmulAgreeWithDerivatives) {
  forCases(
      [&] {
        int64_t most = isSlow ? 20 : 60;
        int64_t m = awkwardSize(most), n = awkwardSize(most),
                k = awkwardSize(most);
        int64_t ofA = coin() ? 0 : pick(1, 3),
                ofB = oneOf<int64_t>({0, 1, std::max<int64_t>(ofA, 1)});
        DType dtype = floatType();
        Variable a(random(ofA ? Shape{ofA, m, k} : Shape{m, k}, dtype), true),
            b(random(ofB ? Shape{ofB, k, n} : Shape{k, n}, dtype), true);
        checkGradients(matmul(a, b), {a, b},
                       [&](const std::vector<Numbers> &at) {
                         return reference::product(
                             at[0], size_t(std::max<int64_t>(ofA, 1)), at[1],
                             size_t(std::max<int64_t>(ofB, 1)), size_t(m),
                             size_t(n), size_t(k));
                       });
      },
      5);
}

/// a @ b of any ranks, as NumPy has it.
static Numbers broadcastProduct(const Numbers &a, Shape ofA, const Numbers &b,
                                Shape ofB) {
  if (ofA.size() == 1) {
    ofA.insert(ofA.begin(), 1);
  }
  if (ofB.size() == 1) {
    ofB.push_back(1);
  }
  size_t rank = std::max(ofA.size(), ofB.size());
  ofA.insert(ofA.begin(), rank - ofA.size(), 1);
  ofB.insert(ofB.begin(), rank - ofB.size(), 1);
  auto m = size_t(ofA[rank - 2]), k = size_t(ofA[rank - 1]),
       n = size_t(ofB[rank - 1]);
  size_t count = 1;
  for (size_t i = 0; i + 2 < rank; ++i) {
    count *= size_t(ofA[i] == 1 ? ofB[i] : ofA[i]);
  }
  Numbers result;
  for (size_t each = 0; each < count; ++each) {
    size_t rest = each, atA = 0, atB = 0, stepA = 1, stepB = 1;
    for (size_t i = rank - 2; i-- > 0;) {
      auto size = size_t(ofA[i] == 1 ? ofB[i] : ofA[i]);
      atA += ofA[i] == 1 ? 0 : rest % size * stepA;
      atB += ofB[i] == 1 ? 0 : rest % size * stepB;
      stepA *= size_t(ofA[i]);
      stepB *= size_t(ofB[i]);
      rest /= size;
    }
    auto part = [](const Numbers &of, size_t i, size_t size) {
      return Numbers(of.begin() + int64_t(i * size),
                     of.begin() + int64_t((i + 1) * size));
    };
    Numbers one = reference::product(part(a, atA, m * k), 1,
                                     part(b, atB, k * n), 1, m, n, k);
    result.insert(result.end(), one.begin(), one.end());
  }
  return result;
}

TEST_P(Linear, matmulTakesAnyRanks) {
  struct Case {
    Shape a, b, y;
  };
  for (const Case &c :
       {Case{{2, 3, 4, 5}, {2, 3, 5, 6}, {2, 3, 4, 6}},
        Case{{2, 3, 4, 5}, {5, 6}, {2, 3, 4, 6}},
        Case{{4, 5}, {2, 3, 5, 6}, {2, 3, 4, 6}},
        Case{{2, 1, 4, 5}, {3, 5, 6}, {2, 3, 4, 6}},
        Case{{3, 1, 1, 5}, {1, 2, 5, 6}, {3, 2, 1, 6}},
        Case{{1, 4, 5}, {1, 1, 5, 6}, {1, 1, 4, 6}}, Case{{5}, {5}, {}},
        Case{{5}, {5, 6}, {6}}, Case{{4, 5}, {5}, {4}},
        Case{{5}, {2, 3, 5, 6}, {2, 3, 6}},
        Case{{2, 3, 4, 5}, {5}, {2, 3, 4}}}) {
    DType dtype = floatType();
    Variable a(random(c.a, dtype), true), b(random(c.b, dtype), true);
    Variable y = matmul(a, b);
    EXPECT_EQ(y.shape(), c.y);
    expectClose(
        y.value(),
        broadcastProduct(exactly(a.value()), c.a, exactly(b.value()), c.b),
        "y");
    checkGradients(y, {a, b}, [&](const std::vector<Numbers> &at) {
      return broadcastProduct(at[0], c.a, at[1], c.b);
    });
  }
  Variable a(random({2, 0, 4, 5}, f32), true), b(random({5, 6}, f32), true);
  Variable y = matmul(a, b);
  EXPECT_EQ(y.shape(), (Shape{2, 0, 4, 6}));
  y.backward(y.value().clone());
  EXPECT_EQ(b.grad().toFloat64(), Values(30, 0.0));
}

TEST_P(Linear, matmulOnATapeTakesOptions) {
  for (DType dtype : {f32, bf16, f16}) {
    constexpr int64_t m = 7, k = 11, n = 5;
    Variable a(random({2, m, k}, dtype), true), b(random({k, n}, dtype), true),
        bias(random({n}, f32), true), residual(random({2, m, n}, dtype), true);
    Variable y = matmul(
        a, b, {.bias = bias, .residual = residual, .scale = 0.25, .type = f32});
    EXPECT_EQ(y.dtype(), f32);
    auto reference = [&](const std::vector<Numbers> &at) {
      Numbers product = reference::product(at[0], 2, at[1], 1, m, n, k);
      for (size_t i = 0; i < product.size(); ++i) {
        // The gradient is rounded to the operands' type.
        product[i] = reference::gradientIn(product[i] * 0.25, dtype) +
                     at[2][i % n] + at[3][i];
      }
      return product;
    };
    expectClose(y.value(),
                reference({exactly(a.value()), exactly(b.value()),
                           exactly(bias.value()), exactly(residual.value())}),
                "y");
    checkGradients(y, {a, b, bias, residual}, reference);
  }
}

TEST_P(Linear, gradientsAgreeWithDerivatives) {
  forCases(
      [&] {
        int64_t most = isSlow ? 20 : 60;
        int64_t rows = awkwardSize(2 * most), n = awkwardSize(most),
                k = awkwardSize(most);
        DType dtype = floatType();
        Activation activation = oneOf(activations);
        bool deep = coin();
        Variable x(random(deep ? Shape{2, rows, k} : Shape{rows, k}, dtype),
                   true),
            w(random({n, k}, dtype, 1 / std::sqrt(double(k))), true), b;
        std::vector<Variable> inputs = {x, w};
        if (coin()) {
          b = Variable(random({n}, coin() ? f32 : dtype), coin());
          inputs.push_back(b);
        }
        Variable y = linear(x, w, b, activation);
        // What an activation is applied to, and its gradient, are kept in x's
        // type; on a GPU the activation may read it from there.
        DType kept = activation == Activation::None ? f32 : dtype;
        expectClose(y.value(),
                    reference::linear(exactly(x.value()), exactly(w.value()),
                                      exactly(b.value()), size_t(n), size_t(k),
                                      activation, device.isHost() ? f32 : kept),
                    "y");
        // A derivative with a jump has no differences; there the test above
        // stands.
        if (activation != Activation::Relu) {
          checkGradients(y, inputs, [&](const std::vector<Numbers> &at) {
            return reference::linear(at[0], at[1],
                                     at.size() > 2 ? at[2] : Numbers(),
                                     size_t(n), size_t(k), activation, kept);
          });
        }
      },
      5);
}

TEST_P(Linear, takesNoElements) {
  Variable x(empty({0, 5}, f32, device), true), w(random({3, 5}, f32), true),
      b(random({3}, f32), true);
  Variable y = linearGelu(x, w, b);
  EXPECT_EQ(y.shape(), (Shape{0, 3}));
  y.backward(empty({0, 3}, f32, device));
  EXPECT_EQ(w.grad().toFloat64(), Values(15, 0.0));
  EXPECT_EQ(b.grad().toFloat64(), Values(3, 0.0));
  // A sum of nothing is 0 in each of the rows.
  Variable none(empty({2, 3, 0}, f32, device), true),
      flat(empty({3, 0}, f32, device), true);
  b.zeroGrad();
  Variable z = linear(none, flat, b, Activation::Relu);
  EXPECT_EQ(z.shape(), (Shape{2, 3, 3}));
  EXPECT_EQ(z.value().at({1, 2, 1}), std::max(b.value().at({1}), 0.0));
  z.backward(full({2, 3, 3}, 1, f32, device));
  EXPECT_EQ(b.grad().at({1}), b.value().at({1}) > 0 ? 6 : 0);
  EXPECT_EQ(matmul(empty({2, 0}, f32, device), empty({0, 2}, f32, device))
                .toFloat64(),
            Values(4, 0.0));
}

TEST_P(Linear, reluHasTheStepAsItsDerivative) {
  Variable x(Tensor::fromVector<float>({-1, 2, 3, -4}, Shape{2, 2}, device),
             true),
      w(Tensor::fromVector<float>({1, 0, 0, 1}, Shape{2, 2}, device), true);
  linear(x, w, Variable(), Activation::Relu)
      .backward(full({2, 2}, 1, f32, device));
  EXPECT_EQ(x.grad().toFloat64(), (Values{0, 1, 1, 0}));
  EXPECT_EQ(w.grad().toFloat64(), (Values{3, -4, -1, 2}));
}

TEST_P(Linear, takesAScaleAndATypeOnTheTape) {
  int64_t columns = 5, inner = 7;
  Variable x(random({2, 3, inner}, bf16), true),
      weight(random({columns, inner}, bf16), true),
      bias(random({columns}, f32), true);
  LinearOptions options;
  options.scale = 0.5;
  options.type = f32;
  auto reference = [&](const std::vector<Numbers> &at) {
    Numbers y = reference::linear(at[0], at[1], {}, size_t(columns),
                                  size_t(inner), Activation::None);
    for (size_t i = 0; i < y.size(); ++i) {
      y[i] = y[i] * 0.5 + at[2][i % size_t(columns)];
    }
    return y;
  };
  Variable y = linear(x, weight, bias, options);
  EXPECT_EQ(y.dtype(), f32);
  EXPECT_EQ(y.shape(), (Shape{2, 3, columns}));
  expectClose(y.value(),
              reference({exactly(x.value()), exactly(weight.value()),
                         exactly(bias.value())}),
              "y");
  EXPECT_EQ(
      linear(x.value(), weight.value(), bias.value(), options).toFloat64(),
      y.value().toFloat64());
  // Gradients of products are rounded to the type of their operands.
  y.backward(full(y.shape(), 1, f32, device));
  EXPECT_EQ(bias.grad().toFloat64(), Values(size_t(columns), 6.0));
  EXPECT_EQ(x.grad().dtype(), bf16);
  EXPECT_THAT(messageOf([&] {
                linear(x.value(), zeros({5, 6}, bf16, device), Tensor(),
                       options);
              }),
              HasSubstr("linear: argument 'weight': expected shape [any, 7]"));
}

TEST_P(Linear, namesTheArgumentThatDoesNotFit) {
  EXPECT_THAT(
      messageOf([&] { matmul(random({2, 3}, f32), random({4, 5}, f32)); }),
      HasSubstr("matmul: argument 'b': expected 3 rows (the last dimension of "
                "a, fp32[2, 3"));
  EXPECT_THAT(
      messageOf([&] { matmul(random({2, 3}, f32), random({3, 5}, f16)); }),
      HasSubstr("matmul: argument 'b': expected fp32 elements (as a "
                "has)"));
  EXPECT_THAT(messageOf([&] {
                matmul(random({2, 3, 4}, f32), random({3, 4, 5}, f32));
              }),
              HasSubstr("matmul: argument 'b': expected a batch of 2 or 1 "
                        "(dimension -3 of a, fp32[2, 3, 4]"));
  EXPECT_THAT(
      messageOf([&] { matmul(random({}, f32), random({4, 5}, f32)); }),
      HasSubstr("matmul: argument 'a': expected from 1 to 16 dimensions, got"));
  EXPECT_THAT(messageOf([&] {
                matmul(zeros({2, 3}, i64, device), zeros({3, 2}, i64, device));
              }),
              HasSubstr("matmul: argument 'a': expected a tensor of fp32, "
                        "fp16, bf16"));
  EXPECT_THAT(messageOf([&] {
                MatmulOptions options;
                options.type = i32;
                matmul(random({2, 3}, f32), random({3, 2}, f32), options);
              }),
              HasSubstr("matmul: argument 'type': expected fp32, fp16 or bf16, "
                        "or i32 for a product of int8 alone, got"));
  EXPECT_THAT(
      messageOf([&] { linear(random({2, 3}, f32), random({4, 5}, f32)); }),
      HasSubstr("linear: argument 'weight': expected shape [any, 3] (columns: "
                "the last dimension of x)"));
  EXPECT_THAT(messageOf([&] {
                linear(random({2, 3}, f32), random({4, 3}, f32),
                       random({3}, f32));
              }),
              HasSubstr("linear: argument 'bias': expected shape [4] (the rows "
                        "of weight)"));
}
