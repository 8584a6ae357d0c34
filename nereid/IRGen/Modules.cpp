//===- Modules.cpp - Source files as modules --------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/IRGen/Modules.h"

#include "nereid/IRGen/Builtins.h"
#include "nereid/Support/Files.h"

#include <filesystem>
#include <mutex>

namespace nereid::irgen {

namespace fs = std::filesystem;

//===----------------------------------------------------------------------===//
// What a module's top level binds
//===----------------------------------------------------------------------===//

bool saysJit(const ast::Expr *decorator) {
  if (const auto *call = ast::dynCast<ast::Call>(decorator)) {
    decorator = call->func;
  }
  if (const auto *attribute = ast::dynCast<ast::Attribute>(decorator)) {
    return attribute->attr == "jit";
  }
  const auto *name = ast::dynCast<ast::Name>(decorator);
  return name && name->id == "jit";
}

namespace {

class BindingCollector {
public:
  explicit BindingCollector(SourceModule &module) : module(module) {}

  void visit(ast::Body body) {
    for (const ast::Stmt *statement : body) {
      visit(statement);
    }
  }

private:
  void bind(llvm::StringRef name, const ast::Stmt *statement,
            const ast::Alias *alias = nullptr) {
    GlobalBinding binding;
    binding.statement = statement;
    binding.alias = alias;
    binding.conditions = conditions;
    binding.inHandler = handlers > 0;
    module.bindings[name].push_back(std::move(binding));
  }

  void bindTargets(const ast::Expr *target, const ast::Stmt *statement) {
    if (const auto *name = ast::dynCast<ast::Name>(target)) {
      bind(name->id, statement);
    } else if (const auto *tuple = ast::dynCast<ast::Tuple>(target)) {
      for (const ast::Expr *item : tuple->elts) {
        bindTargets(item, statement);
      }
    } else if (const auto *list = ast::dynCast<ast::List>(target)) {
      for (const ast::Expr *item : list->elts) {
        bindTargets(item, statement);
      }
    }
  }

  void visitGlobals(ast::Body body) {
    for (const ast::Stmt *statement : body) {
      if (const auto *names = ast::dynCast<ast::Global>(statement)) {
        for (std::string_view name : names->names) {
          module.changedByFunctions[name] = true;
        }
      } else if (const auto *branch = ast::dynCast<ast::If>(statement)) {
        visitGlobals(branch->body);
        visitGlobals(branch->orelse);
      } else if (const auto *attempt = ast::dynCast<ast::Try>(statement)) {
        visitGlobals(attempt->body);
      }
    }
  }

  void visitNested(ast::Body body) {
    for (const ast::Stmt *statement : body) {
      const auto *def = ast::dynCast<ast::FunctionDef>(statement);
      if (def && llvm::any_of(def->decoratorList, saysJit)) {
        GlobalBinding binding;
        binding.statement = statement;
        module.nestedKernels.try_emplace(def->name, std::move(binding));
      }
    }
  }

  void visitImport(const ast::Import *import) {
    for (const ast::Alias *alias : import->names) {
      llvm::StringRef name = alias->asname;
      bind(name.empty() ? llvm::StringRef(alias->name).split('.').first : name,
           import, alias);
    }
  }

  void visitImportFrom(const ast::ImportFrom *import) {
    for (const ast::Alias *alias : import->names) {
      if (alias->name == "*") {
        module.starImports.push_back(import);
      } else {
        bind(alias->asname.empty() ? alias->name : alias->asname, import,
             alias);
      }
    }
  }

  void visitTry(const ast::TryLike *statement) {
    visit(statement->body);
    visit(statement->orelse);
    ++handlers;
    for (const ast::ExceptHandler *handler : statement->handlers) {
      visit(handler->body);
    }
    --handlers;
    visit(statement->finalbody);
  }

