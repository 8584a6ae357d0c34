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
      collect(argument.value,
              argument.name.empty() ? "argument " + std::to_string(i)
                                    : std::string(argument.name),
              tensors);
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
    Rebuilder rebuilder{copy};
    for (const LaunchArgument &argument : launch.arguments) {
      arguments.emplace_back(argument.name, rebuilder.of(argument.value));
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

  /// The tensors of an argument, in the order in which Rebuilder meets them.
  static void collect(const Argument &argument, const std::string &name,
                      std::vector<NamedTensor> &tensors) {
    switch (argument.kind) {
    case Argument::Kind::Pointer:
      raise({ErrorCode::InvalidArgument,
             "--check needs to copy the arrays; '" + name +
                 "' is an address without an extent, and cannot be checked",
             {}});
    case Argument::Kind::Tensor:
      if (argument.tensor->defined()) {
        tensors.push_back({name, *argument.tensor});
      }
      return;
    case Argument::Kind::Descriptor:
      tensors.push_back({name, argument.descriptor->base()});
      return;
    case Argument::Kind::Tuple:
      for (size_t i = 0; i < argument.tuple->items.size(); ++i) {
        std::string place = argument.tuple->names.empty()
                                ? "[" + std::to_string(i) + "]"
                                : "." + argument.tuple->names[i];
        collect(argument.tuple->items[i], name + place, tensors);
      }
      return;
    default:
      return;
    }
  }

  /// Arguments with the copy's tensors; they view what it holds.
  struct Rebuilder {
    const ArraysCopy &copy;
    size_t next = 0;
    std::deque<TensorDescriptor> descriptors = {};
    std::deque<Tuple> tuples = {};

    Argument of(const Argument &argument) {
      switch (argument.kind) {
      case Argument::Kind::Tensor:
        return argument.tensor->defined() ? Argument(copy.tensor(next++))
                                          : argument;
      case Argument::Kind::Descriptor: {
        const TensorDescriptor &original = *argument.descriptor;
        descriptors.emplace_back(copy.tensor(next++), original.shape(),
                                 original.strides(), original.blockShape(),
                                 original.padding());
        return Argument(descriptors.back());
      }
      case Argument::Kind::Tuple: {
        Tuple rebuilt = *argument.tuple;
        for (Argument &item : rebuilt.items) {
          item = of(item);
        }
        tuples.push_back(std::move(rebuilt));
        return Argument(tuples.back());
      }
      default:
        return argument;
      }
    }
  };

  const CheckedLaunch &launch;
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
