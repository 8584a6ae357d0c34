//===- ResidualStream.h - The stream between a model's parts ----*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   ResidualStream x(embedded);
//   x = x + attention(x.norm(weight1, bias1));
//   x = x + mlp(x.norm(weight2, bias2));
//   Variable y = x.norm(weight, bias);
//
// This is the one place where kernels are fused: a sum waits for the next norm,
// whose kernel drops, adds and norms in one pass over the stream.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_APPS_GPT2_MODEL_RESIDUALSTREAM_H
#define NEREID_APPS_GPT2_MODEL_RESIDUALSTREAM_H

#include "kernels/add_norm/AddNorm.h"
#include "kernels/layer_norm/LayerNorm.h"

#include <cassert>
#include <tuple>
#include <utility>

namespace nereid::gpt2 {

/// What is added to a stream, some of its elements dropped.
struct Contribution {
  Variable value;
  kernels::ResidualDropout dropout = {};
};

class ResidualStream {
public:
  explicit ResidualStream(Variable value) : stream(std::move(value)) {}

  /// A norm stands between two sums.
  friend ResidualStream operator+(ResidualStream x, Contribution added) {
    assert(!x.added.value.defined() && "expected a norm after the last sum");
    x.added = std::move(added);
    return x;
  }

  /// The layer norm of the stream with all that was added to it.
  Variable norm(const Variable &weight, const Variable &bias) {
    constexpr double eps = 1e-5;
    if (!added.value.defined()) {
      return kernels::layerNorm(stream, weight, bias, eps);
    }
    Variable y;
    std::tie(y, stream) = kernels::addLayerNorm(added.value, stream, weight,
                                                bias, eps, added.dropout);
    added = {};
    return y;
  }

  /// The sum that the last norm computed.
  const Variable &value() const {
    assert(!added.value.defined() && "expected a norm after the last sum");
    return stream;
  }

private:
  Variable stream;
  Contribution added;
};

} // namespace nereid::gpt2

#endif // NEREID_APPS_GPT2_MODEL_RESIDUALSTREAM_H
