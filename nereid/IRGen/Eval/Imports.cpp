//===- Imports.cpp - What import statements mean ----------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// triton and its submodules are built in; a module whose file lies beside the
// kernel's (or in a package around it) is read; anything else is opaque: legal
// to import, an error to use in a kernel.
//
//===----------------------------------------------------------------------===//

#include "nereid/IRGen/Eval/Evaluator.h"
#include "nereid/IRGen/Host/HostAnswers.h"

#include "llvm/ADT/StringSwitch.h"

namespace nereid::irgen {

//===----------------------------------------------------------------------===//
// Built-in modules
//===----------------------------------------------------------------------===//

/// Modules of others that stdlib/ has a part of.
static llvm::StringRef hostLibrary(llvm::StringRef path) {
  return llvm::StringSwitch<llvm::StringRef>(path)
      .Case("itertools", "itertools")
      .Case("functools", "functools")
      .Case("operator", "operator")
      .Case("argparse", "argparse")
      .Case("queue", "queue")
      .Case("threading", "threading")
      .Case("torch._inductor.runtime.triton_helpers", "triton_helpers")
      .Default("");
}

bool isBuiltinModule(llvm::StringRef path) {
  return path == "triton" || path.starts_with("triton.") || path == "math" ||
         path == "builtins" || !hostLibrary(path).empty();
}

/// Several paths lead to the same names: the back ends' libdevices are one.
static std::string canonicalPath(llvm::StringRef path) {
  if (path.starts_with("triton.language") && path.ends_with(".libdevice")) {
    return "triton.language.extra.libdevice";
  }
  return llvm::StringSwitch<std::string>(path)
      .Cases({"triton.language.core", "triton.language.standard",
              "triton.language.random", "triton.language.semantic"},
             "triton.language")
      .Case("triton.language.extra.cuda.utils", "triton.language.extra.cuda")
      .Case("triton.language.extra.hip.utils", "triton.language.extra.hip")
      .Default(path.str());
}

/// The modules of the built-ins table that a module's names are looked up in.
static llvm::SmallVector<llvm::StringRef, 3>
tableModules(llvm::StringRef path) {
  if (path == "triton.language") {
    return {"tl"};
  }
  if (path == "triton.language.math") {
    // Older releases had libdevice's functions here.
    return {"tl.math", "tl", "libdevice"};
  }
  if (path == "triton.language.extra.libdevice") {
    return {"libdevice"};
  }
  if (path.consume_front("triton.language.")) {
    return {llvm::StringSwitch<llvm::StringRef>(path)
                .Case("extra", "tl.extra")
                .Case("extra.cuda", "tl.extra.cuda")
                .Case("extra.hip", "tl.extra.hip")
                .Case("target_info", "tl.target_info")
                .Default("")};
  }
  return {path};
}

static bool isSubmodule(llvm::StringRef path) {
  return llvm::StringSwitch<bool>(path)
      .Cases({"triton.language", "triton.language.math", "triton.language.core",
              "triton.language.standard", "triton.language.random",
              "triton.language.extra", "triton.language.extra.cuda",
              "triton.language.extra.hip", "triton.language.target_info"},
             true)
      .Default(path.starts_with("triton.language") &&
               path.ends_with(".libdevice"));
}

/// Parts of the triton package that only host code uses.
static bool isHostPart(llvm::StringRef path) {
  llvm::StringRef name = path;
  return name.consume_front("triton.") &&
         llvm::StringSwitch<bool>(name.split('.').first)
             .Cases({"runtime", "testing", "tools", "compiler", "backends",
                     "knobs", "profiler", "ops", "errors", "experimental"},
                    true)
             .Cases({"reinterpret", "TensorWrapper", "MockTensor",
                     "set_allocator", "KernelInterface", "JITFunction",
                     "OutOfResources", "CompilationError", "compile"},
                    true)
             .Default(false);
}

/// A class that exists by name only: for isinstance, annotations, calls.
static Value namedClass(llvm::StringRef name) {
  auto cls = std::make_shared<PythonClass>();
  cls->name = name.str();
  return Value(std::shared_ptr<const PythonClass>(std::move(cls)));
}

static bool isTileClass(llvm::StringRef name) {
  return llvm::StringSwitch<bool>(name)
      .Cases({"constexpr", "tensor", "dtype", "const", "tuple", "tuple_type",
              "constexpr_type", "tensor_descriptor", "tensor_descriptor_type",
              "slice"},
             true)
      .Default(false);
}

static bool isPythonClass(llvm::StringRef name) {
  return llvm::StringSwitch<bool>(name)
      .Cases({"int", "float", "bool", "str", "tuple", "list", "dict", "set",
              "object", "type", "frozenset"},
             true)
      .Cases({"Exception", "ValueError", "TypeError", "RuntimeError",
              "KeyError", "IndexError", "NotImplementedError", "AssertionError",
              "ImportError", "ModuleNotFoundError"},
             true)
      .Default(false);
}

/// Python's functions that have no meaning here, and classes of exceptions.
static bool isHostFunction(llvm::StringRef name) {
  return name.ends_with("Error") || name.ends_with("Warning") ||
         llvm::StringSwitch<bool>(name)
             .Cases({"open", "input", "globals", "locals", "vars", "dir", "id",
                     "hash", "super", "setattr", "delattr", "exec", "eval",
                     "compile"},
                    true)
             .Cases({"__import__", "bytes", "bytearray", "complex",
                     "memoryview", "property", "classmethod", "staticmethod",
                     "issubclass", "slice", "BaseException", "StopIteration",
                     "KeyboardInterrupt", "NotImplemented", "SystemExit"},
                    true)
             .Default(false);
}

FailureOr<Value> Evaluator::builtinModuleAttribute(llvm::StringRef path,
                                                   llvm::StringRef name) {
  if (path == "builtins") {
    if (name == "__name__") {
      return Value("__nereid__");
    }
    if (name == "__file__" && frame && frame->module) {
      return Value(frame->module->path);
    }
    if (!isPythonClass(name) && isHostFunction(name)) {
      return Value(Opaque{name.str()});
    }
    if (isPythonClass(name)) {
      return namedClass(name);
    }
    return failure();
  }
  std::string full = (path + "." + name).str();
  if (path == "triton" && name == "__version__") {
    return Value(tritonVersion(emitter.language));
  }
  if (path == "math") {
    std::optional<double> number =
        llvm::StringSwitch<std::optional<double>>(name)
            .Case("pi", 3.14159265358979323846)
            .Case("e", 2.71828182845904523536)
            .Case("tau", 6.28318530717958647692)
            .Case("inf", HUGE_VAL)
            .Case("nan", std::numeric_limits<double>::quiet_NaN())
            .Default(std::nullopt);
    if (number) {
      return Value(*number);
    }
  }
  if (path == "triton.language") {
    std::optional<DType> dtype =
        parseDType(std::string_view(name.data(), name.size()));
    if (dtype && languageName(*dtype) == std::string_view(name)) {
      return Value(*dtype);
    }
    if (name == "pi32_t") {
      return Value(ScalarType::pointer(DType::Int32));
    }
    if (llvm::is_contained({"float8e4b15", "float8e4b8", "float8e5b16", "void"},
                           name)) {
      return Value(Opaque{"tl." + name.str()});
    }
    if (isTileClass(name)) {
      return namedClass(name);
    }
    if (name == "pi32_t") {
      return Value(ScalarType::pointer(DType::Int32));
    }
    if (name == "TRITON_MAX_TENSOR_NUMEL") {
      Value limit(maxTensorElements);
      limit.constexprGlobal = true;
      return limit;
    }
  }
  bool inLibrary = frame && frame->module && frame->module->isLibrary;
  llvm::SmallVector<llvm::StringRef, 3> homes = tableModules(path);
  for (llvm::StringRef home : homes) {
    const Builtin *builtin = BuiltinTable::get().find(home, name);
    if (builtin && (inLibrary || !(builtin->flags & Internal))) {
      return Value(builtin);
    }
  }
  if (isSubmodule(full)) {
    return Value(ModuleValue{canonicalPath(full), nullptr});
  }
  if (path == "triton.language" && name == "PropagateNan") {
    return Value(ModuleValue{"triton.language.PropagateNan", nullptr});
  }
  if (path == "triton.language.PropagateNan") {
    if (name == "NONE" || name == "ALL") {
      return Value(name);
    }
  }
  if (isHostPart(full)) {
    return hostName(full);
  }
  std::vector<std::string> candidates;
  for (llvm::StringRef home : homes) {
    for (std::string &candidate : BuiltinTable::get().names(home)) {
      candidates.push_back(std::move(candidate));
    }
  }
  if (path == "triton.language") {
    for (int i = 0; i < numDTypes; ++i) {
      candidates.emplace_back(languageName(static_cast<DType>(i)));
    }
  }
  return diag.error("module '" + path.str() + "' has no '" + name.str() + "'",
                    choices(name, candidates));
}

//===----------------------------------------------------------------------===//
// import, from ... import
//===----------------------------------------------------------------------===//

FailureOr<Value> Evaluator::importModule(llvm::StringRef name, int level) {
  if (level == 0 && isBuiltinModule(name)) {
    if (isHostPart(name)) {
      return Value(Opaque{name.str()});
    }
    if (llvm::StringRef library = hostLibrary(name); !library.empty()) {
      return Value(ModuleValue{name.str(), modules.library(library)});
    }
    return Value(ModuleValue{canonicalPath(name), nullptr});
  }
  FailureOr<std::shared_ptr<SourceModule>> module =
      modules.import(*frame->module, name, level, diag);
  if (failed(module)) {
    return failure();
  }
  if (*module) {
    return Value(ModuleValue{name.str(), *module});
  }
  return Value(Opaque{std::string(level, '.') + name.str()});
}

FailureOr<Value> Evaluator::importName(const ast::Import *import,
                                       const ast::Alias *alias) {
  llvm::StringRef name(alias->name);
  // `import a.b` binds a; `import a.b as c` binds a.b.
  return importModule(alias->asname.empty() ? name.split('.').first : name, 0);
}

FailureOr<Value> Evaluator::importFrom(const ast::ImportFrom *import,
                                       llvm::StringRef name) {
  FailureOr<Value> module = importModule(import->module, import->level);
  if (failed(module)) {
    return failure();
  }
  if (module->isOpaque()) {
    const std::string &base = module->opaque().name;
    return hostName(llvm::StringRef(base).ends_with(".")
                        ? base + name.str()
                        : base + "." + name.str());
  }
  return moduleAttribute(module->module(), name);
}

FailureOr<Value> Evaluator::moduleAttribute(const ModuleValue &module,
                                            llvm::StringRef name) {
  if (!module.source && module.path == "builtins") {
    const BuiltinTable &table = BuiltinTable::get();
    if (const Builtin *builtin = table.find("python", name)) {
      return Value(builtin);
    }
    FailureOr<Value> known = builtinModuleAttribute(module.path, name);
    if (succeeded(known)) {
      return known;
    }
    return diag.error("module 'builtins' has no '" + name.str() + "'",
                      choices(name, table.names("python")));
  }
  if (!module.source) {
    return builtinModuleAttribute(module.path, name);
  }
  const std::shared_ptr<SourceModule> &source = module.source;
  if (source->bindings.contains(name) || source->given.count(name.str()) ||
      source->state.contains(name)) {
    return global(source, name);
  }
  if (source->isPackage) {
    FailureOr<std::shared_ptr<SourceModule>> child =
        modules.import(*source, name, 1, diag);
    if (failed(child)) {
      return failure();
    }
    if (*child) {
      return Value(ModuleValue{module.path + "." + name.str(), *child});
    }
  }
  if (!source->starImports.empty()) {
    return global(source, name);
  }
  if (source->isLibrary) {
    return hostName(module.path + "." + name.str()); // what stdlib/ leaves out
  }
  std::vector<std::string> candidates;
  for (const auto &entry : source->bindings) {
    candidates.push_back(entry.getKey().str());
  }
  llvm::sort(candidates);
  return diag.error("module '" + module.path + "' has no '" + name.str() + "'",
                    choices(name, candidates));
}

} // namespace nereid::irgen
