//===- Join.cpp -------------------------------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/join/Join.h"

#include "kernels/join/OneLaunch.h"
#include "kernels/operator/Axes.h"
#include "kernels/operator/Checks.h"
#include "nereid/Autograd/Record.h"

#include <algorithm>
#include <iterator>
#include <numeric>

using namespace nereid;
using namespace nereid::kernels;

static std::string named(size_t i) {
  return "values[" + std::to_string(i) + "]";
}

static Tensor concatOf(const char *op, std::span<const Tensor> values,
                       int axis) {
  Checks checks(op);
  if (values.empty()) {
    checks.fail("values", "tensors", "none");
  }
  for (size_t i = 0; i < values.size(); ++i) {
    checks.any(named(i).c_str(), values[i]);
  }
  const Tensor &first = values[0];
  int at = checkedAxis(op, first, axis);
  Shape shape = first.shape();
  int64_t length = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    Shape expected = shape;
    if (values[i].rank() == first.rank()) {
      expected[size_t(at)] = values[i].size(at);
    }
    if (values[i].shape() != expected || values[i].dtype() != first.dtype()) {
      checks.fail(named(i).c_str(),
                  "a type and sizes, but that of dimension " +
                      std::to_string(at) + ", as of values[0], " + first.str(),
                  values[i].str());
    }
    length += values[i].size(at);
  }
  shape[size_t(at)] = length;
  Tensor y = empty(shape, first.dtype(), first.device());
  if (joinInOneLaunch(y, values, at)) {
    return y;
  }
  int64_t begin = 0;
  for (const Tensor &x : values) {
    int64_t end = begin + x.size(at);
    if (x.numel() != 0) {
      y.slice(at, begin, end).copyFrom(x);
    }
    begin = end;
  }
  return y;
}

static std::vector<Tensor> valuesOf(std::span<const Variable> variables) {
  std::vector<Tensor> values;
  for (const Variable &x : variables) {
    values.push_back(x.value());
  }
  return values;
}

static std::vector<Variable> variablesOf(std::span<const Expression> values) {
  std::vector<Variable> variables;
  for (const Expression &x : values) {
    variables.push_back(x.variable());
  }
  return variables;
}

Tensor kernels::concat(std::span<const Tensor> values, int axis) {
  return concatOf("concat", values, axis);
}

Variable kernels::concat(std::span<const Variable> values, int axis) {
  std::vector<Tensor> tensors = valuesOf(values);
  Tensor y = concatOf("concat", tensors, axis);
  int at = checkedAxis("concat", y, axis);
  std::vector<int64_t> sizes;
  for (const Tensor &x : tensors) {
    sizes.push_back(x.size(at));
  }
  return autograd::record(
      "concat", values, {y},
      [at, sizes](std::span<const Tensor> dy, autograd::Needs needs) {
        autograd::Gradients gradients(sizes.size());
        int64_t begin = 0;
        for (size_t i = 0; i < sizes.size(); ++i) {
          if (needs[i]) {
            gradients[i] = dy[0].slice(at, begin, begin + sizes[i]);
          }
          begin += sizes[i];
        }
        return gradients;
      })[0];
}

Expression kernels::concat(std::span<const Expression> values, int axis) {
  return concat(std::span<const Variable>(variablesOf(values)), axis);
}

/// `axis` of a tensor with one dimension more.
template <typename T>
static std::vector<T> widened(std::span<const T> values, int axis) {
  if (values.empty()) {
    Checks("stack").fail("values", "tensors", "none");
  }
  std::vector<T> result;
  for (size_t i = 0; i < values.size(); ++i) {
    if constexpr (std::same_as<T, Tensor>) {
      Checks("stack").any(named(i).c_str(), values[i]);
      if (values[i].shape() != values[0].shape()) {
        Checks("stack").fail(named(i).c_str(),
                             "the shape of values[0], " + values[0].str(),
                             values[i].str());
      }
    }
    result.push_back(values[i].unsqueeze(axis));
  }
  return result;
}

Tensor kernels::stack(std::span<const Tensor> values, int axis) {
  if (!values.empty() && values[0].defined()) {
    checkedAxis("stack", values[0], axis, values[0].rank() + 1);
  }
  return concatOf("stack", widened(values, axis), axis);
}

