//===- Print.cpp - Tensors as NumPy prints arrays ---------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The rules are those of numpy/_core/arrayprint.py with its default options.
//
//===----------------------------------------------------------------------===//

#include "nereid/Runtime/Print.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <ostream>

using namespace nereid;

static constexpr int precision = 8;
static constexpr int64_t edge = 3, threshold = 1000;
static constexpr size_t lineWidth = 75;

/// The shortest digits that read back as `x`: fp64's, fp16's, else fp32's.
static std::string shortestScientific(double x, DType dtype) {
  char text[64];
  if (dtype == f16) {
    // As fp16 numbers are 2^-11 apart, relatively, five digits tell them apart.
    for (int digits = 0; digits < 5; ++digits) {
      std::snprintf(text, sizeof(text), "%.*e", digits, x);
      double read = std::atof(text);
      double unit = std::ldexp(1.0, std::max(std::ilogb(x), -14) - 10);
      if (std::nearbyint(read / unit) * unit == x) {
        break;
      }
    }
    return text;
  }
  auto end = dtype == f64 ? std::to_chars(text, text + 64, x,
                                          std::chars_format::scientific)
                          : std::to_chars(text, text + 64, float(x),
                                          std::chars_format::scientific);
  return std::string(text, end.ptr);
}

/// `digits` after the point at most, without zeros at the end; the point
/// stays.
static std::string cut(std::string text) {
  if (text.find('.') == text.npos) {
    return text + ".";
  }
  while (text.back() == '0') {
    text.pop_back();
  }
  return text;
}

/// Mantissa with a point, and "e+05".
static std::pair<std::string, std::string> scientific(double x, DType dtype) {
  std::string text = x == 0 ? (std::signbit(x) ? "-0e+00" : "0e+00")
                            : shortestScientific(x, dtype);
  size_t e = text.find('e');
  if (e > size_t(precision) + 2 + (x < 0)) {
    char rounded[64];
    std::snprintf(rounded, sizeof(rounded), "%.*e", precision, x);
    text = rounded;
    e = text.find('e');
  }
  return {cut(text.substr(0, e)), text.substr(e)};
}

static std::string positional(double x, DType dtype, int most = precision) {
  if (x == 0) {
    return std::signbit(x) ? "-0." : "0.";
  }
  std::string text = shortestScientific(x, dtype);
  size_t e = text.find('e');
  int exponent = std::atoi(text.c_str() + e + 1);
  std::string digits;
  for (char c : text.substr(0, e)) {
    if (c >= '0' && c <= '9') {
      digits += c;
    }
  }
  int behind = int(digits.size()) - 1 - exponent;
  if (behind > most) {
    char rounded[512];
    std::snprintf(rounded, sizeof(rounded), "%.*f", most, x);
    return cut(rounded);
  }
  // NumPy writes zeros, not digits that do not count.
  std::string number;
  if (exponent < 0) {
    number = "0." + std::string(size_t(-exponent - 1), '0') + digits;
  } else {
    digits.resize(std::max(digits.size(), size_t(exponent) + 1), '0');
    number = digits.substr(0, size_t(exponent) + 1) + "." +
             digits.substr(size_t(exponent) + 1);
  }
  return (x < 0 ? "-" : "") + cut(number);
}

namespace {

/// All numbers of one tensor, in one form and width.
class Floats {
public:
  Floats(const std::vector<double> &values, DType dtype);
  std::string operator()(double x) const;

private:
  DType dtype;
  bool hasExponents = false;
  size_t left = 0, right = 0, exponentSize = 0, digits = 0;
};

} // namespace

