//===- ShrinkSource.cpp - The smallest kernel that still fails ------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/fuzz/source/ShrinkSource.h"

#include "test/fuzz/Shrink.h"
#include "test/fuzz/source/Compile.h"

#include <algorithm>

namespace nereid::fuzz::source {

Verdict check(mlir::MLIRContext &context, const Program &program,
              Executor &executor) {
  auto module = compile(context, program);
  if (!module.ok()) {
    return {Verdict::Kind::Refused,
            "IRGen refuses it: " + module.failure().str()};
  }
  return fuzz::check(**module, executor);
}

Verdict checkApart(mlir::MLIRContext &context, const Program &program,
                   Executor &executor) {
  return apart([&] { return check(context, program, executor); });
}

namespace {

//===----------------------------------------------------------------------===//
// Uses
//===----------------------------------------------------------------------===//

void countUses(const Expr &expr, std::vector<unsigned> &uses) {
  for (const auto &piece : expr.pieces) {
    if (auto *id = std::get_if<VariableId>(&piece)) {
      ++uses[id->index];
    }
  }
}

void countUses(const std::vector<Stmt> &block, std::vector<unsigned> &uses) {
  for (const Stmt &stmt : block) {
    countUses(stmt.head, uses);
    if (!stmt.augmented.empty()) {
      ++uses[stmt.targets[0].index];
    }
    countUses(stmt.body, uses);
    countUses(stmt.orelse, uses);
  }
}

std::vector<unsigned> usesOf(const Program &program) {
  std::vector<unsigned> uses(program.variables.size());
  for (const Function &function : program.functions) {
    countUses(function.body, uses);
  }
  return uses;
}

bool hasEffect(const Expr &expr) {
  for (const auto &piece : expr.pieces) {
    auto *text = std::get_if<std::string>(&piece);
    if (text && text->find("tl.atomic") != std::string::npos) {
      return true;
    }
  }
  return false;
}

bool eraseUnused(std::vector<Stmt> &block, const std::vector<unsigned> &uses) {
  size_t before = block.size();
  std::erase_if(block, [&](const Stmt &stmt) {
    return stmt.kind == Stmt::Kind::Assign && !hasEffect(stmt.head) &&
           std::all_of(stmt.targets.begin(), stmt.targets.end(),
                       [&](VariableId id) { return uses[id.index] == 0; });
  });
  bool changed = block.size() != before;
  for (Stmt &stmt : block) {
    changed |= eraseUnused(stmt.body, uses);
    changed |= eraseUnused(stmt.orelse, uses);
  }
  return changed;
}

bool mentions(const std::vector<Stmt> &block, const std::string &name) {
  return std::any_of(block.begin(), block.end(), [&](const Stmt &stmt) {
    for (const auto &piece : stmt.head.pieces) {
      auto *text = std::get_if<std::string>(&piece);
      if (text && text->find(name) != std::string::npos) {
        return true;
      }
    }
    return mentions(stmt.body, name) || mentions(stmt.orelse, name);
  });
}

/// Erases what nothing needs: variables, helpers, parameters.
void sweep(Program &program) {
  bool changed = true;
  while (changed) {
    changed = false;
    std::vector<unsigned> uses = usesOf(program);
    for (Function &function : program.functions) {
      changed |= eraseUnused(function.body, uses);
    }
  }
  std::vector<unsigned> uses = usesOf(program);
  for (size_t i = program.arguments.size(); i-- > 0;) {
    if (uses[program.arguments[i].variable.index] == 0) {
      program.arguments.erase(program.arguments.begin() + std::ptrdiff_t(i));
      auto &parameters = program.kernel().parameters;
      parameters.erase(parameters.begin() + std::ptrdiff_t(i));
    }
  }
  for (size_t i = program.functions.size() - 1; i-- > 0;) {
    std::string name = program.functions[i].name;
    bool isUsed = std::any_of(
        program.functions.begin(), program.functions.end(),
        [&](const Function &other) { return mentions(other.body, name); });
    if (!isUsed) {
      program.functions.erase(program.functions.begin() + std::ptrdiff_t(i));
    }
  }
}

//===----------------------------------------------------------------------===//
// Ways to make a statement go
//===----------------------------------------------------------------------===//

Expr zeroOf(const Type &type, const char *number) {
  if (type.isScalar()) {
    return join("tl.full([], ", number, ", ", text(type.element), ")");
  }
  return join("tl.full(", text(type.shape), ", ", number, ", ",
              text(type.element), ")");
}

/// Statement `index` in the order of the text, and the block it is in.
struct Place {
  std::vector<Stmt> *block = nullptr;
  size_t at = 0;
};

bool findStmt(std::vector<Stmt> &block, size_t &index, Place &place) {
  for (size_t i = 0; i < block.size(); ++i) {
    if (index-- == 0) {
      place = {&block, i};
      return true;
    }
    if (findStmt(block[i].body, index, place) ||
        findStmt(block[i].orelse, index, place)) {
      return true;
    }
  }
  return false;
}

Place stmtAt(Program &program, size_t index) {
  Place place;
  for (Function &function : program.functions) {
    if (findStmt(function.body, index, place)) {
      break;
    }
  }
  return place;
}

/// `block[at]` becomes these statements.
void replace(const Place &place, std::vector<Stmt> by) {
  auto &block = *place.block;
  auto at = block.erase(block.begin() + std::ptrdiff_t(place.at));
  block.insert(at, std::make_move_iterator(by.begin()),
               std::make_move_iterator(by.end()));
}

bool changeAssign(Program &program, const Place &place, unsigned way) {
  Stmt &stmt = (*place.block)[place.at];
  if (!stmt.augmented.empty() || stmt.targets.size() > 1 ||
      !program.variables[stmt.targets[0].index].type) {
    return false;
  }
  const Type type = *program.variables[stmt.targets[0].index].type;
  for (const auto &piece : stmt.head.pieces) {
    auto *id = std::get_if<VariableId>(&piece);
    if (!id || program.variables[id->index].type != type ||
        stmt.head.pieces.size() == 1) {
      continue;
    }
    if (way-- == 0) {
      Expr operand = *id;
      stmt.head = operand;
      return true;
    }
  }
  if (way > 1 || isFp8(type.element)) {
    return false;
  }
  Expr zero = zeroOf(type, way == 0 ? "0" : "1");
  if (stmt.head.pieces == zero.pieces) {
    return false;
  }
  stmt.head = zero;
  return true;
}

/// The ways to make a statement go, numbered from 0; false past the last.
bool change(Program &program, const Place &place, unsigned way) {
  Stmt &stmt = (*place.block)[place.at];
  if (way == 0) {
    replace(place, {});
    return true;
  }
  switch (stmt.kind) {
  case Stmt::Kind::Assign:
    return changeAssign(program, place, way - 1);
  case Stmt::Kind::If: {
    if (way > 2 || (way == 2 && stmt.orelse.empty())) {
      return false;
    }
    replace(place, std::vector<Stmt>(way == 1 ? stmt.body : stmt.orelse));
    return true;
  }
  case Stmt::Kind::For: {
    if (way > 1) {
      return false;
    }
    std::vector<Stmt> body = stmt.body;
    Stmt first{Stmt::Kind::Assign};
    first.targets = stmt.targets;
    first.head = stmt.first;
    if (!program.variables[stmt.targets[0].index].type) {
      first.annotation = "tl.constexpr";
    }
    body.insert(body.begin(), first);
    replace(place, std::move(body));
    return true;
  }
  case Stmt::Kind::While:
    if (way > 1) {
      return false;
    }
    replace(place, std::vector<Stmt>(stmt.body));
    return true;
  case Stmt::Kind::Effect:
  case Stmt::Kind::Return:
    return false;
  }
  return false;
}

class Shrinker {
public:
  Shrinker(mlir::MLIRContext &context, Program failing, Executor &executor)
      : context(context), best(std::move(failing)), executor(executor),
        failure(checkApart(context, best, executor)) {}

