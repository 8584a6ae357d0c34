//===- Modules.cpp - Source files as modules --------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/IRGen/Eval/Modules.h"

#include "nereid/IRGen/Builtins/Builtins.h"
#include "nereid/IRGen/Eval/AssignedNames.h"
#include "nereid/IRGen/Host/HostAnswers.h"
#include "nereid/Support/Files.h"

#include <filesystem>
#include <mutex>

namespace nereid::irgen {

namespace fs = std::filesystem;

//===----------------------------------------------------------------------===//
// What a module's top level binds
//===----------------------------------------------------------------------===//

llvm::StringRef decoratorName(const ast::Expr *expr) {
  if (const auto *call = ast::dynCast<ast::Call>(expr)) {
    expr = call->func;
  }
  if (const auto *attribute = ast::dynCast<ast::Attribute>(expr)) {
    return attribute->attr;
  }
  const auto *name = ast::dynCast<ast::Name>(expr);
  return name ? llvm::StringRef(name->id) : llvm::StringRef();
}

bool saysJit(const ast::Expr *decorator) {
  return decoratorName(decorator) == "jit";
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
    binding.tries = tries;
    binding.inHandler =
        llvm::any_of(tries, [](const auto &entry) { return entry.second; });
    module.bindings[name].push_back(std::move(binding));
  }

  /// The variable that `x.append`, `x["a"]["b"]` and the like begin with.
  static llvm::StringRef rootOf(const ast::Expr *expr) {
    while (true) {
      if (const auto *attribute = ast::dynCast<ast::Attribute>(expr)) {
        expr = attribute->value;
      } else if (const auto *subscript = ast::dynCast<ast::Subscript>(expr)) {
        expr = subscript->value;
      } else if (const auto *call = ast::dynCast<ast::Call>(expr)) {
        expr = call->func; // x.add(1).add(2)
      } else {
        const auto *name = ast::dynCast<ast::Name>(expr);
        return name ? llvm::StringRef(name->id) : llvm::StringRef();
      }
    }
  }

  /// The names whose lists and dicts a statement changes.
  static void changedNames(const ast::Stmt *statement,
                           llvm::SmallVectorImpl<llvm::StringRef> &names) {
    auto add = [&](const ast::Expr *expr) {
      llvm::StringRef root = rootOf(expr);
      if (!root.empty() && !llvm::is_contained(names, root)) {
        names.push_back(root);
      }
    };
    auto visitAll = [&](ast::Body body) {
      for (const ast::Stmt *inner : body) {
        changedNames(inner, names);
      }
    };
    if (const auto *expression = ast::dynCast<ast::ExprStmt>(statement)) {
      const auto *call = ast::dynCast<ast::Call>(expression->value);
      if (call && ast::isa<ast::Attribute>(call->func)) {
        add(call->func);
      }
    } else if (const auto *assign = ast::dynCast<ast::Assign>(statement)) {
      for (const ast::Expr *target : assign->targets) {
        if (ast::isa<ast::Subscript>(target) ||
            ast::isa<ast::Attribute>(target)) {
          add(target);
        }
      }
    } else if (const auto *gone = ast::dynCast<ast::Delete>(statement)) {
      for (const ast::Expr *target : gone->targets) {
        if (!ast::isa<ast::Name>(target)) {
          add(target);
        }
      }
    } else if (const auto *add2 = ast::dynCast<ast::AugAssign>(statement)) {
      add(add2->target);
    } else if (const auto *loop = ast::dynCast<ast::For>(statement)) {
      visitAll(loop->body);
    } else if (const auto *loop = ast::dynCast<ast::While>(statement)) {
      visitAll(loop->body);
    } else if (const auto *branch = ast::dynCast<ast::If>(statement)) {
      for (; branch; branch = ast::elifOf(branch)) {
        visitAll(branch->body);
        if (!ast::elifOf(branch)) {
          visitAll(branch->orelse);
        }
      }
    } else if (const auto *with = ast::dynCast<ast::With>(statement)) {
      visitAll(with->body);
    }
  }

  void addEffect(const ast::Stmt *statement) {
    llvm::SmallVector<llvm::StringRef> names;
    changedNames(statement, names);
    if (names.empty()) {
      return;
    }
    GlobalEffect effect;
    effect.where.statement = statement;
    effect.where.conditions = conditions;
    effect.where.tries = tries;
    for (llvm::StringRef name : names) {
      module.effectsOn[name].push_back(module.effects.size());
    }
    module.effects.push_back(std::move(effect));
  }