Floats::Floats(const std::vector<double> &values, DType dtype) : dtype(dtype) {
  double most = 0, least = INFINITY;
  bool isFinite = true, hasNegativeInfinity = false, hasNan = false,
       hasInfinity = false;
  for (double x : values) {
    if (std::isfinite(x) && x != 0) {
      most = std::max(most, std::fabs(x));
      least = std::min(least, std::fabs(x));
    }
    isFinite &= std::isfinite(x);
    hasNan |= std::isnan(x);
    hasInfinity |= std::isinf(x);
    hasNegativeInfinity |= std::isinf(x) && x < 0;
  }
  // NumPy divides in the numbers' type.
  double ratio = most / least;
  if (dtype == f16) {
    ratio = std::nearbyint(ratio * 2) / 2; // exact near 1000, where it decides
  } else if (dtype != f64) {
    ratio = double(float(most) / float(least));
  }
  double large = dtype == f16 ? 1e3 : dtype == f64 ? 1e8 : 1e6;
  hasExponents = most > 0 && (most >= large || least < 1e-4 || ratio > 1000);
  for (double x : values) {
    if (!std::isfinite(x)) {
      continue;
    }
    std::string number;
    if (hasExponents) {
      auto [mantissa, exponent] = scientific(x, dtype);
      exponentSize = std::max(exponentSize, exponent.size());
      number = mantissa;
    } else {
      number = positional(x, dtype);
    }
    size_t point = number.find('.');
    left = std::max(left, point);
    digits = std::max(digits, number.size() - point - 1);
  }
  right = digits + exponentSize;
  if (!isFinite) {
    size_t width =
        std::max(hasNan ? 3 : 0, hasInfinity + 2 + hasNegativeInfinity);
    left = std::max(left, width - std::min(width, right + 1));
  }
}

std::string Floats::operator()(double x) const {
  size_t width = left + right + 1;
  if (!std::isfinite(x)) {
    std::string text = std::isnan(x) ? "nan" : x < 0 ? "-inf" : "inf";
    return std::string(width - std::min(width, text.size()), ' ') + text;
  }
  std::string number, exponent;
  if (hasExponents) {
    std::tie(number, exponent) = scientific(x, dtype);
    if (number.size() - number.find('.') - 1 < digits) {
      // Digits of the number itself, not zeros.
      char exact[64];
      std::snprintf(exact, sizeof(exact), "%.*e", int(digits), x);
      exponent = std::string(exact).substr(std::string_view(exact).find('e'));
      number = std::string(exact, std::string_view(exact).find('e'));
    }
    // e+5 of e+05 and e+100: the sign, then zeros.
    exponent.insert(2, exponentSize - exponent.size(), '0');
  } else {
    number = positional(x, dtype);
  }
  std::string text =
      std::string(left - number.find('.'), ' ') + number + exponent;
  return text + std::string(width - std::min(width, text.size()), ' ');
}

namespace {

class Printer {
public:
  explicit Printer(const Tensor &tensor);
  std::string print() const { return nested(0, 0, " ", lineWidth); }

private:
  bool isShort(size_t axis) const { return isCut && shape[axis] > 2 * edge; }
  std::string nested(size_t axis, int64_t at, const std::string &indent,
                     size_t width) const;
  std::string row(int64_t at, const std::string &indent, size_t width) const;

  Shape shape;
  bool isCut;
  /// Row-major; where dimensions are cut, those that are printed, in
  /// `sizes`: the first and last of each.
  std::vector<std::string> words;
  Shape sizes;
};

} // namespace

/// The elements that are printed, row-major.
static Tensor ends(const Tensor &tensor) {
  Tensor result = tensor;
  for (int axis = 0; axis < tensor.rank(); ++axis) {
    int64_t size = tensor.size(axis);
    if (size > 2 * edge) {
      Shape shape = result.shape();
      shape[size_t(axis)] = 2 * edge;
      Tensor both = empty(shape, tensor.dtype(), Device::cpu());
      both.slice(axis, 0, edge).copyFrom(result.slice(axis, 0, edge));
      both.slice(axis, edge).copyFrom(result.slice(axis, size - edge));
      result = both;
    }
  }
  return result;
}

template <typename T>
static void writeIntegers(const Tensor &tensor,
                          std::vector<std::string> &words) {
  size_t width = 0;
  for (T value : tensor.toVector<T>()) {
    words.push_back(std::to_string(value));
    width = std::max(width, words.back().size());
  }
  for (std::string &word : words) {
    word.insert(0, width - word.size(), ' ');
  }
}