  Program run() {
    {
      Program candidate = best;
      std::fill(std::begin(candidate.grid), std::end(candidate.grid), 1);
      accept(std::move(candidate));
    }
    {
      Program candidate = best;
      sweep(candidate);
      accept(std::move(candidate));
    }
    for (bool large : {true, false}) {
      while (pass(large)) {
      }
    }
    return std::move(best);
  }

private:
  bool accept(Program candidate) {
    ++tried;
    Verdict verdict = checkApart(context, candidate, executor);
    if (!isSameFailure(verdict, failure) || isRefusedOtherwise(verdict)) {
      return false;
    }
    best = std::move(candidate);
    return true;
  }

  /// A text that became invalid on the way is refused too: the message shows.
  bool isRefusedOtherwise(const Verdict &verdict) const {
    auto essence = [](const std::string &message) {
      size_t at = message.find("error: ");
      return message.substr(at == std::string::npos ? 0 : at, 24);
    };
    return failure.kind == Verdict::Kind::Refused &&
           essence(verdict.message) != essence(failure.message);
  }

  /// From the end of the text: what comes later depends on what is before.
  /// `large`: only stores and control flow, which take much with them.
  bool pass(bool large) {
    bool any = false;
    size_t count = 0;
    while (stmtAt(best, count).block) {
      ++count;
    }
    for (size_t i = count; i-- > 0 && !isOver();) {
      for (unsigned way = 0; !isOver(); ++way) {
        Program candidate = best;
        Place place = stmtAt(candidate, i);
        if (!place.block ||
            (large && (*place.block)[place.at].kind == Stmt::Kind::Assign) ||
            !change(candidate, place, way)) {
          break;
        }
        sweep(candidate);
        if (accept(std::move(candidate))) {
          any = true;
          break;
        }
      }
    }
    return any && !isOver();
  }

  /// Some minutes. A number and no time, so that the result is always the same.
  bool isOver() const { return tried > 10000; }

  mlir::MLIRContext &context;
  Program best;
  Executor &executor;
  Verdict failure;
  int tried = 0;
};

} // namespace

Program shrink(mlir::MLIRContext &context, Program failing,
               Executor &executor) {
  return Shrinker(context, std::move(failing), executor).run();
}

} // namespace nereid::fuzz::source