Variable kernels::stack(std::span<const Variable> values, int axis) {
  // Of the tensors, for the checks.
  Tensor y = stack(std::span<const Tensor>(valuesOf(values)), axis);
  int at = checkedAxis("stack", y, axis);
  return autograd::record(
      "stack", values, {y},
      [at, count = values.size()](std::span<const Tensor> dy,
                                  autograd::Needs needs) {
        autograd::Gradients gradients(count);
        for (size_t i = 0; i < count; ++i) {
          if (needs[i]) {
            gradients[i] = dy[0].select(at, int64_t(i));
          }
        }
        return gradients;
      })[0];
}

Expression kernels::stack(std::span<const Expression> values, int axis) {
  return stack(std::span<const Variable>(variablesOf(values)), axis);
}

static std::vector<int64_t> partsOf(const char *op, const Tensor &x,
                                    int64_t size, int axis) {
  Checks checks(op);
  checks.any("x", x);
  checks.require(size > 0, "size", "a number above 0", size);
  int64_t length = x.size(checkedAxis(op, x, axis));
  std::vector<int64_t> sizes;
  for (int64_t begin = 0; begin < length; begin += size) {
    sizes.push_back(std::min(size, length - begin));
  }
  return sizes.empty() ? std::vector<int64_t>{0} : sizes;
}

std::vector<Tensor> kernels::split(const Tensor &x,
                                   std::span<const int64_t> sizes, int axis) {
  Checks checks("split");
  checks.any("x", x);
  int at = checkedAxis("split", x, axis);
  int64_t total = 0;
  bool isValid = true;
  for (int64_t size : sizes) {
    isValid &= size >= 0 && size <= x.size(at);
    total += isValid ? size : 0;
  }
  if (!isValid || total != x.size(at)) {
    std::string all;
    for (int64_t size : sizes) {
      all += (all.empty() ? "" : ", ") + std::to_string(size);
    }
    checks.fail("sizes",
                "sizes from 0 on that sum up to " + std::to_string(x.size(at)) +
                    ", of dimension " + std::to_string(at) + " of " + x.str(),
                "[" + all + "]");
  }
  std::vector<Tensor> parts;
  parts.reserve(sizes.size());
  int64_t begin = 0;
  for (int64_t size : sizes) {
    parts.push_back(x.slice(at, begin, begin + size));
    begin += size;
  }
  return parts;
}

std::vector<Variable> kernels::split(const Variable &x,
                                     std::span<const int64_t> sizes, int axis) {
  std::vector<Tensor> parts = split(x.value(), sizes, axis);
  if (!autograd::isRecording(std::span(&x, 1))) {
    return {std::make_move_iterator(parts.begin()),
            std::make_move_iterator(parts.end())};
  }
  int at = checkedAxis("split", x.value(), axis);
  std::vector<int64_t> kept(sizes.begin(), sizes.end());
  // A part that nothing depends on has no gradient.
  return autograd::record(
      "split", std::span(&x, 1), std::move(parts),
      [at, kept, shape = x.shape()](std::span<const Tensor> dy,
                                    autograd::Needs) {
        auto some = std::ranges::find_if(dy, &Tensor::defined);
        Tensor dx = empty(shape, some->dtype(), some->device());
        if (std::ranges::all_of(dy, &Tensor::defined) &&
            joinInOneLaunch(dx, dy, at)) {
          return autograd::Gradients{dx};
        }
        int64_t begin = 0;
        for (size_t i = 0; i < kept.size(); ++i) {
          Tensor part = dx.slice(at, begin, begin + kept[i]);
          begin += kept[i];
          if (part.numel() == 0) {
            continue;
          }
          if (dy[i].defined()) {
            part.copyFrom(dy[i]);
          } else {
            part.zero();
          }
        }
        return autograd::Gradients{dx};
      });
}

std::vector<Tensor> kernels::split(const Tensor &x, int64_t size, int axis) {
  return split(x, std::span<const int64_t>(partsOf("split", x, size, axis)),
               axis);
}
std::vector<Variable> kernels::split(const Variable &x, int64_t size,
                                     int axis) {
  return split(
      x, std::span<const int64_t>(partsOf("split", x.value(), size, axis)),
      axis);
}

static int64_t sizeOfChunk(const Tensor &x, int64_t chunks, int axis) {
  Checks checks("chunk");
  checks.any("x", x);
  checks.require(chunks > 0, "chunks", "a number above 0", chunks);
  int64_t length = x.size(checkedAxis("chunk", x, axis));
  return std::max<int64_t>(length / chunks + (length % chunks != 0), 1);
}
std::vector<Tensor> kernels::chunk(const Tensor &x, int64_t chunks, int axis) {
  return split(x, sizeOfChunk(x, chunks, axis), axis);
}
std::vector<Variable> kernels::chunk(const Variable &x, int64_t chunks,
                                     int axis) {
  return split(x, sizeOfChunk(x.value(), chunks, axis), axis);
}

