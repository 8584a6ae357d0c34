//===- Composite.cpp - Tuples and descriptors as arguments ----------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Runtime/launch/Composite.h"

#include "nereid/Runtime/launch/LaunchBinding.h"

namespace nereid {

using Kind = Argument::Kind;

/// A tuple of plain values.
static const StaticValue::Tuple *plainTuple(const Argument &argument) {
  return argument.kind == Kind::Static
             ? std::get_if<StaticValue::Tuple>(&argument.value->value)
             : nullptr;
}

static bool hasNames(const Tuple &tuple) {
  if (!tuple.names.empty()) {
    return true;
  }
  for (const Argument &item : tuple.items) {
    if (item.kind == Kind::Tuple && hasNames(*item.tuple)) {
      return true;
    }
  }
  return false;
}

bool isComposite(const ParameterDescription &parameter,
                 const Argument &argument) {
  if (argument.kind == Kind::Descriptor) {
    return true;
  }
  if (argument.kind == Kind::Tuple) {
    return !parameter.isStatic || hasNames(*argument.tuple);
  }
  return !parameter.isStatic && plainTuple(argument);
}

/// The items of a tuple, of whichever kind it is.
static std::vector<Argument> itemsOf(const Argument &argument) {
  if (argument.kind == Kind::Tuple) {
    return argument.tuple->items;
  }
  const StaticValue::Tuple &items = *plainTuple(argument);
  return {items.begin(), items.end()};
}

static std::string itemPlace(const Argument &argument, size_t i) {
  const auto *names =
      argument.kind == Kind::Tuple ? &argument.tuple->names : nullptr;
  return names && !names->empty() ? "." + (*names)[i]
                                  : "[" + std::to_string(i) + "]";
}

//===----------------------------------------------------------------------===//
// Specialization
//===----------------------------------------------------------------------===//

namespace {

class Flattener {
public:
  Flattener(std::vector<Specialized> &leaves, WordKey &key)
      : leaves(leaves), key(key) {}

  CompositeMismatch add(const ParameterDescription &parameter,
                        const Argument &argument, const std::string &place) {
    if (argument.kind == Kind::Descriptor) {
      return addDescriptor(parameter, argument);
    }
    if (argument.kind == Kind::Tuple || plainTuple(argument)) {
      return addTuple(parameter, argument, place);
    }
    Specialized leaf;
    ArgumentMismatch mismatch = specializeItem(parameter, argument, leaf);
    addLeaf(leaf, argument);
    return {mismatch, argument, place};
  }

private:
  /// What has no form at run time is compiled in, as an item of a tuple.
  static ArgumentMismatch specializeItem(const ParameterDescription &parameter,
                                         const Argument &argument,
                                         Specialized &leaf) {
    if (argument.isConstexpr || argument.kind == Kind::String ||
        argument.kind == Kind::Function) {
      leaf.isStatic = true;
      return ArgumentMismatch::None;
    }
    return specialize(parameter, argument, leaf);
  }

  void addLeaf(const Specialized &leaf, const Argument &argument) {
    appendKey(key, leaf, argument);
    leaves.push_back(leaf);
  }

  CompositeMismatch addTuple(const ParameterDescription &parameter,
                             const Argument &argument,
                             const std::string &place) {
    std::vector<Argument> items = itemsOf(argument);
    key.add(uint64_t{3} | items.size() << 8);
    if (argument.kind == Kind::Tuple) {
      key.add(std::string_view(argument.tuple->type));
      for (const std::string &name : argument.tuple->names) {
        key.add(std::string_view(name));
      }
    } else {
      key.add(std::string_view());
    }
    // An annotation is of the tuple and says nothing of its items.
    ParameterDescription item;
    item.isStatic = parameter.isStatic;
    item.specialize = parameter.specialize;
    item.specializeAlignment = parameter.specializeAlignment;
    for (size_t i = 0; i < items.size(); ++i) {
      CompositeMismatch mismatch =
          add(item, items[i], place + itemPlace(argument, i));
      if (mismatch.mismatch != ArgumentMismatch::None) {
        return mismatch;
      }
    }
    return {};
  }

