//===- DeviceCheck.cpp - One launch on every device, compared -------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DeviceCheck.h"

#include <cmath>
#include <cstdio>

namespace nereid {

/// The distance from 1 to the next number of the dtype.
static double epsilonOf(DType dtype) {
  switch (dtype) {
  case DType::Float64:
    return 0x1p-52;
  case DType::Float32:
    return 0x1p-23;
  case DType::Float16:
    return 0x1p-10;
  case DType::BFloat16:
    return 0x1p-7;
  case DType::Float8E4M3:
    return 0x1p-3;
  case DType::Float8E5M2:
    return 0x1p-2;
  default:
    return 0;
  }
}

namespace {
struct Comparison {
  double largestDifference = 0, largestValue = 0;
  size_t worst = 0;
  size_t different = 0; ///< elements that are not equal
};
} // namespace

static Comparison compare(const std::vector<double> &got,
                          const std::vector<double> &expected) {
  Comparison result;
  for (size_t i = 0; i < got.size(); ++i) {
    double a = got[i], b = expected[i];
    bool same = a == b || (std::isnan(a) && std::isnan(b));
    result.different += !same;
    double difference = same ? 0 : std::fabs(a - b);
    // One NaN or infinity against a number is as wrong as can be.
    difference = std::isnan(difference) ? INFINITY : difference;
    if (std::isfinite(b)) {
      result.largestValue = std::max(result.largestValue, std::fabs(b));
    }
    if (difference > result.largestDifference) {
      result.largestDifference = difference;
      result.worst = i;
    }
  }
  return result;
}

namespace {
/// The launch's arrays, copied to a device.
struct DeviceCopy {
  Device device;
  std::vector<Tensor> tensors; ///< undefined for other arguments
  std::vector<LaunchArgument> arguments;

  DeviceCopy(Device device, std::span<const LaunchArgument> original)
      : device(device) {
    for (const LaunchArgument &argument : original) {
      bool isTensor = argument.value.kind == Argument::Kind::Tensor;
      tensors.push_back(isTensor ? argument.value.tensor->clone().to(device)
                                 : Tensor());
    }
    for (size_t i = 0; i < original.size(); ++i) {
      arguments.push_back(tensors[i].defined()
                              ? LaunchArgument(original[i].name, tensors[i])
                              : original[i]);
    }
  }
};
} // namespace

/// One line; false when the arrays differ by more than they may.
static bool report(const std::string &name, Device device, const Tensor &got,
                   const Tensor &expected, double tolerance) {
  std::vector<double> a = got.toFloat64(), b = expected.toFloat64();
  Comparison c = compare(a, b);
  double relative = tolerance > 0 ? tolerance : 64 * epsilonOf(got.dtype());
  double allowed = isFloat(got.dtype()) ? relative * c.largestValue : 0;
  bool good = c.largestDifference <= allowed;
  std::printf("check %s on %s: %s, max diff %.3g (allowed %.3g), %zu of %zu "
              "elements differ%s\n",
              name.c_str(), device.str().c_str(), got.str().c_str(),
              c.largestDifference, allowed, c.different, a.size(),
              good ? "" : "  <-- TOO MUCH");
  if (!good) {
    std::printf("  element %zu: %.9g on %s, %.9g on interp\n", c.worst,
                a[c.worst], device.str().c_str(), b[c.worst]);
  }
  return good;
}

void checkDevices(const Kernel &kernel, const Grid &grid,
                  std::span<const LaunchArgument> arguments, double tolerance) {
  DeviceCopy reference(Device::interp(), arguments);
  kernel.on(reference.device).launch(grid, reference.arguments);
  bool good = true;
  for (Device device : Device::available()) {
    if (device == reference.device || device.index() > 0) {
      continue; // GPUs of one machine are alike
    }
    DeviceCopy copy(device, arguments);
    kernel.on(device).launch(grid, copy.arguments);
    for (size_t i = 0; i < arguments.size(); ++i) {
      if (copy.tensors[i].defined()) {
        good &= report(std::string(arguments[i].name), device, copy.tensors[i],
                       reference.tensors[i], tolerance);
      }
    }
  }
  if (!good) {
    raise(
        {ErrorCode::KernelFault, kernel.name() + ": the devices disagree", {}});
  }
}

} // namespace nereid
