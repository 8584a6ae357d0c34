//===- Outliers.cpp -------------------------------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/gradients/Outliers.h"

#include "kernels/operator/Checks.h"
#include "kernels/operator/CopyByName.h"
#include "kernels/operator/OperatorKernel.h"

#include <algorithm>
#include <cmath>

using namespace nereid;
using namespace nereid::kernels;
using namespace nereid::literals;

OutlierFilter::OutlierFilter(double most, Device device) : most(most) {
  Checks("outliers").require(most > 0, "most", "a positive number", most);
  values = zeros({window}, f64, device);
  counts = zeros({2}, i64, device);
  scoreNow = zeros({1}, f64, device);
}

Tensor OutlierFilter::filter(const Tensor &value, const Tensor &factor) {
  Checks checks("outliers");
  checks.any("values", values);
  checks.floats("factor", factor).shape({1}).dtype(f32);
  checks.floats("value", value).dtype(f32);
  checks.require(value.numel() == 1, "value", "one number",
                 double(value.numel()));
  Tensor result = empty({1}, f32, values.device());
  static const OperatorKernel kernel("gradients", "outlier_kernel");
  kernel[{1}](result, factor, value, values, counts, scoreNow, most,
              "WINDOW"_a = window, "BLOCK"_a = window, "num_warps"_a = 4);
  for (const Tensor *written : {&values, &counts, &scoreNow}) {
    written->noteWrite();
  }
  return result;
}

double OutlierFilter::score() const { return scoreNow.item(); }

int64_t OutlierFilter::skipped() const { return int64_t(counts.at({1})); }

std::map<std::string, Tensor> OutlierFilter::stateDict() const {
  return {{"values", values}, {"counts", counts}};
}

void OutlierFilter::loadStateDict(const std::map<std::string, Tensor> &state) {
  const char *call = "loadStateDict", *owner = "the filter of outliers",
             *hint = "they are those of stateDict";
  std::map<std::string, Tensor> into = stateDict();
  checkByName(call, owner, hint, into, state, /*strict=*/true);
  Checks checks("outliers");
  for (double one : state.at("counts").toFloat64()) {
    checks.require(one >= 0, "counts", "numbers from 0 on", one);
  }
  for (double one : state.at("values").toFloat64()) {
    checks.require(std::isfinite(one), "values", "finite numbers", one);
  }
  copyByName(call, owner, hint, into, state, /*strict=*/true);
}
