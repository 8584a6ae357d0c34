//===- DeviceCheck.cpp - One launch on every device, judged ---------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LaunchCheck.h"

#include "nereid/Runtime/Stream.h"

#include <algorithm>
#include <map>

namespace nereid::check {

/// The launch, with other tensors and more values.
class LaunchCheck::Relaunch {
public:
  explicit Relaunch(const CheckedLaunch &launch) : launch(launch) {
    std::vector<NamedTensor> tensors;
    for (size_t i = 0; i < launch.arguments.size(); ++i) {
      const LaunchArgument &argument = launch.arguments[i];
      if (argument.value.kind == Argument::Kind::Pointer) {
        raise({ErrorCode::InvalidArgument,
               "--check needs to copy the arrays; an address without an extent "
               "cannot be checked",
               {}});
      }
      if (argument.value.kind == Argument::Kind::Tensor &&
          argument.value.tensor->defined()) {
        viewOf[i] = tensors.size();
        std::string name = argument.name.empty()
                               ? "argument " + std::to_string(i)
                               : std::string(argument.name);
        tensors.push_back({name, *argument.value.tensor});
      }
    }
    tensors.insert(tensors.end(), launch.reachable.begin(),
                   launch.reachable.end());
    arrays.emplace(std::move(tensors));
  }

  const Arrays &memory() const { return *arrays; }

  /// `meta` becomes the values that the grid sees.
  void run(const Kernel &kernel, const ArraysCopy &copy, const Values &more,
           Values *meta = nullptr) const {
    std::vector<LaunchArgument> arguments;
    for (size_t i = 0; i < launch.arguments.size(); ++i) {
      auto view = viewOf.find(i);
      arguments.push_back(
          view == viewOf.end()
              ? launch.arguments[i]
              : LaunchArgument(launch.arguments[i].name,
                               Argument(copy.tensor(view->second))));
    }
    for (const auto &[name, value] : more) {
      arguments.emplace_back(name, Argument(value));
    }
    const Grid &grid = launch.grid;
    kernel.launch(Grid([&grid, meta](const Meta &m) {
                    if (meta) {
                      *meta = m.values();
                    }
                    return grid.isFunction() ? grid.evaluate(m) : grid;
                  }),
                  arguments);
  }

  /// Of the values seen by the grid, those that @triton.autotune chose.
  Values tuned(const Kernel &kernel, const Values &meta) const {
    Values result;
    const KernelDescription &description = kernel.description();
    for (const ConfigDescription &config : description.configs) {
      for (const auto &[name, value] : config.values) {
        auto seen = meta.find(name);
        if (seen != meta.end() && !isGiven(description, name)) {
          result.insert(*seen);
        }
      }
    }
    return result;
  }

private:
  bool isGiven(const KernelDescription &description,
               const std::string &name) const {
    for (size_t i = 0; i < launch.arguments.size(); ++i) {
      std::string_view given = launch.arguments[i].name;
      bool isPositional = given.empty() && i < description.parameters.size() &&
                          description.parameters[i].name == name;
      if (given == name || isPositional) {
        return true;
      }
    }
    return false;
  }

  const CheckedLaunch &launch;
  std::map<size_t, size_t> viewOf; ///< by argument
  std::optional<Arrays> arrays;
};

LaunchCheck::LaunchCheck(const CheckedLaunch &launch)
    : relaunch(std::make_unique<Relaunch>(launch)), launch(launch),
      kernel(launch.load(Context::shared())) {}

LaunchCheck::~LaunchCheck() = default;

const Arrays &LaunchCheck::arrays() const { return relaunch->memory(); }

/// GPUs of one machine are alike.
std::vector<Device> LaunchCheck::devices() const {
  if (!launch.devices.empty()) {
    return launch.devices;
  }
  std::vector<Device> result;
  for (Device device : Device::available()) {
    if (device.index() == 0) {
      result.push_back(device);
    }
  }
  return result;
}

LaunchCheck::Run LaunchCheck::run(Device device) {
  Kernel onDevice = kernel.on(device);
  Values tuned;
  if (!kernel.description().configs.empty()) {
    // Trials run on memory of their own. The reference takes the choice, on
    // which the layout of an output may depend.
    Values meta;
    relaunch->run(onDevice, ArraysCopy(arrays(), device), {}, &meta);
    synchronize(device);
    tuned = relaunch->tuned(kernel, meta);
  }
  auto found = std::find_if(
      references.begin(), references.end(), [&](const auto &reference) {
        return reference.first == tuned &&
               reference.second.isForHost.value_or(device.isHost()) ==
                   device.isHost();
      });
  if (found == references.end()) {
    references.emplace_back(
        tuned, Reference::run(arrays(), device.isHost(), launch.load,
                              [&](const Kernel &k, const ArraysCopy &copy) {
                                relaunch->run(k, copy, tuned);
                              }));
    found = std::prev(references.end());
  }
  Run result{device, &found->second, found->second.poisoned(arrays()), {}};
  ArraysCopy copy(arrays(), device, result.before);
  relaunch->run(onDevice, copy, {});
  synchronize(device);
  result.after = copy.read();
  result.damagedRegion = copy.damagedRegion();
  return result;
}

CheckReport checkLaunch(const CheckedLaunch &launch) {
  LaunchCheck check(launch);
  CheckReport report;
  for (Device device : check.devices()) {
    check.judge(check.run(device), report);
  }
  return report;
}

} // namespace nereid::check