Printer::Printer(const Tensor &tensor)
    : shape(tensor.shape()), isCut(tensor.numel() > threshold) {
  Tensor shown = (isCut ? ends(tensor.onHost()) : tensor.onHost()).contiguous();
  sizes = shown.shape();
  DType type = tensor.dtype();
  if (type == i1) {
    for (double value : shown.toFloat64()) {
      words.push_back(value != 0 ? " True" : "False");
    }
  } else if (isFloat(type)) {
    std::vector<double> values = shown.toFloat64();
    Floats text(values, type);
    for (double value : values) {
      words.push_back(text(value));
    }
  } else if (isSigned(type)) {
    writeIntegers<int64_t>(shown, words);
  } else {
    writeIntegers<uint64_t>(shown, words);
  }
}

/// `word` after `line`, or on a new line where that is full.
static void extend(std::string &text, std::string &line,
                   const std::string &word, size_t width,
                   const std::string &indent) {
  if (line.size() + word.size() > width && line.size() > indent.size()) {
    while (line.ends_with(' ')) {
      line.pop_back();
    }
    text += line + "\n";
    line = indent;
  }
  line += word;
}

std::string Printer::row(int64_t at, const std::string &indent,
                         size_t width) const {
  std::string text, line = indent;
  int64_t count = sizes.back();
  for (int64_t i = 0; i < count; ++i) {
    if (i == edge && isShort(sizes.size() - 1)) {
      extend(text, line, "...", width - 1, indent);
      line += " ";
    }
    extend(text, line, words[size_t(at + i)], width - 1, indent);
    line += i + 1 < count ? " " : "";
  }
  text += line;
  return "[" + text.substr(indent.size()) + "]";
}

std::string Printer::nested(size_t axis, int64_t at, const std::string &indent,
                            size_t width) const {
  if (axis + 1 == sizes.size()) {
    return row(at, indent, width);
  }
  int64_t step = 1;
  for (size_t inner = axis + 1; inner < sizes.size(); ++inner) {
    step *= sizes[inner];
  }
  std::string separator(sizes.size() - axis - 1, '\n'), text;
  for (int64_t i = 0; i < sizes[axis]; ++i) {
    if (i == edge && isShort(axis)) {
      text += indent + "..." + separator;
    }
    text += indent + nested(axis + 1, at + i * step, indent + " ", width - 1);
    text += i + 1 < sizes[axis] ? separator : "";
  }
  return "[" + text.substr(indent.size()) + "]";
}

/// As str() of a number.
static std::string scalar(const Tensor &tensor) {
  double x = tensor.item();
  DType type = tensor.dtype();
  if (type == i1) {
    return x != 0 ? "True" : "False";
  }
  if (!isFloat(type)) {
    std::vector<std::string> words;
    isSigned(type) ? writeIntegers<int64_t>(tensor, words)
                   : writeIntegers<uint64_t>(tensor, words);
    return words[0];
  }
  if (!std::isfinite(x)) {
    return std::isnan(x) ? "nan" : x < 0 ? "-inf" : "inf";
  }
  double large = type == f16 ? 1e3 : type == f64 ? 1e16 : 1e6;
  if (x != 0 && (std::fabs(x) < 1e-4 || std::fabs(x) >= large)) {
    std::string text = shortestScientific(x, type);
    return text;
  }
  std::string text = positional(x, type, 400);
  return text.ends_with('.') ? text + "0" : text;
}

std::string nereid::valuesOf(const Tensor &tensor) {
  return !tensor.defined()     ? "undefined"
         : tensor.rank() == 0  ? scalar(tensor.onHost())
         : tensor.numel() == 0 ? "[]"
                               : Printer(tensor).print();
}

std::ostream &nereid::operator<<(std::ostream &stream, const Tensor &tensor) {
  return stream << valuesOf(tensor);
}