/// The part of a padded tensor that x is.
static Tensor inside(const Tensor &padded, std::span<const Padding> paddings,
                     const Shape &shape) {
  Tensor part = padded;
  for (size_t i = 0; i < paddings.size(); ++i) {
    part =
        part.slice(int(i), paddings[i].before, paddings[i].before + shape[i]);
  }
  return part;
}

Tensor kernels::pad(const Tensor &x, std::span<const Padding> paddings,
                    double value) {
  Checks checks("pad");
  checks.any("x", x);
  checks.require(int64_t(paddings.size()) == x.rank(), "paddings",
                 "one {before, after} for each dimension of " + x.str(),
                 paddings.size());
  Shape shape = x.shape();
  for (size_t i = 0; i < shape.size(); ++i) {
    constexpr int64_t most = int64_t{1} << 48;
    for (int64_t size : {paddings[i].before, paddings[i].after}) {
      checks.require(size >= 0 && size < most, "paddings",
                     "numbers of elements from 0 to below 2^48", size);
    }
    shape[i] += paddings[i].before + paddings[i].after;
  }
  Tensor y = full(shape, value, x.dtype(), x.device());
  if (x.numel() != 0) {
    inside(y, paddings, x.shape()).copyFrom(x);
  }
  return y;
}

Variable kernels::pad(const Variable &x, std::span<const Padding> paddings,
                      double value) {
  Tensor y = pad(x.value(), paddings, value);
  return autograd::record(
      "pad", {x}, y,
      [kept = std::vector<Padding>(paddings.begin(), paddings.end()),
       shape = x.shape()](const Tensor &dy, autograd::Needs) {
        return autograd::Gradients{inside(dy, kept, shape)};
      });
}

/// Throws for a result that no memory holds, whose size may not be a number.
static void checkRepeated(const Checks &checks, const Tensor &x,
                          const Shape &times) {
  constexpr int64_t most = int64_t{1} << 48;
  int64_t count = std::max<int64_t>(x.numel(), 1);
  for (int64_t each : times) {
    if (each > 1 && __builtin_mul_overflow(count, each, &count)) {
      count = most;
    }
    if (count >= most) {
      checks.fail("times", "a result of less than 2^48 elements",
                  std::to_string(each) + ", of " + x.str());
    }
  }
}

/// By views alone: [s, t] becomes [1, s, 1, t], expanded and made one.
template <typename T>
static T repeated(const T &x, const Tensor &value, const Shape &times) {
  Checks checks("repeat");
  checks.any("x", value);
  checks.require(int(times.size()) >= value.rank(), "times",
                 "a number for each dimension of " + value.str(), times.size());
  checkRepeated(checks, value, times);
  Shape apart, expanded, result;
  size_t front = times.size() - size_t(value.rank());
  for (size_t i = 0; i < times.size(); ++i) {
    checks.require(times[i] >= 0, "times", "numbers from 0 on", times[i]);
    int64_t size = i < front ? 1 : value.size(int(i - front));
    apart.insert(apart.end(), {1, size});
    expanded.insert(expanded.end(), {times[i], size});
    result.push_back(times[i] * size);
  }
  return x.reshape(apart).expand(expanded).reshape(result);
}

Tensor kernels::repeat(const Tensor &x, const Shape &times) {
  return repeated(x, x, times);
}
Variable kernels::repeat(const Variable &x, const Shape &times) {
  return repeated(x, x.value(), times);
}

template <typename T>
static T repeatedAlong(const T &x, const Tensor &value, int64_t times,
                       int axis) {
  Checks checks("repeat");
  checks.any("x", value);
  checks.require(times >= 0, "times", "a number from 0 on", times);
  int at = checkedAxis("repeat", value, axis);
  checkRepeated(checks, value, {times});
  Shape expanded = value.shape(), result = expanded;
  expanded.insert(expanded.begin() + at + 1, times);
  result[size_t(at)] *= times;
  return x.unsqueeze(at + 1).expand(expanded).reshape(result);
}

Tensor kernels::repeat(const Tensor &x, int64_t times, int axis) {
  return repeatedAlong(x, x, times, axis);
}
Variable kernels::repeat(const Variable &x, int64_t times, int axis) {
  return repeatedAlong(x, x.value(), times, axis);
}