  CompositeMismatch addDescriptor(const ParameterDescription &parameter,
                                  const Argument &argument) {
    if (parameter.isStatic) {
      return {ArgumentMismatch::ConstexprGotTensor, argument, {}};
    }
    const TensorDescriptor &descriptor = *argument.descriptor;
    key.add(uint64_t{4} | static_cast<uint64_t>(descriptor.padding()) << 8 |
            descriptor.blockShape().size() << 16);
    for (int64_t size : descriptor.blockShape()) {
      key.add(static_cast<uint64_t>(size));
    }
    ParameterDescription base, size, stride;
    size.dtype = DType::Int32;
    stride.dtype = DType::Int64;
    Specialized leaf;
    ArgumentMismatch mismatch =
        specialize(base, Argument(descriptor.base()), leaf);
    addLeaf(leaf, Argument(descriptor.base()));
    for (int64_t value : descriptor.shape()) {
      addNumber(size, value);
    }
    for (size_t i = 0; i + 1 < descriptor.strides().size(); ++i) {
      addNumber(stride, descriptor.strides()[i]);
    }
    Specialized last; // always 1
    last.isStatic = true;
    addLeaf(last, Argument(descriptor.strides().back()));
    return {mismatch, argument, {}};
  }

  void addNumber(const ParameterDescription &parameter, int64_t value) {
    Specialized leaf;
    (void)specialize(parameter, Argument(value), leaf); // it fits
    addLeaf(leaf, Argument(value));
  }

  std::vector<Specialized> &leaves;
  WordKey &key;
};

} // namespace

CompositeMismatch specializeComposite(const ParameterDescription &parameter,
                                      const Argument &argument,
                                      std::vector<Specialized> &leaves,
                                      WordKey &key) {
  return Flattener(leaves, key).add(parameter, argument, {});
}

//===----------------------------------------------------------------------===//
// The compiler's view
//===----------------------------------------------------------------------===//

static CompositeArgument descriptorSpec(const TensorDescriptor &descriptor,
                                        const Specialized *&leaf) {
  CompositeArgument spec;
  spec.kind = CompositeArgument::Kind::Descriptor;
  spec.blockShape = descriptor.blockShape();
  spec.padsWithNan = descriptor.padding() == TensorDescriptor::Padding::Nan;
  spec.items.push_back(specOf(*leaf++, Argument(descriptor.base())));
  for (const Shape *values : {&descriptor.shape(), &descriptor.strides()}) {
    for (int64_t value : *values) {
      spec.items.push_back(specOf(*leaf++, Argument(value)));
    }
  }
  return spec;
}

ArgumentSpec specOfComposite(const Argument &argument,
                             const Specialized *&leaf) {
  if (argument.kind == Kind::Descriptor) {
    return descriptorSpec(*argument.descriptor, leaf);
  }
  if (argument.kind != Kind::Tuple && !plainTuple(argument)) {
    return specOf(*leaf++, argument);
  }
  CompositeArgument spec;
  if (argument.kind == Kind::Tuple) {
    spec.type = argument.tuple->type;
    spec.names = argument.tuple->names;
  }
  for (const Argument &item : itemsOf(argument)) {
    spec.items.push_back(specOfComposite(item, leaf));
  }
  return spec;
}

void appendLeafNames(const ArgumentSpec &spec, const std::string &name,
                     std::vector<std::string> &out) {
  const auto *composite = std::get_if<CompositeArgument>(&spec);
  if (!composite) {
    out.push_back(name);
    return;
  }
  for (size_t i = 0; i < composite->items.size(); ++i) {
    appendLeafNames(composite->items[i], name + "." + composite->itemName(i),
                    out);
  }
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

void forEachTensor(
    const Argument &argument, const std::string &name,
    const std::function<void(const std::string &, const Tensor &)> &visit) {
  if (argument.kind == Kind::Tensor && argument.tensor->defined()) {
    visit(name, *argument.tensor);
  } else if (argument.kind == Kind::Descriptor) {
    visit(name + ".base", argument.descriptor->base());
  } else if (argument.kind == Kind::Tuple) {
    const Tuple &tuple = *argument.tuple;
    for (size_t i = 0; i < tuple.items.size(); ++i) {
      forEachTensor(
          tuple.items[i],
          name + "." +
              (tuple.names.empty() ? std::to_string(i) : tuple.names[i]),
          visit);
    }
  }
}

void forEachTensor(
    const LaunchBinding &binding,
    const std::function<void(const std::string &, const Tensor &)> &visit) {
  for (size_t i = 0; i < binding.size(); ++i) {
    if (const Argument *argument = binding.get(i)) {
      forEachTensor(*argument, binding.kernel.description.parameters[i].name,
                    visit);
    }
  }
}

} // namespace nereid
