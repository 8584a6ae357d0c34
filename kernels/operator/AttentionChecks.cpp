//===- AttentionChecks.cpp --------------------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/operator/AttentionChecks.h"

#include <cmath>

using namespace nereid;
using namespace nereid::kernels;

void kernels::checkKeysAndValues(Checks &checks, const Tensor &q,
                                 const Tensor &k, const Tensor &v,
                                 int64_t window, std::optional<double> scale,
                                 bool isPaged) {
  int64_t headSize = q.size(-1), heads = q.size(1);
  checks.require(headSize >= 1 && headSize <= 256, "q",
                 "a head size (its last dimension) from 1 to 256",
                 double(headSize));
  auto floats = [&](const char *name, const Tensor &t) {
    return q.dtype() == f64 ? checks.gradients(name, t)
                            : checks.floats(name, t);
  };
  floats("k", k)
      .shape({isPaged ? -1 : q.size(0), -1, -1, headSize},
             isPaged ? "pages, heads, keys of a page, head size of q"
                     : "batch and head size of q")
      .dtype(q.dtype(), "as q has");
  if (k.size(1) == 0 ? heads != 0 : heads % k.size(1) != 0) {
    checks.fail("k",
                "a number of heads that divides the " + std::to_string(heads) +
                    " of q",
                k.str());
  }
  floats("v", v).shape(k.shape(), "that of k").dtype(q.dtype(), "as q has");
  checks.require(window >= 0, "window", "a number that is not negative",
                 double(window));
  double factor = scale.value_or(1);
  checks.require(factor > 0 && std::isfinite(factor), "scale",
                 "a finite number of more than 0", factor);
}