  /// A loop binds what it assigns, and changes what it appends to.
  void visitLoop(const ast::Stmt *statement) {
    auto *self = const_cast<ast::Stmt *>(statement);
    for (llvm::StringRef name : assignedNames(ast::Body(&self, 1))) {
      bind(name, statement);
    }
    addEffect(statement);
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
        for (; branch; branch = ast::elifOf(branch)) {
          visitGlobals(branch->body);
          if (!ast::elifOf(branch)) {
            visitGlobals(branch->orelse);
          }
        }
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
    tries.emplace_back(statement, false);
    visit(statement->body);
    visit(statement->orelse);
    tries.back().second = true;
    for (const ast::ExceptHandler *handler : statement->handlers) {
      visit(handler->body);
    }
    tries.pop_back();
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
      return addEffect(statement);
    case ast::Kind::For:
    case ast::Kind::While:
      return visitLoop(statement);
    case ast::Kind::ExprStmt:
    case ast::Kind::Delete:
      return addEffect(statement);
    case ast::Kind::AnnAssign:
      if (ast::cast<ast::AnnAssign>(statement)->value) {
        bindTargets(ast::cast<ast::AnnAssign>(statement)->target, statement);
      }
      return;
    case ast::Kind::AugAssign: {
      const ast::Expr *target = ast::cast<ast::AugAssign>(statement)->target;
      return ast::isa<ast::Name>(target) ? bindTargets(target, statement)
                                         : addEffect(statement);
    }
    case ast::Kind::Import:
      return visitImport(ast::cast<ast::Import>(statement));
    case ast::Kind::ImportFrom:
      return visitImportFrom(ast::cast<ast::ImportFrom>(statement));
    case ast::Kind::If: {
      size_t outside = conditions.size();
      for (const auto *branch = ast::cast<ast::If>(statement); branch;
           branch = ast::elifOf(branch)) {
        conditions.emplace_back(branch->test, true);
        visit(branch->body);
        conditions.back().second = false;
        if (!ast::elifOf(branch)) {
          visit(branch->orelse);
        }
      }
      conditions.resize(outside);
      return;
    }
    default:
      return;
    }
  }

  SourceModule &module;
  std::vector<std::pair<const ast::Expr *, bool>> conditions;
  std::vector<std::pair<const ast::TryLike *, bool>> tries;
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
    module->state.clear();
    module->earlier.clear();
  }
  for (const auto &entry : byPath) {
    if (entry.second) {
      entry.second->values.clear();
      entry.second->state.clear();
      entry.second->earlier.clear();
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

/// What an import found: a file, or a folder without __init__.py.
namespace {
struct FoundModule {
  std::string path; ///< empty: nothing
  bool isNamespace = false;
};
} // namespace

/// `folder`/a/b.py, `folder`/a/b/__init__.py or the folder itself for "a.b".
static FoundModule findModule(const fs::path &folder, llvm::StringRef dotted) {
  fs::path base = folder;
  llvm::SmallVector<llvm::StringRef, 4> parts;
  if (!dotted.empty()) {
    dotted.split(parts, '.');
  }
  for (llvm::StringRef part : parts) {
    base /= part.str();
  }
  std::error_code error;
  fs::path package = base / "__init__.py";
  if (fs::is_regular_file(package, error)) {
    return {package.lexically_normal().string()};
  }
  fs::path file = base;
  file += ".py";
  if (!parts.empty() && fs::is_regular_file(file, error)) {
    return {file.lexically_normal().string()};
  }
  if (fs::is_directory(base, error)) {
    return {package.lexically_normal().string(), /*isNamespace=*/true};
  }
  return {};
}

/// Whether a folder is the root of a project: what lies above it is another's.
static bool isProjectRoot(const fs::path &folder) {
  std::error_code error;
  return llvm::any_of(
      std::initializer_list<const char *>{".git", "pyproject.toml", "setup.py"},
      [&](const char *name) { return fs::exists(folder / name, error); });
}

/// Where an absolute import may start: the file's own folder, the parents of
/// the packages it lies in, and for `a.b` every folder above, up to the
/// project's root, also in a `src` of it. A module's file counts before a
/// folder that is merely called so. A single name stays near: a file called
/// utils.py somewhere on the machine is not this program's.
static FoundModule findAbsolute(const fs::path &file, llvm::StringRef name) {
  FoundModule space;
  std::error_code gone; // the current folder may have been removed
  fs::path folder = fs::absolute(file, gone).lexically_normal().parent_path();
  if (hostHasModule(name)) {
    // A script's own folder comes before Python's library.
    std::error_code error;
    bool isScript = !fs::is_regular_file(folder / "__init__.py", error);
    FoundModule own = findModule(folder, name);
    return isScript && !own.isNamespace ? own : FoundModule();
  }
  bool isNear = true, isDotted = name.contains('.');
  for (int up = 0; up < 12; ++up) {
    for (const fs::path &start : {folder, folder / "src"}) {
      FoundModule found = findModule(start, name);
      if (!found.path.empty() && !found.isNamespace) {
        return found;
      }
      if (space.path.empty() && found.isNamespace && (isNear || isDotted)) {
        space = found;
      }
    }
    std::error_code error;
    bool isPackage = fs::is_regular_file(folder / "__init__.py", error);
    isNear &= isPackage;
    fs::path parent = folder.has_parent_path() ? folder.parent_path() : folder;
    bool isOuter = !isPackage && isProjectRoot(folder);
    if (parent == folder || isOuter || (!isNear && !isDotted)) {
      break;
    }
    folder = parent;
  }
  return space;
}

/// An imported file is code that somebody wrote. What is longer is data, whose
/// tree would take thirty times its size.
static constexpr uintmax_t maxImportBytes = 16 << 20;

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
  if (!error && size > maxImportBytes) {
    return {ErrorCode::InvalidArgument,
            "the imported file '" + path + "' has " +
                std::to_string(size >> 20) +
                " MB; at most 16 MB of source are read"};
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

/// The text of a folder without __init__.py.
static Expected<std::shared_ptr<const ParsedModule>> emptyFile() {
  Expected<std::shared_ptr<ParsedModule>> parsed = parseModule("", "");
  if (!parsed.ok()) {
    return parsed.failure();
  }
  return std::shared_ptr<const ParsedModule>(*parsed);
}

/// Source::bindings of other modules: "pkg.config.FAST", or "config.FAST".
void ModuleTable::giveBindings(SourceModule &module) const {
  for (const auto &[path, value] : main->given) {
    auto [prefix, name] = llvm::StringRef(path).rsplit('.');
    llvm::StringRef full(module.name);
    bool isThis = !name.empty() &&
                  (full == prefix || full.ends_with(("." + prefix).str()));
    if (isThis) {
      module.given[name.str()] = value;
    }
  }
}

FailureOr<std::shared_ptr<SourceModule>>
ModuleTable::import(const SourceModule &from, llvm::StringRef name, int level,
                    Diagnostics &diag) {
  FoundModule found;
  fs::path file(from.path);
  if (level == 0) {
    found = findAbsolute(file, name);
  } else {
    fs::path folder = file.parent_path();
    for (int up = 1; up < level; ++up) {
      folder = folder.has_parent_path() ? folder.parent_path() : folder / "..";
    }
    found = findModule(folder, name);
  }
  std::string path = found.path;
  if (path.empty()) {
    return std::shared_ptr<SourceModule>();
  }
  if (file.is_relative()) {
    // Messages name files as the user does.
    std::error_code error;
    fs::path near = fs::proximate(path, error);
    if (!error && *near.begin() != "..") {
      path = near.string();
    }
  }
  auto [it, isNew] = byPath.try_emplace(path);
  if (!isNew) {
    return it->second;
  }
  Expected<std::shared_ptr<const ParsedModule>> parsed =
      found.isNamespace ? emptyFile() : parsedFile(path);
  if (!parsed.ok()) {
    byPath.erase(path);
    return parseFailure(parsed.failure(), diag);
  }
  auto module = makeModule(name.str(), path, *parsed);
  giveBindings(*module);
  module->isPackage = fs::path(path).filename() == "__init__.py";
  byPath[path] = module;
  all.push_back(module);
  return module;
}

/// `import a.b.c` and `from a.b.c import x` bring a, a.b and a.b.c.
static bool brings(llvm::StringRef imported, llvm::StringRef name) {
  return imported.consume_front(name) &&
         (imported.empty() || imported.starts_with("."));
}

/// By a statement at a module's top level.
static bool importsByName(const SourceModule &module, llvm::StringRef name) {
  auto isFrom = [&](const ast::ImportFrom *from) {
    return from->level == 0 && brings(from->module, name);
  };
  for (const auto &bindings : module.bindings) {
    for (const GlobalBinding &binding : bindings.second) {
      const auto *from = ast::dynCast<ast::ImportFrom>(binding.statement);
      bool isNamed = binding.alias &&
                     ast::dynCast<ast::Import>(binding.statement) &&
                     brings(binding.alias->name, name);
      if (isNamed || (from && isFrom(from))) {
        return true;
      }
    }
  }
  return llvm::any_of(module.starImports, isFrom);
}

bool ModuleTable::imports(llvm::StringRef name) const {
  return llvm::any_of(all, [&](const std::shared_ptr<SourceModule> &module) {
    return importsByName(*module, name) &&
           !findAbsolute(module->path, name).path.empty();
  });
}

} // namespace nereid::irgen