  void visit(const ast::Stmt *statement) {
    if (const auto *def = ast::dynCast<ast::FunctionLike>(statement)) {
      bind(def->name, statement);
      visitGlobals(def->body);
      return visitNested(def->body);
    }
    if (ast::isa<ast::TryLike>(statement)) {
      return visitTry(static_cast<const ast::TryLike *>(statement));
    }
    if (ast::isa<ast::WithLike>(statement)) {
      return visit(static_cast<const ast::WithLike *>(statement)->body);
    }
    switch (statement->kind) {
    case ast::Kind::ClassDef:
      return bind(ast::cast<ast::ClassDef>(statement)->name, statement);
    case ast::Kind::Assign:
      for (const ast::Expr *target :
           ast::cast<ast::Assign>(statement)->targets) {
        bindTargets(target, statement);
      }
      return;
    case ast::Kind::AnnAssign:
      if (ast::cast<ast::AnnAssign>(statement)->value) {
        bindTargets(ast::cast<ast::AnnAssign>(statement)->target, statement);
      }
      return;
    case ast::Kind::AugAssign:
      return bindTargets(ast::cast<ast::AugAssign>(statement)->target,
                         statement);
    case ast::Kind::Import:
      return visitImport(ast::cast<ast::Import>(statement));
    case ast::Kind::ImportFrom:
      return visitImportFrom(ast::cast<ast::ImportFrom>(statement));
    case ast::Kind::If: {
      const auto *branch = ast::cast<ast::If>(statement);
      conditions.emplace_back(branch->test, true);
      visit(branch->body);
      conditions.back().second = false;
      visit(branch->orelse);
      conditions.pop_back();
      return;
    }
    default:
      return;
    }
  }

