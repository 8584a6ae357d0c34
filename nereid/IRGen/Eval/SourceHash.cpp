//===- SourceHash.cpp - What a kernel's code depends on ---------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Hashes the text of the kernel, of every global whose name occurs in it, of
// every global whose name occurs in those, and so on through imported files.
// Names are found by scanning for identifiers, comments and strings included:
// too much is only a needless recompilation, too little would be a wrong
// answer from the cache. The embedded library is part of the compiler's build
// id.
//
//===----------------------------------------------------------------------===//

#include "nereid/IRGen/Session.h"
#include "nereid/Support/Hash.h"

#include "llvm/ADT/StringExtras.h"

#include <cstdlib>
#include <filesystem>

namespace nereid::irgen {

namespace {

class Reachable {
public:
  explicit Reachable(ModuleTable &modules) : modules(modules) {}

  std::string run(const std::string &kernel) {
    if (modules.language != newestLanguage) {
      hasher.field(static_cast<uint64_t>(modules.language));
    }
    visit(modules.main, kernel);
    for (const auto &[name, value] : modules.main->given) {
      if (name.find('.') != std::string::npos) {
        hasher.field(name).field(value.str()); // of the host
      }
    }
    while (!pending.empty()) {
      auto [module, name] = std::move(pending.back());
      pending.pop_back();
      hashName(module, name);
    }
    return hasher.finish().hex();
  }

private:
  void visit(const std::shared_ptr<SourceModule> &module,
             llvm::StringRef name) {
    bool known = module->bindings.contains(name) ||
                 module->nestedKernels.contains(name) ||
                 module->given.count(name.str()) != 0;
    std::string key = module->path + "\n" + name.str();
    if (known && seen.try_emplace(key, true).second) {
      pending.emplace_back(module, name.str());
    }
  }

  void scan(const std::shared_ptr<SourceModule> &module, llvm::StringRef text) {
    for (size_t i = 0; i < text.size();) {
      if (!llvm::isAlpha(text[i]) && text[i] != '_' &&
          !(static_cast<unsigned char>(text[i]) & 0x80)) {
        ++i;
        continue;
      }
      llvm::StringRef word = text.drop_front(i).take_while([](char c) {
        return llvm::isAlnum(c) || c == '_' ||
               (static_cast<unsigned char>(c) & 0x80);
      });
      visit(module, word);
      hashVariable(word);
      i += word.size();
    }
  }

  /// A name that is a variable of the environment: os.environ may ask for it.
  void hashVariable(llvm::StringRef word) {
    if (llvm::none_of(word, llvm::isLower) &&
        variables.try_emplace(word, true).second) {
      if (const char *value = std::getenv(word.str().c_str())) {
        hasher.field(std::string_view(word)).field(std::string_view(value));
      }
    }
  }

  void hashSpan(const std::shared_ptr<SourceModule> &module,
                const ast::Span &span) {
    std::string_view text = module->parsed->source.text(span);
    hasher.field(text);
    scan(module, text);
  }

  /// Where a file lies from the kernel's own: a folder that moves, or is named
  /// from elsewhere, is the same source.
  std::string placeOf(const SourceModule &module) const {
    namespace fs = std::filesystem;
    fs::path folder = fs::path(modules.main->path).parent_path(),
             file = module.path;
    if (folder.is_absolute() != file.is_absolute()) {
      std::error_code error;
      folder = fs::absolute(folder, error);
      file = fs::absolute(file, error);
    }
    return &module == modules.main.get()
               ? ""
               : file.lexically_normal()
                     .lexically_relative(folder.lexically_normal())
                     .string();
  }

  void hashName(const std::shared_ptr<SourceModule> &module,
                const std::string &name) {
    hasher.field(placeOf(*module)).field(name);
    auto given = module->given.find(name);
    if (given != module->given.end()) {
      hasher.field(given->second.str());
      return;
    }
    for (const GlobalBinding &binding : module->bindings.lookup(name)) {
      for (auto [test, side] : binding.conditions) {
        hashSpan(module, test->span);
      }
      if (const auto *def =
              ast::dynCast<ast::FunctionLike>(binding.statement)) {
        for (const ast::Expr *decorator : def->decoratorList) {
          hashSpan(module, decorator->span);
        }
      }
      hashSpan(module, binding.statement->span);
      follow(module, binding);
    }
    for (size_t effect : module->effectsOn.lookup(name)) {
      const GlobalBinding &where = module->effects[effect].where;
      for (auto [test, side] : where.conditions) {
        hashSpan(module, test->span);
      }
      hashSpan(module, where.statement->span);
    }
    auto nested = module->nestedKernels.find(name);
    if (nested != module->nestedKernels.end()) {
      hashSpan(module, nested->second.statement->span);
    }
    for (const ast::ImportFrom *star : module->starImports) {
      followModule(module, star->module, star->level);
    }
  }

  /// `from x import f` leads to f in x; `import x` to all of x.
  void follow(const std::shared_ptr<SourceModule> &module,
              const GlobalBinding &binding) {
    if (const auto *from = ast::dynCast<ast::ImportFrom>(binding.statement)) {
      std::shared_ptr<SourceModule> other =
          resolve(*module, from->module, from->level);
      if (!other) {
        return;
      }
      if (other->bindings.contains(binding.alias->name)) {
        visit(other, binding.alias->name);
      } else {
        followModule(other, binding.alias->name, 1);
        for (const ast::ImportFrom *star : other->starImports) {
          followModule(other, star->module, star->level);
        }
      }
    } else if (ast::isa<ast::Import>(binding.statement)) {
      followModule(module, binding.alias->name, 0);
    }
  }

  std::shared_ptr<SourceModule> resolve(const SourceModule &from,
                                        llvm::StringRef name, int level) {
    if (level == 0 && (name == "triton" || name.starts_with("triton."))) {
      return nullptr;
    }
    Diagnostics ignored;
    FailureOr<std::shared_ptr<SourceModule>> module =
        modules.import(from, name, level, ignored);
    return failed(module) ? nullptr : *module;
  }

  void followModule(const std::shared_ptr<SourceModule> &from,
                    llvm::StringRef name, int level) {
    std::shared_ptr<SourceModule> module = resolve(*from, name, level);
    if (!module || !wholeModules.try_emplace(module->path, true).second) {
      return;
    }
    std::vector<std::string> names;
    for (const auto &entry : module->bindings) {
      names.push_back(entry.getKey().str());
    }
    llvm::sort(names);
    for (const std::string &binding : names) {
      visit(module, binding);
    }
  }

  ModuleTable &modules;
  Hasher hasher;
  llvm::StringMap<bool> seen, wholeModules, variables;
  std::vector<std::pair<std::shared_ptr<SourceModule>, std::string>> pending;
};

} // namespace

std::string sourceHash(ModuleTable &modules, const std::string &kernel) {
  return Reachable(modules).run(kernel);
}

} // namespace nereid::irgen
