//===- Judge.cpp - What a device left, against what it may leave ----------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LaunchCheck.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace nereid::check {

namespace {

enum class Verdict : uint8_t { Right, Wrong, Undecided };

/// One region, byte by byte.
class Judgement {
public:
  Judgement(const Reference &reference, size_t region,
            const std::vector<std::byte> &before,
            const std::vector<std::byte> &after, double tolerance)
      : reference(reference), region(region), before(before), after(after),
        verdicts(after.size(), Verdict::Right), isViewed(after.size()) {
    double more = tolerance > 0 ? tolerance * largestValue() : 0;
    auto bound = reference.bounds[region].begin(),
         end = reference.bounds[region].end();
    for (int64_t i = 0, n = static_cast<int64_t>(after.size()); i < n;) {
      if (reference.isUndecided) {
        verdicts[i++] = Verdict::Undecided;
      } else if (bound != end && bound->offset == i) {
        Verdict verdict = bound->isUndecided() ? Verdict::Undecided
                          : bound->allows(bits(i, *bound), more)
                              ? Verdict::Right
                              : Verdict::Wrong;
        std::fill_n(verdicts.begin() + i, bound->is.bytes, verdict);
        i += bound->is.bytes;
        ++bound;
      } else {
        // Bounds that overlap another one are of memory stored as two types.
        for (; bound != end && bound->offset <= i; ++bound) {
        }
        bool isEqual = after[i] == reference.contents[region][i];
        verdicts[i++] = isEqual ? Verdict::Right : Verdict::Wrong;
      }
    }
  }

  /// Of memory that no argument is, only what no other view has.
  ArrayReport report(const Arrays::View &view, Device device, bool isArgument);
  /// Bytes that are wrong and in no view.
  int64_t strays() const {
    int64_t count = 0;
    for (size_t i = 0; i < verdicts.size(); ++i) {
      count += verdicts[i] == Verdict::Wrong && !isViewed[i];
    }
    return count;
  }

private:
  static constexpr size_t maxSamples = 4;

  uint64_t bits(int64_t offset, const Reference::Bound &bound) const {
    uint64_t value = 0;
    std::memcpy(&value, &after[offset], bound.is.bytes);
    return value;
  }
  double largestValue() const {
    double largest = 0;
    for (const Reference::Bound &bound : reference.bounds[region]) {
      if (!bound.isUndecided() && std::isfinite(bound.is.value)) {
        largest = std::max(largest, std::fabs(bound.is.value));
      }
    }
    return largest;
  }
  std::string sample(const Arrays::View &view, int64_t element, int64_t offset,
                     Device device) const;

  const Reference &reference;
  size_t region;
  const std::vector<std::byte> &before, &after;
  std::vector<Verdict> verdicts;
  std::vector<bool> isViewed;
};

} // namespace

static std::string indexText(const Tensor &tensor, int64_t element) {
  std::string text;
  for (size_t d = tensor.shape().size(); d-- > 0;) {
    int64_t size = std::max<int64_t>(tensor.shape()[d], 1);
    text = std::to_string(element % size) + (text.empty() ? "" : ", ") + text;
    element /= size;
  }
  return text.empty() || tensor.rank() == 1 ? text : "(" + text + ")";
}

static std::string number(double value) {
  char text[40];
  std::snprintf(text, sizeof(text), "%.9g", value);
  return text;
}

/// An element of a dtype from its bytes.
static std::string elementText(DType dtype, const std::byte *bytes) {
  uint64_t bits = 0;
  std::memcpy(&bits, bytes, byteSize(dtype));
  if (isFloat(dtype)) {
    return number(Tensor::borrow(&bits, {1}, dtype).item());
  }
  unsigned shift = 64 - 8 * static_cast<unsigned>(byteSize(dtype));
  return isSigned(dtype)
             ? std::to_string(static_cast<int64_t>(bits << shift) >> shift)
             : std::to_string(bits);
}

std::string Judgement::sample(const Arrays::View &view, int64_t element,
                              int64_t offset, Device device) const {
  DType dtype = view.tensor.dtype();
  size_t bytes = byteSize(dtype);
  auto first = static_cast<size_t>(offset);
  auto equals = [&](const std::vector<std::byte> &other) {
    return std::equal(&after[first], &after[first] + bytes, &other[first]);
  };
  std::string expected = elementText(dtype, &reference.contents[region][first]);
  const Reference::Bound *bound = reference.find(region, offset);
  if (bound && bound->is.bytes == bytes && bound->is.format) {
    expected = number(bound->is.value);
    if (bound->is.error > 0) {
      expected += " +- " + number(bound->is.error);
    }
  }
  std::string text = "element " + indexText(view.tensor, element) + ": ";
  if (reference.isOverwritten[region][first] && equals(before)) {
    return text + "not written on " + device.str() + ", expected " + expected;
  }
  return text + elementText(dtype, &after[first]) + " on " + device.str() +
         ", expected " + expected;
}

