//===- Module.h - Parameters by name ---------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   struct Mlp : nn::Module {
//     nn::Linear up, down;
//     explicit Mlp(int64_t width)
//         : up(add("up", nn::Linear(width, 4 * width))),
//           down(add("down", nn::Linear(4 * width, width))) {}
//     Variable operator()(const Variable &x) const {
//       return down(kernels::gelu(up(x)));
//     }
//   };
//
//   Mlp mlp(64);
//   kernels::AdamW optimizer(mlp.parameters());
//   nn::saveModel(mlp, "mlp.safetensors"); // up.weight, up.bias, down.weight
//   ...
//
// A module is a handle, as a variable is: copies have the same parameters, and
// are switched to `eval` together. `add` gives back what it was given, so that
// members are made and named at once. A module may stand in a std::vector.
//
// Names are those of PyTorch's state_dict, and parameters come in its order: a
// module's own, then those of its modules, joined by dots.
//
// Not thread-safe to change; threads may run one module at once.
//
// Errors: InvalidArgument, with the names that are meant.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_KERNELS_MODULE_MODULE_H
#define NEREID_KERNELS_MODULE_MODULE_H

#include "nereid/Autograd/Variable.h"
#include "nereid/Runtime/Text.h"

#include <concepts>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace nereid::nn {

struct NamedVariable {
  std::string name; ///< "blocks.0.up.weight"
  Variable value;
};

/// Tensors by name, in its order. Those of a module share its memory.
using StateDict = std::map<std::string, Tensor>;

/// Names that only the module, and that only the state has.
struct LoadResult {
  std::vector<std::string> missing, unexpected;
};

class Module {
public:
  Module();

  /// Its own and those of its modules as `add` was called, each once under its
  /// first name.
  std::vector<NamedVariable> namedParameters() const;
  std::vector<Variable> parameters() const;
  std::vector<NamedVariable> namedBuffers() const;
  /// This one, under "", and all inside of it.
  std::vector<std::pair<std::string, Module>> namedModules() const;
  /// Elements of all parameters.
  int64_t parameterCount() const;

  /// Parameters and buffers under every name that they have. `state["x"]` is
  /// the module's own memory: clone() keeps what it is now.
  StateDict stateDict() const;
  /// Copies the elements, which take the module's types and device; parameters
  /// stay where they are, so that optimisers and graphs go on. Nothing is
  /// changed where something does not fit. Throws InvalidArgument, which names
  /// all that is missing, unexpected (both where `strict`), of another shape,
  /// or a buffer that is expanded.
  LoadResult loadStateDict(const StateDict &state, bool strict = true) const;

  /// What dropout asks. Of this module and all inside of it.
  void train(bool isOn = true) const;
  void eval() const { train(false); }
  bool isTraining() const;

  /// Forgets the gradients.
  void zeroGrad() const;
  /// Parameters that require no gradient are left out of graphs and by
  /// optimisers: false freezes a part of a model.
  void requiresGrad(bool isOn) const;
  /// Moves parameters, buffers and gradients, for all handles; optimisers
  /// follow. Not between an operator and its backward.
  void to(Device device) const;
  /// Converts parameters and buffers of floats, and forgets gradients.
  void to(DType dtype) const;

  /// Registers a tensor of floats as a parameter: a leaf that requires a
  /// gradient. A name is not empty and is used once in a module.
  Variable add(Text name, Tensor parameter) const {
    return add(name, Variable(std::move(parameter), true));
  }
  /// The same of a variable, which may be another module's, too (tied weights);
  /// an undefined one is not registered.
  Variable add(Text name, Variable parameter) const;
  /// What belongs to the module but is not trained. `isSaved`: is it part of
  /// the state?
  Variable addBuffer(Text name, Tensor buffer, bool isSaved = true) const;
  template <std::derived_from<Module> M>
  M add(Text name, M module) const {
    addModule(name, module);
    return module;
  }
  /// `count` modules of the same arguments: "name.0", "name.1" ...
  template <std::derived_from<Module> M, typename... Args>
  std::vector<M> addList(Text name, int64_t count, const Args &...args) const {
    std::vector<M> list;
    for (int64_t i = 0; i < count; ++i) {
      list.push_back(add(name.str() + "." + std::to_string(i), M(args...)));
    }
    return list;
  }

private:
  struct State;
  void addModule(Text name, const Module &module) const;

  std::shared_ptr<State> state;
};

/// A file of the module's state, for `safetensors.torch.load_model` and
/// `loadModel`: each tensor once, under its first name. `metadata`: what else
/// the file says of itself. Throws IoError; the old file stays then.
void saveModel(const Module &module, Text path,
               const std::map<std::string, std::string> &metadata = {
                   {"format", "pt"}});
/// As loadStateDict, of a file. Tied parameters need one of their names. Throws
/// NotFound, IoError for a file that is damaged.
LoadResult loadModel(const Module &module, Text path, bool strict = true);

/// The same for tensors by name.
void saveFile(const StateDict &state, Text path,
              const std::map<std::string, std::string> &metadata = {
                  {"format", "pt"}});
/// On the host, as views of the mapped file.
StateDict loadFile(Text path);

} // namespace nereid::nn

#endif // NEREID_KERNELS_MODULE_MODULE_H
