//===- ProductPlans.cpp -----------------------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "bench/operators/ProductPlans.h"

#include "kernels/linear/Product.h"

#include <sstream>

using namespace nereid;
using namespace nereid::bench;

Outputs bench::plannedMatmul(const Inputs &in, const Numbers &numbers) {
  kernels::Product product;
  product.a = in[0].value().unsqueeze(0);
  product.b = in[1].value().unsqueeze(0);
  kernels::ProductPlan plan;
  plan.blockM = int64_t(numbers.at(0));
  plan.blockN = int64_t(numbers.at(1));
  plan.blockK = int64_t(numbers.at(2));
  plan.warps = int(numbers.at(3));
  plan.stages = int(numbers.at(4));
  plan.splits = int64_t(numbers.at(5));
  plan.hasRoles = numbers.at(6) != 0;
  plan.rows = int64_t(numbers.at(7));
  product.plan = plan;
  return {Variable(kernels::run(product).select(0, 0))};
}

const char *nereidProductPlans(const char *device, const char *type, int64_t m,
                               int64_t n, int64_t k, int32_t isTransposed) {
  static thread_local std::string text;
  std::ostringstream lines;
  DType dtype = f32;
  for (DType each : {f16, bf16, i8}) {
    dtype =
        shortName(each) == type || languageName(each) == type ? each : dtype;
  }
  Device on = Device::parse(device);
  kernels::Product product;
  product.a = empty({1, m, k}, dtype, on);
  product.b = isTransposed ? empty({1, n, k}, dtype, on).transpose(1, 2)
                           : empty({1, k, n}, dtype, on);
  kernels::ProductSize size = kernels::prepareProduct(product);
  auto print = [&](const kernels::ProductPlan &plan) {
    lines << plan.blockM << ' ' << plan.blockN << ' ' << plan.blockK << ' '
          << plan.warps << ' ' << plan.stages << ' ' << plan.splits << ' '
          << plan.hasRoles << ' ' << plan.rows << ' ' << plan.nanoseconds
          << '\n';
  };
  constexpr bool tf32 = false, plain = true;
  print(kernels::planProduct(size, dtype, tf32, on, plain));
  kernels::forEachProductPlan(size, dtype, tf32, on, plain, print);
  text = lines.str();
  return text.c_str();
}
