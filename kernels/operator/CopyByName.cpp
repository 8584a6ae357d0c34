//===- CopyByName.cpp -----------------------------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/operator/CopyByName.h"

#include "nereid/Runtime/Error.h"

#include <algorithm>

using namespace nereid;
using namespace nereid::kernels;

/// "'a', 'b' and 3 more".
static std::string listed(const std::vector<std::string> &names) {
  constexpr size_t most = 8;
  std::string text;
  for (size_t i = 0; i < std::min(names.size(), most); ++i) {
    text += (i ? ", '" : "'") + names[i] + "'";
  }
  return names.size() > most
             ? text + " and " + std::to_string(names.size() - most) + " more"
             : text;
}

bool kernels::isSameTensor(const Tensor &a, const Tensor &b) {
  return a.numel() > 0 && a.data() == b.data() && a.dtype() == b.dtype() &&
         a.shape() == b.shape() && a.strides() == b.strides();
}

NamesApart kernels::checkByName(const char *call, const char *owner,
                                const char *hint,
                                const std::map<std::string, Tensor> &into,
                                const std::map<std::string, Tensor> &from,
                                bool strict) {
  NamesApart result;
  std::string why;
  for (const auto &[name, tensor] : from) {
    auto place = into.find(name);
    if (place == into.end()) {
      result.unexpected.push_back(name);
    } else if (!tensor.defined() || tensor.shape() != place->second.shape()) {
      why += "; '" + name + "': expected " + place->second.str() + ", got " +
             (tensor.defined() ? tensor.str() : "an undefined tensor");
    } else if (place->second.sharesElements()) {
      why += "; '" + name + "': expected a place in memory for each element, " +
             "got the expanded " + place->second.str();
    }
  }
  // One name of a tied parameter is enough.
  for (const auto &[name, tensor] : into) {
    bool isTied = std::ranges::any_of(into, [&](const auto &other) {
      return from.contains(other.first) && isSameTensor(other.second, tensor);
    });
    if (!from.contains(name) && !isTied) {
      result.missing.push_back(name);
    }
  }
  bool isHinted = false;
  if (strict && !result.missing.empty()) {
    why += "; missing: " + listed(result.missing);
    isHinted = true;
  }
  if (strict && !result.unexpected.empty()) {
    why += "; unexpected: " + listed(result.unexpected);
    isHinted = true;
  }
  if (!why.empty()) {
    raise({ErrorCode::InvalidArgument,
           std::string(call) + ": expected the " + std::to_string(into.size()) +
               " tensors of " + owner + ", got " + std::to_string(from.size()) +
               " that do not fit" + why +
               (isHinted ? std::string("; hint: ") + hint : std::string()),
           {}});
  }
  return result;
}

NamesApart kernels::copyByName(const char *call, const char *owner,
                               const char *hint,
                               const std::map<std::string, Tensor> &into,
                               const std::map<std::string, Tensor> &from,
                               bool strict) {
  NamesApart result = checkByName(call, owner, hint, into, from, strict);
  for (const auto &[name, tensor] : from) {
    if (auto place = into.find(name); place != into.end()) {
      place->second.copyFrom(tensor);
    }
  }
  return result;
}
