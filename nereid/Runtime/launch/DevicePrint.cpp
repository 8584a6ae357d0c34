//===- DevicePrint.cpp - What device_print writes -------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Runtime/fault/Fault.h"
#include "nereid/Runtime/tensor/Convert.h"

#include <cinttypes>
#include <cstdio>

namespace nereid {

/// A number as printf's %d, %u or %f would show it in the language's own
/// device_print; hexadecimal, floats as its %a and the bits of other types.
static void appendValue(std::string &out, DType dtype, const void *element,
                        bool hex) {
  char text[400]; // %f of the largest double has 309 digits before the point
  if (hex && !isFloat(dtype)) {
    uint64_t bits = 0;
    std::memcpy(&bits, element, byteSize(dtype));
    std::snprintf(text, sizeof(text), "0x%0*" PRIx64,
                  static_cast<int>(2 * byteSize(dtype)), bits);
  } else if (isFloat(dtype)) {
    double value;
    convertFunction(dtype, DType::Float64)(element, 1, &value, 1, 1);
    std::snprintf(text, sizeof(text), hex ? "%a" : "%f", value);
  } else if (dtype == DType::UInt64) {
    uint64_t value;
    std::memcpy(&value, element, sizeof(value));
    std::snprintf(text, sizeof(text), "%" PRIu64, value);
  } else {
    int64_t value;
    convertFunction(dtype, DType::Int64)(element, 1, &value, 1, 1);
    std::snprintf(text, sizeof(text), "%" PRId64, value);
  }
  out += text;
}

std::string formatPrint(const ImageSite &site,
                        const std::array<int32_t, 3> &program,
                        const void *elements, int64_t count) {
  std::string pid = "pid (" + std::to_string(program[0]) + ", " +
                    std::to_string(program[1]) + ", " +
                    std::to_string(program[2]) + ")";
  const std::string &prefix = site.message;
  if (count == 0) {
    return pid + prefix + "\n";
  }
  // Indices are as wide as the largest of their dimension, so that columns
  // line up.
  std::vector<int> width;
  for (int64_t size : site.shape) {
    width.push_back(static_cast<int>(
        std::to_string(std::max<int64_t>(size - 1, 0)).size()));
  }
  std::string out;
  size_t bytes = byteSize(site.dtype);
  for (int64_t i = 0; i < count; ++i) {
    std::string index;
    int64_t rest = i;
    for (size_t axis = site.shape.size(); axis-- > 0;) {
      int64_t size = std::max<int64_t>(site.shape[axis], 1);
      std::string number = std::to_string(rest % size);
      number.insert(
          0, width[axis] - std::min<size_t>(width[axis], number.size()), ' ');
      index = number + (index.empty() ? "" : ", ") + index;
      rest /= size;
    }
    out += pid + " idx (" + index + ")" + prefix;
    appendValue(out, site.dtype,
                static_cast<const std::byte *>(elements) +
                    static_cast<size_t>(i) * bytes,
                site.hex);
    out += '\n';
  }
  return out;
}

} // namespace nereid
