//===- ReferenceTrials.cpp - Trials on the reference executor -------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Runtime/autotune/ConfigTrials.h"

#include "nereid/Runtime/launch/Composite.h"
#include "nereid/Runtime/launch/LaunchErrors.h"
#include "nereid/Support/Hash.h"

#include <algorithm>
#include <deque>

namespace nereid {

uint64_t ConfigSelection::Trials::codeOf(size_t index) {
  const Trial &trial = trials[index];
  Expected<std::array<int32_t, 3>> grid = this->grid(index);
  if (!trial.image || !trial.own.empty() || !grid.ok()) {
    return 0;
  }
  const KernelImage &image = *trial.image;
  std::string text = std::to_string(trial.codeHash);
  for (int64_t number :
       {int64_t{(*grid)[0]}, int64_t{(*grid)[1]}, int64_t{(*grid)[2]},
        int64_t{binding.device.isHost() ? 0 : image.threadsPerBlock},
        int64_t{image.sharedBytes},
        static_cast<int64_t>(image.parameters.size())}) {
    text += "," + std::to_string(number);
  }
  uint64_t hash = std::stoull(hashText(text).hex().substr(0, 16), nullptr, 16);
  return hash ? hash : 1;
}

namespace {

/// The launch's tensors in host memory, which the launch does not see.
class Copies {
public:
  explicit Copies(const KernelState &kernel) : kernel(kernel) {}

  /// Replaces the binding's tensors.
  Status make(LaunchBinding &binding) {
    constexpr int64_t mostBytes = int64_t{1} << 26;
    int64_t bytes = 0;
    size_t whole = 0, all = 0;
    forEachTensor(binding, [&](const std::string &, const Tensor &tensor) {
      ++all;
      bytes += tensor.defined() ? tensor.bytes() : 0;
    });
    if (bytes > mostBytes) { // before any is copied
      return refusal("tensors are large");
    }
    for (size_t i = 0; i < binding.size(); ++i) {
      const Argument *argument = binding.get(i);
      if (argument && argument->kind == Argument::Kind::Pointer) {
        return refusal("an argument is an address");
      }
      if (!argument || argument->kind != Argument::Kind::Tensor) {
        continue;
      }
      ++whole;
      const Tensor &tensor = *argument->tensor;
      if (!tensor.defined() || !tensor.isContiguous()) {
        return refusal("a tensor has gaps");
      }
      if (Status status = add(i, tensor); !status.ok()) {
        return status;
      }
      arguments.emplace_back(
          std::find_if(made.begin(), made.end(), [&](const Made &one) {
            return one.of == tensor.data();
          })->tensor);
      binding.set(i, &arguments.back());
    }
    return whole == all ? Status::success()
                        : refusal("tensors come in tuples or descriptors");
  }

  struct Made {
    std::string name;
    const void *of;
    Tensor tensor;
  };
  std::deque<Made> made;

private:
  Failure refusal(const std::string &why) const {
    return launchFailure(kernel, "no reference: " + why);
  }

  Status add(size_t parameter, const Tensor &tensor) {
    auto begin = static_cast<const std::byte *>(tensor.data());
    for (const Made &one : made) {
      auto other = static_cast<const std::byte *>(one.of);
      if (other == begin && one.tensor.bytes() == tensor.bytes() &&
          one.tensor.dtype() == tensor.dtype()) {
        return Status::success();
      }
      if (begin < other + one.tensor.bytes() &&
          other < begin + tensor.bytes()) {
        return refusal("tensors overlap");
      }
    }
    made.push_back(
        {kernel.description.parameters[parameter].name, tensor.data(),
         tensor.device().isHost() ? tensor.clone() : tensor.to(Device::cpu())});
    return Status::success();
  }

  const KernelState &kernel;
  std::deque<Argument> arguments;
};

} // namespace

Expected<ReferenceRun> ConfigSelection::Trials::runReference(size_t index,
                                                             uint64_t budget,
                                                             bool isBackward) {
  Trial &trial = trials[index];
  auto refusal = [&](const std::string &why) {
    return launchFailure(binding.kernel, "no reference: " + why);
  };
  if (!trial.image || trial.image->programsWait) {
    return refusal("programs wait for one another");
  }
  if (Status status = restore(true); !status.ok()) {
    return status;
  }
  try {
    LaunchBinding bound = trial.binding;
    Copies copies(binding.kernel);
    HookedArguments hooked;
    Status status = copies.make(bound);
    status = status.ok() ? perform(trial.own, bound, hooked) : status;
    status = status.ok() ? perform(trial.before, bound, hooked) : status;
    if (!status.ok()) {
      return status;
    }
    bound.device = Device::interp();
    ReferenceRun run;
    for (const Copies::Made &one : copies.made) {
      run.tensors.push_back({one.name, one.tensor});
      run.watch.add(one.name, reinterpret_cast<uint64_t>(one.tensor.data()),
                    static_cast<uint64_t>(one.tensor.numel()),
                    static_cast<unsigned>(byteSize(one.tensor.dtype())));
    }
    run.watch.budget = budget;
    run.watch.isBackward = isBackward;
    AccessWatch::Scope scope(run.watch);
    status = steps.run(bound);
    return status.ok() ? Expected<ReferenceRun>(std::move(run)) : status;
  } catch (const Error &error) {
    return error.failure();
  }
}

} // namespace nereid
