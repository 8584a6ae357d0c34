//===- Reference.cpp - What a launch may leave in memory ------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Reference.h"

#include "nereid/ABI/ForwardingCompiler.h"
#include "nereid/Dialect/Tile/Transforms/AssignSites.h"
#include "nereid/Interp/Interp.h"
#include "nereid/Support/Files.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace nereid::check {

static constexpr double infinity = std::numeric_limits<double>::infinity();

bool Reference::Bound::isUndecided() const { return std::isinf(is.error); }

bool Reference::Bound::allows(uint64_t bits, double more) const {
  if (isUndecided()) {
    return true;
  }
  double actual = interp::decode(*is.format, bits);
  return std::isnan(is.value)
             ? std::isnan(actual)
             : actual == is.value ||
                   std::fabs(actual - is.value) <= is.error + more;
}

const Reference::Bound *Reference::find(size_t region, int64_t offset) const {
  const std::vector<Bound> &list = bounds[region];
  auto found = std::lower_bound(
      list.begin(), list.end(), offset,
      [](const Bound &bound, int64_t at) { return bound.offset < at; });
  return found != list.end() && found->offset == offset ? &*found : nullptr;
}

Contents Reference::poisoned(const Arrays &arrays) const {
  Contents result = arrays.contents;
  for (size_t r = 0; r < result.size() && !isUndecided; ++r) {
    for (size_t i = 0; i < result[r].size(); ++i) {
      if (isOverwritten[r][i]) {
        result[r][i] = ~contents[r][i];
      }
    }
  }
  return result;
}

//===----------------------------------------------------------------------===//
// The compiler whose images for `interp` run with bounds
//===----------------------------------------------------------------------===//

namespace {

class OracleCompiler : public ForwardingCompiler {
public:
  explicit OracleCompiler(interp::Oracle &oracle)
      : ForwardingCompiler(createKernelCompiler()), oracle(oracle) {}

  Expected<HostCode> load(const KernelImage &image) override {
    interp::Options options;
    options.oracle = &oracle;
    return interp::load(
        std::string_view(reinterpret_cast<const char *>(image.code.data()),
                         image.code.size()),
        image.entry, options);
  }

private:
  interp::Oracle &oracle;
};

} // namespace

//===----------------------------------------------------------------------===//
// A kernel that leaves its arrays
//===----------------------------------------------------------------------===//

static std::string lineOf(const SourceLocation &location) {
  Expected<std::string> text = readFile(location.file);
  if (!text.ok() || location.line == 0) {
    return "";
  }
  size_t begin = 0;
  for (uint32_t line = 1; line < location.line; ++line) {
    size_t end = text->find('\n', begin);
    if (end == std::string::npos) {
      return "";
    }
    begin = end + 1;
  }
  return text->substr(begin, text->find('\n', begin) - begin);
}

/// "element 1000 of 'x_ptr', which is fp32[1000]", counted from the nearest.
static std::string describeAddress(const Arrays &arrays, const ArraysCopy &copy,
                                   uint64_t address) {
  std::string text = "no array";
  uint64_t nearest = UINT64_MAX;
  for (size_t i = 0; i < arrays.views.size(); ++i) {
    const Tensor &tensor = copy.tensor(i);
    auto begin = reinterpret_cast<uint64_t>(tensor.data());
    uint64_t end = begin + static_cast<uint64_t>(tensor.extentBytes());
    uint64_t distance = address < begin  ? begin - address
                        : address >= end ? address - end
                                         : 0;
    if (distance < nearest) {
      nearest = distance;
      auto bytes = static_cast<int64_t>(byteSize(tensor.dtype()));
      auto offset = static_cast<int64_t>(address - begin);
      int64_t element =
          offset >= 0 ? offset / bytes : -((-offset - 1) / bytes) - 1;
      text = "element " + std::to_string(element) + " of '" +
             arrays.views[i].name + "', which is " +
             arrays.views[i].tensor.str();
    }
  }
  return text;
}

