//===- HostFiles.cpp - Files that configuration is read from ----*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// os.path, open for reading, json and yaml. A program may read the texts of its
// own tree, while its tuning decorators are evaluated; a kernel's code depends
// on source files alone, so that compilations read nothing.
//
//===----------------------------------------------------------------------===//

#include "nereid/IRGen/Host/HostData.h"
#include "nereid/IRGen/Host/HostLibrary.h"
#include "nereid/IRGen/Host/Objects.h"
#include "nereid/Support/Files.h"

#include "llvm/ADT/StringSwitch.h"

#include <filesystem>

namespace nereid::irgen {

namespace fs = std::filesystem;

static constexpr uintmax_t maxTextBytes = 4 << 20;

/// As Python's os.path.abspath: no link is followed.
static std::string absolutePath(const std::string &path) {
  std::error_code gone;
  std::string text = fs::absolute(path, gone).lexically_normal().string();
  while (text.size() > 1 && text.back() == '/') {
    text.pop_back();
  }
  return text;
}

/// The folder that holds the outermost package around a file; the file's own
/// folder where it is in none.
static fs::path treeOf(const std::string &file) {
  std::error_code error;
  fs::path folder = fs::path(absolutePath(file)).parent_path();
  fs::path root = folder;
  while (fs::is_regular_file(folder / "__init__.py", error) &&
         folder.has_parent_path() && folder != folder.parent_path()) {
    root = folder;
    folder = folder.parent_path();
  }
  return root;
}

/// Links are followed: what counts is where the file lies.
bool Evaluator::HostLibrary::ownsFile(const std::string &path) const {
  std::error_code error;
  fs::path file = fs::weakly_canonical(path, error);
  if (error || !e.modules.main) {
    return false;
  }
  for (const std::string &from :
       {e.modules.main->path,
        e.frame->module->isLibrary ? std::string() : e.frame->module->path}) {
    if (from.empty()) {
      continue;
    }
    fs::path root = fs::weakly_canonical(treeOf(from), error);
    auto [rest, inFile] =
        std::mismatch(root.begin(), root.end(), file.begin(), file.end());
    if (!error && rest == root.end()) {
      return true;
    }
  }
  return false;
}

FailureOr<Value>
Evaluator::HostLibrary::open(llvm::ArrayRef<Argument> arguments) {
  std::string mode = "r";
  for (size_t i = 1; i < arguments.size(); ++i) {
    const Argument &argument = arguments[i];
    bool isMode =
        argument.keyword == "mode" || (i == 1 && argument.keyword.empty());
    if (isMode && argument.value.isString()) {
      mode = argument.value.string();
    }
  }
  FailureOr<std::string> path = failure();
  if (!arguments.empty()) {
    path = pathOf(arguments[0].value);
  }
  if (failed(path)) {
    return diag.hasError() ? failure()
                           : diag.hostError("open: expected the name of a file "
                                            "that is known here");
  }
  if (mode != "r" && mode != "rt") {
    return diag.hostError("open: the mode is '" + mode +
                          "'; expected 'r': texts are read, and nothing is "
                          "written");
  }
  if (!ownsFile(*path)) {
    return diag.hostError("open: '" + *path +
                          "' lies outside of the program's own folder; files "
                          "of its package are read");
  }
  std::error_code error;
  if (!fs::exists(*path, error)) {
    return diag.raises("FileNotFoundError")
        .error("open: there is no file '" + *path +
               "'; expected one that is "
               "part of the program");
  }
  if (!fs::is_regular_file(*path, error)) {
    return diag.raises("OSError").error("open: '" + *path +
                                        "' is no file; expected a text");
  }
  if (fs::file_size(*path, error) > maxTextBytes || error) {
    return diag.hostError("open: '" + *path +
                          "' is larger than 4 MB, the most that is read");
  }
  Expected<std::string> text = readFile(*path);
  if (!text.ok()) {
    return diag.raises("OSError").error("open: " + text.failure().message);
  }
  Budget::make(text->size());
  FailureOr<Value> cls = e.libraryFunction("files", "TextFile");
  if (failed(cls)) {
    return failure();
  }
  ast::Span span = diag.stack.back().span;
  return e.call(*cls, {Argument{"", Value(*path), span},
                       Argument{"", Value(std::move(*text)), span}});
}

/// A text, or an object with __fspath__.
FailureOr<std::string> Evaluator::HostLibrary::pathOf(const Value &value) {
  if (value.isString()) {
    return value.string();
  }
  if (auto path = e.callSpecial(value, "__fspath__")) {
    if (succeeded(*path) && (*path)->isString()) {
      return (*path)->string();
    }
  }
  return failure();
}

static std::string baseName(const std::string &path) {
  return path.substr(path.rfind('/') + 1);
}

static std::string folderName(const std::string &path) {
  size_t slash = path.rfind('/');
  if (slash == std::string::npos) {
    return "";
  }
  std::string head = path.substr(0, slash + 1);
  llvm::StringRef trimmed = llvm::StringRef(head).rtrim('/');
  return trimmed.empty() ? head : trimmed.str();
}

static std::string joinPaths(llvm::ArrayRef<std::string> parts) {
  std::string path;
  for (const std::string &part : parts) {
    bool isAbsolute = !part.empty() && part.front() == '/';
    if (isAbsolute || path.empty()) {
      path = part;
    } else {
      path += (path.back() == '/' ? "" : "/") + part;
    }
  }
  return path;
}

Evaluator::HostLibrary::Result
Evaluator::HostLibrary::callFile(llvm::StringRef name,
                                 llvm::ArrayRef<Argument> arguments) {
  auto found = [](Value value) { return FailureOr<Value>(std::move(value)); };
  if (name == "open" || name == "io.open") {
    // A compilation reads sources only: its hash is of them.
    return e.skipsTuning ? std::nullopt
                         : std::optional<FailureOr<Value>>(open(arguments));
  }
  bool isYaml = name == "yaml.safe_load" || name == "yaml.full_load" ||
                name == "yaml.load";
  if (isYaml || name == "json.load" || name == "json.loads") {
    return arguments.empty() ? std::nullopt
                             : std::optional<FailureOr<Value>>(
                                   readData(e, arguments[0].value, isYaml));
  }
  if (!name.consume_front("os.path.") && name != "os.fspath") {
    return std::nullopt;
  }
  llvm::SmallVector<std::string> paths;
  for (const Argument &argument : arguments) {
    FailureOr<std::string> path = pathOf(argument.value);
    if (failed(path)) {
      return diag.hasError()
                 ? std::optional<FailureOr<Value>>(FailureOr<Value>(failure()))
                 : std::nullopt;
    }
    paths.push_back(std::move(*path));
  }
  if (paths.empty()) {
    return std::nullopt;
  }
  const std::string &path = paths.front();
  std::error_code error;
  if (name == "os.fspath" || name == "normpath" || name == "expanduser") {
    return name == "expanduser" && llvm::StringRef(path).starts_with("~")
               ? std::nullopt
               : std::optional<FailureOr<Value>>(found(
                     Value(name == "normpath"
                               ? fs::path(path).lexically_normal().string()
                               : path)));
  }
  if (name == "abspath") {
    return found(Value(absolutePath(path)));
  }
  if (name == "realpath") {
    return found(
        Value(fs::weakly_canonical(absolutePath(path), error).string()));
  }
  if (name == "dirname") {
    return found(Value(folderName(path)));
  }
  if (name == "basename") {
    return found(Value(baseName(path)));
  }
  if (name == "isabs") {
    return found(Value(!path.empty() && path.front() == '/'));
  }
  if (name == "join") {
    return found(Value(joinPaths(paths)));
  }
  if (name == "split") {
    return found(
        Value::tuple({Value(folderName(path)), Value(baseName(path))}));
  }
  if (name == "splitext") {
    std::string base = baseName(path);
    size_t dot = base.rfind('.');
    bool isNone = dot == std::string::npos || dot == 0;
    std::string extension = isNone ? "" : base.substr(dot);
    return found(
        Value::tuple({Value(path.substr(0, path.size() - extension.size())),
                      Value(extension)}));
  }
  if (name == "exists" || name == "isfile" || name == "isdir") {
    if (e.skipsTuning || !ownsFile(path)) {
      return std::nullopt;
    }
    return found(Value(name == "exists"   ? fs::exists(path, error)
                       : name == "isfile" ? fs::is_regular_file(path, error)
                                          : fs::is_directory(path, error)));
  }
  return std::nullopt;
}

} // namespace nereid::irgen
