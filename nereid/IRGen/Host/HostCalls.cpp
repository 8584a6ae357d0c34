//===- HostCalls.cpp - The few functions of the host that are known *- C++
//-*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Host code is opaque, and so is what it returns. Kernel files take a few
// constants and tuning spaces from it, which these functions give: numeric
// limits, the environment, versions, and what HostAnswers says of the machine.
//
//===----------------------------------------------------------------------===//

#include "nereid/IRGen/Host/HostAnswers.h"
#include "nereid/IRGen/Host/HostLibrary.h"

#include <cmath>
#include <cstdlib>

namespace nereid::irgen {

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

static std::string withoutArguments(llvm::StringRef name) {
  std::string text;
  for (auto [part, rest] = name.split("(...)");;
       std::tie(part, rest) = rest.split("(...)")) {
    text += part;
    if (part.data() + part.size() == name.data() + name.size()) {
      return text;
    }
    text += "()";
    if (rest.empty()) {
      return text;
    }
  }
}

/// What the program's user says of the host: --bind 'torch.mlu.count()=1'. A
/// call is written with empty parentheses.
static std::optional<Value> boundAnswer(const ModuleTable &modules,
                                        llvm::StringRef name) {
  if (!modules.main || modules.main->given.empty()) {
    return std::nullopt;
  }
  auto found = modules.main->given.find(withoutArguments(name));
  return found == modules.main->given.end()
             ? std::nullopt
             : std::optional<Value>(Value::fromStatic(found->second));
}

/// Whether something is said of a part of `name`.
static bool hasBoundMembers(const ModuleTable &modules, llvm::StringRef name) {
  if (!modules.main || modules.main->given.empty()) {
    return false;
  }
  std::string prefix = withoutArguments(name) + ".";
  auto next = modules.main->given.lower_bound(prefix);
  return next != modules.main->given.end() &&
         llvm::StringRef(next->first).starts_with(prefix);
}

FailureOr<Value> Evaluator::hostName(std::string name) {
  if (std::optional<Value> answer = boundAnswer(modules, name)) {
    return *answer;
  }
  if (hasBoundMembers(modules, name)) {
    return Value(Opaque{std::move(name)});
  }
  if (std::optional<Value> answer = hostAnswer(name, hostTarget(), true)) {
    return *answer;
  }
  if (hostLacks(name)) {
    return diag.raises("AttributeError")
        .hostError("'" + name + "' does not exist on this machine");
  }
  if (isBuiltinModule(name)) {
    return importModule(name, 0);
  }
  llvm::StringRef last = llvm::StringRef(name).rsplit('.').second;
  llvm::StringRef module =
      llvm::StringRef(name).ends_with("triton_helpers.math")
          ? "triton.language.math"
          : moduleByUse(last);
  if (!module.empty()) {
    return Value(ModuleValue{module.str(), nullptr});
  }
  return Value(Opaque{std::move(name)});
}

std::string Evaluator::bindHint(const Value &value) const {
  llvm::StringRef name = value.opaque().name;
  // What a call gives has no name to bind: "host.more(...)".
  bool isCall = name.contains('(') || name.contains('[');
  name = name.contains('.') && !isCall ? name.rsplit('.').second : name;
  std::string global = evaluating.empty() ? name.str() : evaluating.back();
  std::string hint = unknownGlobalHint;
  bool isName =
      llvm::StringRef(global).find_first_of("([") == std::string::npos;
  return isName ? hint.replace(hint.find("NAME"), 4, global) : hint;
}

HostTarget Evaluator::hostTarget() const { return HostTarget::of(target); }

Value Evaluator::resolved(const Value &value) const {
  if (!value.isOpaque()) {
    return value;
  }
  std::optional<Value> answer =
      hostAnswer(value.opaque().name, hostTarget(), false);
  return answer ? *answer : value;
}

//===----------------------------------------------------------------------===//
// torch.finfo, the environment, versions
//===----------------------------------------------------------------------===//

/// torch.finfo(torch.float32): constants that kernel files take from there.
static std::optional<Value> numericLimits(const Value &type) {
  std::optional<DType> dtype;
  if (type.isOpaque()) {
    dtype = parseDType(type.opaque().name);
  } else if (type.isType()) {
    dtype = type.type().scalar.dtype;
  }
  if (!dtype) {
    return std::nullopt;
  }
  static const auto ofFloats = std::make_shared<const AggregateType>(
      AggregateType{"finfo",
                    {"min", "max", "bits", "eps", "tiny", "smallest_normal",
                     "resolution", "dtype"},
                    false,
                    "host",
                    nullptr});
  static const auto ofIntegers =
      std::make_shared<const AggregateType>(AggregateType{
          "iinfo", {"min", "max", "bits", "dtype"}, false, "host", nullptr});
  Value bits(static_cast<int>(bitWidth(*dtype)));
  Value name(languageName(*dtype));
  if (!isFloat(*dtype)) {
    return Value(Aggregate{
        ofIntegers,
        {Value(minValue(*dtype)), Value(maxValue(*dtype)), bits, name}});
  }
  // Digits after the leading one, and the exponent of the least normal number.
  auto [digits, least] = [&]() -> std::pair<int, int> {
    switch (*dtype) {
    case DType::Float64:
      return {52, -1022};
    case DType::Float16:
      return {10, -14};
    case DType::BFloat16:
      return {7, -126};
    case DType::Float8E4M3:
      return {3, -6};
    case DType::Float8E5M2:
      return {2, -14};
    default:
      return {23, -126};
    }
  }();
  double eps = std::ldexp(1.0, -digits), tiny = std::ldexp(1.0, least);
  double resolution = std::pow(10.0, -std::floor(digits * 0.30102999566398120));
  return Value(Aggregate{ofFloats,
                         {Value(-maxFinite(*dtype)), Value(maxFinite(*dtype)),
                          bits, Value(eps), Value(tiny), Value(tiny),
                          Value(resolution), name}});
}

/// Lists and dicts are shared; a copy has its own, at every depth.
static Value copied(const Value &value, unsigned depth = 0) {
  if (depth > 100) {
    return value; // a list that holds itself
  }
  if (value.isList()) {
    std::vector<Value> items;
    for (const Value &item : value.list()) {
      items.push_back(copied(item, depth + 1));
    }
    return Value::list(std::move(items));
  }
  if (value.isDict()) {
    std::vector<std::pair<Value, Value>> entries;
    for (const auto &[key, item] : value.dict()) {
      entries.emplace_back(key, copied(item, depth + 1));
    }
    return Value::dict(std::move(entries));
  }
  return value;
}

FailureOr<Value> Evaluator::environment(llvm::ArrayRef<Argument> arguments) {
  if (arguments.empty() || !arguments[0].value.isString()) {
    return diag.hostError("os.environ: expected a name");
  }
  if (const char *text = std::getenv(arguments[0].value.string().c_str())) {
    return Value(text);
  }
  return arguments.size() > 1 ? arguments[1].value : Value();
}

/// What importlib finds: as a condition it is true.
static Value moduleSpec(const Value &name) {
  static const auto type = std::make_shared<const AggregateType>(
      AggregateType{"ModuleSpec", {"name"}, false, "host", nullptr});
  return Value(Aggregate{type, {name}});
}

/// importlib.metadata.version("torch").
static std::optional<Value> packageVersion(llvm::ArrayRef<Argument> arguments,
                                           LanguageVersion language) {
  if (arguments.size() != 1 || !arguments[0].value.isString()) {
    return std::nullopt;
  }
  const std::string &name = arguments[0].value.string();
  if (name == "triton") {
    return Value(tritonVersion(language));
  }
  return name == "torch" ? std::optional<Value>(Value(answeredTorchVersion))
                         : std::nullopt;
}

/// importlib.import_module("package.module"): a module that is not found is an
/// error, as Python has it.
FailureOr<Value> Evaluator::HostLibrary::importByName(llvm::StringRef name) {
  FailureOr<Value> module = e.importModule(name, 0);
  if (succeeded(module) && module->isOpaque() && !hostHasModule(name)) {
    return diag.raises("ModuleNotFoundError")
        .hostError("the module '" + name.str() +
                   "' is not found; expected one beside the program, or in the "
                   "packages around it");
  }
  return module;
}

/// inspect.signature(f): its .parameters, by name.
static std::optional<Value> signatureOf(llvm::ArrayRef<Argument> arguments) {
  if (arguments.size() != 1) {
    return std::nullopt;
  }
  const Value &callee = arguments[0].value;
  std::vector<std::pair<Value, Value>> parameters;
  if (callee.isBuiltin()) {
    for (const BuiltinParameter &parameter : callee.builtin().parameters) {
      parameters.emplace_back(Value(parameter.name), Value());
    }
  } else if (callee.isFunction()) {
    for (const ast::Arg *parameter : parametersOf(callee.function())) {
      parameters.emplace_back(Value(std::string(parameter->arg)), Value());
    }
  } else {
    return std::nullopt;
  }
  static const auto type = std::make_shared<const AggregateType>(AggregateType{
      "inspect.Signature", {"parameters"}, false, "host", nullptr});
  return Value(Aggregate{type, {Value::dict(std::move(parameters))}});
}

/// subprocess.run([program, ...]): nothing runs. Nullopt: not a program that
/// anything is known of.
static std::optional<FailureOr<Value>>
runCommand(Diagnostics &diag, llvm::ArrayRef<Argument> arguments) {
  const Value *program = arguments.empty() ? nullptr : &arguments[0].value;
  if (program && program->isSequence() && !program->items().empty()) {
    program = &program->items().front();
  }
  if (!program || !program->isString()) {
    return std::nullopt;
  }
  std::optional<bool> exists = hostHasCommand(program->string());
  if (!exists) {
    return FailureOr<Value>(diag.hostError("programs are not run, and what '" +
                                           program->string() +
                                           "' would say is not known"));
  }
  return *exists ? FailureOr<Value>(finishedCommand())
                 : FailureOr<Value>(diag.raises("FileNotFoundError")
                                        .hostError("there is no program '" +
                                                   program->string() +
                                                   "' on the host of "
                                                   "an NVIDIA GPU"));
}

Evaluator::HostLibrary::Result
Evaluator::HostLibrary::call(llvm::StringRef name,
                             llvm::ArrayRef<Argument> arguments) {
  auto known =
      [](std::optional<Value> value) -> std::optional<FailureOr<Value>> {
    if (value) {
      return FailureOr<Value>(*value);
    }
    return std::nullopt;
  };
  if (auto done = callPython(name, arguments)) {
    return done;
  }
  if (auto done = callFile(name, arguments)) {
    return done;
  }
  if (name.ends_with("namedtuple")) {
    return e.namedTupleClass(arguments);
  }
  if ((name.ends_with(".finfo") || name.ends_with(".iinfo")) &&
      arguments.size() == 1) {
    return known(numericLimits(arguments[0].value));
  }
  if (name == "os.environ.get" || name == "os.getenv") {
    return e.environment(arguments);
  }
  if (name.ends_with("metadata.version") ||
      name.ends_with("pkg_resources.get_distribution")) {
    if (std::optional<Value> version =
            packageVersion(arguments, e.emitter.language)) {
      return FailureOr<Value>(*version);
    }
    return FailureOr<Value>(
        diag.raises("PackageNotFoundError")
            .hostError("'" + name.str() + "': the package is not installed"));
  }
  bool parses = name.ends_with("version.parse") ||
                name.ends_with("version.Version") ||
                name.ends_with("parse_version") ||
                name.ends_with("LooseVersion") || name == "packaging.parse";
  if (parses && arguments.size() == 1 && arguments[0].value.isString()) {
    return FailureOr<Value>(versionOf(arguments[0].value.string()));
  }
  if (name.ends_with("util.find_spec") && !arguments.empty() &&
      arguments[0].value.isString()) {
    return FailureOr<Value>(hostHasModule(arguments[0].value.string())
                                ? moduleSpec(arguments[0].value)
                                : Value());
  }
  if (name == "shutil.which" && arguments.size() == 1) {
    return FailureOr<Value>(Value()); // nothing runs here
  }
  if (name == "importlib.import_module" && arguments.size() == 1 &&
      arguments[0].value.isString()) {
    return importByName(arguments[0].value.string());
  }
  if (name == "subprocess.run") {
    return runCommand(diag, arguments);
  }
  if (name == "inspect.signature") {
    return known(signatureOf(arguments));
  }
  if (name.ends_with("dataclasses.field")) {
    for (const Argument &argument : arguments) {
      if (argument.keyword == "default") {
        return FailureOr<Value>(argument.value);
      }
      if (argument.keyword == "default_factory") {
        return e.call(argument.value, {});
      }
    }
    return std::nullopt;
  }
  if (name == "copy.copy" || name == "copy.deepcopy") {
    return arguments.size() == 1 ? known(copied(arguments[0].value))
                                 : std::nullopt;
  }
  if (name == "collections.OrderedDict" || name == "types.MappingProxyType") {
    return e.callBuiltin(*BuiltinTable::get().find("python", "_dict"),
                         arguments);
  }
  return std::nullopt;
}

/// What host code calls and kernels' configuration depends on, by name.
FailureOr<Value> Evaluator::callOpaque(const Opaque &callee,
                                       llvm::ArrayRef<Argument> arguments) {
  if (std::optional<Value> answer = boundAnswer(modules, callee.name + "()")) {
    return *answer;
  }
  if (!frame->isKernel && hasBoundMembers(modules, callee.name + "()")) {
    return Value(Opaque{callee.name + "(...)", callee.why});
  }
  if (!frame->isKernel) {
    if (std::optional<FailureOr<Value>> done =
            HostLibrary(*this).call(callee.name, arguments)) {
      return *done;
    }
  }
  if (std::optional<Value> answer =
          hostAnswer(callee.name + "()", hostTarget(), false, arguments)) {
    return *answer;
  }
  if (frame->isKernel) {
    return diag.hostError("'" + callee.name +
                              "' is host code; a kernel cannot call it",
                          "kernels call tl.* and functions decorated with "
                          "@triton.jit");
  }
  return Value(Opaque{callee.name + "(...)", callee.why});
}

} // namespace nereid::irgen