[[noreturn]] static void raiseOutside(const Arrays &arrays,
                                      const ArraysCopy &copy,
                                      const std::string &kernel,
                                      const interp::Oracle::Access &access) {
  Diagnostic d;
  d.location = tile::sourceLocationOf(access.place);
  d.sourceLine = lineOf(d.location);
  d.message = std::string("this ") + (access.isWrite ? "stores" : "loads") +
              " outside of the launch's arrays: " +
              describeAddress(arrays, copy, access.address);
  d.hint = "mask the access: tl.load(ptr, mask=offsets < n); NEREID_CHECK=oob "
           "stops any launch there";
  Diagnostic note;
  note.severity = Severity::Note;
  note.message = "in program " + std::to_string(access.program) +
                 " (in the order of the grid) of kernel '" + kernel + "'";
  d.notes.push_back(note);
  raise(
      {ErrorCode::KernelFault, kernel + ": the kernel leaves its arrays", {d}});
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

static void fill(Reference &result, const Arrays &arrays,
                 const ArraysCopy &copy, const interp::Oracle &oracle) {
  result.contents = copy.read();
  result.isUndecided = oracle.undecided;
  for (size_t r = 0; r < arrays.regions.size(); ++r) {
    uint64_t begin = copy.address(r);
    auto size = static_cast<uint64_t>(arrays.regions[r].size());
    std::vector<Reference::Bound> list;
    for (const auto &[address, bound] : oracle.stored) {
      if (address >= begin && address + bound.bytes <= begin + size) {
        list.push_back({static_cast<int64_t>(address - begin), bound});
      }
    }
    std::sort(list.begin(), list.end(),
              [](const auto &a, const auto &b) { return a.offset < b.offset; });
    result.bounds.push_back(std::move(list));
    result.isOverwritten.emplace_back(size);
  }
  for (const Arrays::View &view : arrays.views) {
    auto bytes = static_cast<unsigned>(byteSize(view.tensor.dtype()));
    if (!view.tensor.extentBytes() || view.holdsAddresses) {
      continue;
    }
    uint64_t begin = copy.address(view.region);
    std::vector<bool> &flags = result.isOverwritten[view.region];
    forElements(view, [&](int64_t, int64_t offset) {
      auto at = static_cast<uint64_t>(offset);
      if (oracle.log.useOf(begin + at, bytes).isWrittenFirst) {
        std::fill_n(flags.begin() + offset, bytes, true);
      }
    });
  }
}

/// A bit a byte of its region: is it an element's?
static std::vector<bool> bytesOf(const Arrays::View &view, int64_t size) {
  std::vector<bool> bytes(size);
  auto each = static_cast<int64_t>(byteSize(view.tensor.dtype()));
  forElements(view, [&](int64_t, int64_t offset) {
    std::fill_n(bytes.begin() + offset, each, true);
  });
  return bytes;
}

/// Views that lie in each other's gaps have no bytes in common.
static std::vector<Reference::Overlap>
findOverlaps(const Arrays &arrays, const ArraysCopy &copy,
             const interp::Oracle &oracle) {
  std::vector<Reference::Overlap> result;
  for (size_t r = 0; r < arrays.regions.size(); ++r) {
    std::vector<size_t> views;
    for (size_t i = 0; i < arrays.views.size(); ++i) {
      if (arrays.views[i].region == r && arrays.views[i].tensor.extentBytes()) {
        views.push_back(i);
      }
    }
    if (views.size() < 2) {
      continue;
    }
    int64_t size = arrays.regions[r].size();
    std::vector<bool> isWritten(size);
    std::vector<std::vector<bool>> bytes;
    for (size_t i : views) {
      const Arrays::View &view = arrays.views[i];
      auto each = static_cast<int64_t>(byteSize(view.tensor.dtype()));
      bytes.push_back(bytesOf(view, size));
      forElements(view, [&](int64_t, int64_t offset) {
        uint64_t address = copy.address(r) + static_cast<uint64_t>(offset);
        if (oracle.log.useOf(address, each).isWritten) {
          std::fill_n(isWritten.begin() + offset, each, true);
        }
      });
    }
    for (size_t a = 0; a < views.size(); ++a) {
      for (size_t b = a + 1; b < views.size(); ++b) {
        Reference::Overlap both{views[a], views[b], size, 0};
        for (int64_t at = 0; at < size; ++at) {
          if (isWritten[at] && bytes[a][at] && bytes[b][at]) {
            both.begin = std::min(both.begin, at);
            both.end = at + 1;
          }
        }
        if (both.begin < both.end) {
          result.push_back(both);
        }
      }
    }
  }
  return result;
}

static Reference::Bound joined(const Reference::Bound &a,
                               const Reference::Bound &b) {
  Reference::Bound result = a;
  bool isSame = a.is.format == b.is.format && a.is.format;
  if (!isSame || a.isUndecided() || b.isUndecided()) {
    result.is.error = infinity;
    return result;
  }
  bool isEqual = a.is.value == b.is.value ||
                 (std::isnan(a.is.value) && std::isnan(b.is.value));
  double apart = isEqual ? 0 : std::fabs(a.is.value - b.is.value);
  double error =
      interp::orderAllowance * (std::max(a.is.error, b.is.error) + apart);
  // More than a rounding lies between the two: the order decides.
  bool isRounding = apart <= a.is.error + b.is.error +
                                 std::max(a.is.orderError(), b.is.orderError());
  result.is.error = isRounding
                        ? error + std::max(a.is.orderError(), b.is.orderError())
                        : infinity;
  return result;
}

void Reference::join(const Reference &other) {
  isUndecided |= other.isUndecided;
  for (size_t r = 0; r < bounds.size(); ++r) {
    for (Bound &bound : bounds[r]) {
      const Bound *opposite = other.find(r, bound.offset);
      bound = joined(bound, opposite ? *opposite : Bound{});
    }
    std::vector<Bound> more;
    const std::vector<std::byte> &a = contents[r], &b = other.contents[r];
    for (int64_t i = 0, n = static_cast<int64_t>(a.size()); i < n;) {
      if (const Bound *bound = find(r, i)) {
        i += bound->is.bytes;
        continue;
      }
      if (const Bound *bound = other.find(r, i)) {
        more.push_back(*bound);
        more.back().is.error = infinity;
      } else if (a[i] != b[i]) {
        more.push_back({i, {0, infinity, nullptr, 1}});
      }
      ++i;
    }
    bounds[r].insert(bounds[r].end(), more.begin(), more.end());
    std::sort(
        bounds[r].begin(), bounds[r].end(),
        [](const Bound &x, const Bound &y) { return x.offset < y.offset; });
  }
}

Reference Reference::run(const Arrays &arrays, bool isForHost,
                         const std::function<Kernel(Context &)> &load,
                         const Launcher &launch) {
  interp::Oracle oracle;
  Context context(std::make_unique<OracleCompiler>(oracle));
  Kernel kernel = load(context).on(Device::interp());
  auto runOnce = [&](bool isBackward) {
    ArraysCopy copy(arrays, Device::interp());
    oracle = interp::Oracle();
    oracle.isBackward = isBackward;
    oracle.allowsTf32 = oracle.allowsShortSums = !isForHost;
    for (size_t r = 0; r < arrays.regions.size(); ++r) {
      auto size = static_cast<uint64_t>(arrays.regions[r].size());
      oracle.log.arrays.push_back(
          {copy.address(r), copy.address(r) + size, /*isWritable=*/true});
    }
    launch(kernel, copy);
    if (oracle.outside) {
      raiseOutside(arrays, copy, kernel.name(), *oracle.outside);
    }
    Reference result;
    fill(result, arrays, copy, oracle);
    result.overlaps = findOverlaps(arrays, copy, oracle);
    if (oracle.metTf32) {
      result.isForHost = isForHost;
    }
    return result;
  };
  Reference result = runOnce(false);
  if (oracle.meeting) {
    result.join(runOnce(true));
  }
  return result;
}

} // namespace nereid::check