ArrayReport Judgement::report(const Arrays::View &view, Device device,
                              bool isArgument) {
  ArrayReport result;
  result.name = view.name;
  result.isArgument = isArgument;
  result.type = view.tensor.str();
  result.device = device.str();
  result.elements = view.tensor.numel();
  auto bytes = static_cast<int64_t>(byteSize(view.tensor.dtype()));
  forElements(view, [&](int64_t i, int64_t offset) {
    if (!isArgument && isViewed[offset]) {
      return;
    }
    std::fill_n(isViewed.begin() + offset, bytes, true);
    auto first = verdicts.begin() + offset;
    if (std::find(first, first + bytes, Verdict::Wrong) != first + bytes) {
      ++result.wrong;
      if (result.samples.size() < maxSamples) {
        result.samples.push_back(sample(view, i, offset, device));
      }
    } else if (std::find(first, first + bytes, Verdict::Undecided) !=
               first + bytes) {
      ++result.undecided;
      return;
    }
    const Reference::Bound *bound = reference.find(region, offset);
    if (bound && bound->is.format && !bound->isUndecided()) {
      double actual = interp::decode(*bound->is.format, bits(offset, *bound));
      double difference = std::fabs(actual - bound->is.value);
      if (difference > 0) { // not for two NaNs, or for equal infinities
        result.largestDifference =
            std::max(result.largestDifference, difference);
        result.largestShare =
            std::max(result.largestShare, difference / bound->is.error);
      }
    }
  });
  return result;
}

/// "bytes 128 to 256 of x_ptr are bytes 0 to 128 of y_ptr".
static std::string overlapNote(const Arrays &arrays,
                               const Reference::Overlap &overlap) {
  auto part = [&](size_t i) {
    const Arrays::View &view = arrays.views[i];
    return "bytes " + std::to_string(overlap.begin - view.offset) + " to " +
           std::to_string(overlap.end - view.offset) + " of " + view.name;
  };
  return "arrays overlap: " + part(overlap.first) + " are " +
         part(overlap.second) +
         ", and the kernel stores there. A program's loads and stores of them "
         "have an order only where they are of the same elements, or with "
         "tl.debug_barrier() between (docs/Check.md)";
}

void LaunchCheck::judge(const Run &run, CheckReport &report) const {
  const Arrays &all = arrays();
  size_t arguments = all.views.size() - launch.reachable.size();
  for (const Reference::Overlap &overlap : run.reference->overlaps) {
    if (overlap.second >= arguments) { // what arguments lead into
      continue;
    }
    std::string note = overlapNote(all, overlap);
    if (std::find(report.notes.begin(), report.notes.end(), note) ==
        report.notes.end()) {
      report.notes.push_back(std::move(note));
    }
  }
  std::vector<Judgement> regions;
  for (size_t r = 0; r < all.regions.size(); ++r) {
    regions.emplace_back(*run.reference, r, run.before[r], run.after[r],
                         launch.tolerance);
  }
  // The report of the first view of each region.
  std::vector<size_t> owners(all.regions.size(), SIZE_MAX);
  for (size_t i = 0; i < all.views.size(); ++i) {
    const Arrays::View &view = all.views[i];
    bool isArgument = i < arguments;
    if (view.tensor.extentBytes()) {
      owners[view.region] = std::min(owners[view.region], report.arrays.size());
      report.arrays.push_back(
          regions[view.region].report(view, run.device, isArgument));
    }
  }
  for (size_t r = 0; r < all.regions.size(); ++r) {
    ArrayReport &owner = report.arrays[owners[r]];
    if (int64_t strays = regions[r].strays()) {
      ++owner.wrong;
      owner.samples.push_back(std::to_string(strays) +
                              " bytes between the elements are changed");
    }
    if (run.damagedRegion == static_cast<int64_t>(r)) {
      ++owner.wrong;
      owner.samples.push_back("memory in front of it or after it is changed");
    }
  }
}

bool CheckReport::passed() const {
  return std::none_of(arrays.begin(), arrays.end(),
                      [](const ArrayReport &a) { return a.wrong != 0; });
}

std::string CheckReport::text() const {
  std::string text;
  for (const std::string &note : notes) {
    text += "check note: " + note + "\n";
  }
  for (const ArrayReport &a : arrays) {
    if (!a.isArgument && !a.wrong) {
      continue;
    }
    text += "check " + a.name + " on " + a.device + ": " + a.type;
    std::string of = " of " + std::to_string(a.elements) + " elements";
    if (a.wrong) {
      text += ": WRONG, " + std::to_string(a.wrong) + of;
    } else if (a.undecided == a.elements) {
      text += ": nothing is decided";
    } else if (a.largestDifference > 0) {
      char part[80];
      std::snprintf(part, sizeof(part),
                    ": right, max diff %.3g, %.3g of its bound",
                    a.largestDifference, a.largestShare);
      text += part;
    } else {
      text += ": right, equal";
    }
    if (a.undecided && a.undecided != a.elements) {
      text += "; " + std::to_string(a.undecided) + of +
              " hang on a rounding or an order";
    }
    text += "\n";
    for (const std::string &sample : a.samples) {
      text += "  " + sample + "\n";
    }
  }
  return text;
}

} // namespace nereid::check