  SourceModule &module;
  std::vector<std::pair<const ast::Expr *, bool>> conditions;
  unsigned handlers = 0;
};

} // namespace

void collectBindings(SourceModule &module) {
  BindingCollector(module).visit(module.parsed->module->body);
}

//===----------------------------------------------------------------------===//
// Finding and reading files
//===----------------------------------------------------------------------===//

static std::shared_ptr<SourceModule>
makeModule(std::string name, std::string path,
           std::shared_ptr<const ParsedModule> parsed) {
  auto module = std::make_shared<SourceModule>();
  module->name = std::move(name);
  module->path = std::move(path);
  module->parsed = std::move(parsed);
  collectBindings(*module);
  return module;
}

/// A parse failure keeps the parser's own diagnostic.
static LogicalResult parseFailure(const Failure &why, Diagnostics &diag) {
  if (diag.errors.empty()) {
    diag.errors = why.diagnostics;
    if (diag.errors.empty()) {
      return diag.error(why.message);
    }
  }
  return failure();
}

FailureOr<std::shared_ptr<SourceModule>>
ModuleTable::addMain(const Source &source, Diagnostics &diag) {
  Expected<std::shared_ptr<ParsedModule>> parsed =
      parseModule(source.path, source.text);
  if (!parsed.ok()) {
    return parseFailure(parsed.failure(), diag);
  }
  fs::path file(source.path);
  main = makeModule("", source.path, *parsed);
  main->given = source.bindings;
  main->isPackage = file.filename() == "__init__.py";
  all.push_back(main);
  byPath[file.lexically_normal().string()] = main;
  return main;
}

/// The library's trees are the same for every request: parsed once a process.
static std::shared_ptr<const ParsedModule> parsedLibrary(llvm::StringRef name) {
  static std::mutex mutex;
  static llvm::StringMap<std::shared_ptr<const ParsedModule>> trees;
  std::lock_guard<std::mutex> lock(mutex);
  auto [it, isNew] = trees.try_emplace(name);
  if (isNew) {
    std::string_view text = librarySource(name);
    if (!text.empty()) {
      Expected<std::shared_ptr<ParsedModule>> parsed =
          parseModule("<nereid>/" + name.str() + ".py", std::string(text));
      if (parsed.ok()) {
        it->second = *parsed;
      }
    }
  }
  return it->second;
}

ModuleTable::~ModuleTable() {
  for (const auto &module : all) {
    module->values.clear();
  }
  for (const auto &entry : byPath) {
    if (entry.second) {
      entry.second->values.clear();
    }
  }
}

std::shared_ptr<SourceModule> ModuleTable::library(llvm::StringRef name) {
  std::string path = "<nereid>/" + name.str() + ".py";
  auto [it, isNew] = byPath.try_emplace(path);
  if (isNew) {
    if (auto parsed = parsedLibrary(name)) {
      it->second = makeModule("nereid." + name.str(), path, parsed);
      it->second->isLibrary = true;
    }
  }
  return it->second;
}

/// `folder`/a/b.py or `folder`/a/b/__init__.py for "a.b"; empty: neither.
static std::string findModule(const fs::path &folder, llvm::StringRef dotted) {
  fs::path base = folder;
  llvm::SmallVector<llvm::StringRef, 4> parts;
  if (!dotted.empty()) {
    dotted.split(parts, '.');
  }
  for (llvm::StringRef part : parts) {
    base /= part.str();
  }
  std::error_code error;
  fs::path file = base;
  file += ".py";
  if (!parts.empty() && fs::is_regular_file(file, error)) {
    return file.lexically_normal().string();
  }
  fs::path package = base / "__init__.py";
  return fs::is_regular_file(package, error)
             ? package.lexically_normal().string()
             : std::string();
}

/// Where an absolute import may start: the file's own folder, and the parents
/// of the packages it lies in.
static std::string findAbsolute(const fs::path &file, llvm::StringRef name) {
  fs::path folder = file.parent_path();
  for (int up = 0; up < 12; ++up) {
    std::string found = findModule(folder, name);
    if (!found.empty()) {
      return found;
    }
    std::error_code error;
    bool isPackage = fs::is_regular_file(folder / "__init__.py", error);
    fs::path parent = folder.has_parent_path() ? folder.parent_path() : folder;
    // One folder above the outermost package, and no further: a file called
    // torch.py somewhere on the machine is not this program's torch.
    if (parent == folder || !isPackage) {
      break;
    }
    folder = parent;
  }
  return {};
}

/// Imported files are parsed once a process and again when they change: a
/// package's __init__ can lead to a hundred of them. Keyed by path, checked by
/// size and time of the last change.
static Expected<std::shared_ptr<const ParsedModule>>
parsedFile(const std::string &path) {
  struct Entry {
    fs::file_time_type changed;
    uintmax_t size = 0;
    std::shared_ptr<const ParsedModule> tree;
  };
  static std::mutex mutex;
  static llvm::StringMap<Entry> trees;
  std::error_code error;
  fs::file_time_type changed = fs::last_write_time(path, error);
  uintmax_t size = fs::file_size(path, error);
  {
    std::lock_guard<std::mutex> lock(mutex);
    auto it = trees.find(path);
    if (it != trees.end() && it->second.changed == changed &&
        it->second.size == size) {
      return it->second.tree;
    }
  }
  Expected<std::string> text = readFile(path);
  if (!text.ok()) {
    return text.failure();
  }
  Expected<std::shared_ptr<ParsedModule>> parsed =
      parseModule(path, std::move(*text));
  if (!parsed.ok()) {
    return parsed.failure();
  }
  std::shared_ptr<const ParsedModule> tree = *parsed;
  std::lock_guard<std::mutex> lock(mutex);
  if (trees.size() >= 1024) {
    trees.clear();
  }
  trees[path] = {changed, size, tree};
  return tree;
}

FailureOr<std::shared_ptr<SourceModule>>
ModuleTable::import(const SourceModule &from, llvm::StringRef name, int level,
                    Diagnostics &diag) {
  std::string path;
  fs::path file(from.path);
  if (level == 0) {
    path = findAbsolute(file, name);
  } else {
    fs::path folder = file.parent_path();
    for (int up = 1; up < level; ++up) {
      folder = folder.has_parent_path() ? folder.parent_path() : folder / "..";
    }
    path = findModule(folder, name);
  }
  if (path.empty()) {
    return std::shared_ptr<SourceModule>();
  }
  auto [it, isNew] = byPath.try_emplace(path);
  if (!isNew) {
    return it->second;
  }
  Expected<std::shared_ptr<const ParsedModule>> parsed = parsedFile(path);
  if (!parsed.ok()) {
    byPath.erase(path);
    return parseFailure(parsed.failure(), diag);
  }
  auto module = makeModule(name.str(), path, *parsed);
  module->isPackage = fs::path(path).filename() == "__init__.py";
  byPath[path] = module;
  all.push_back(module);
  return module;
}

} // namespace nereid::irgen
