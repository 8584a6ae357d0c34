//===- Shrink.cpp - The smallest program that still fails -----------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/fuzz/Shrink.h"

#include "test/fuzz/Launch.h"
#include "test/fuzz/Workers.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

#include <csignal>
#include <cstring>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

namespace nereid::fuzz {

using namespace mlir;

//===----------------------------------------------------------------------===//
// A process of its own
//===----------------------------------------------------------------------===//

Verdict apart(llvm::function_ref<Verdict()> work) {
  constexpr size_t capacity = 1 << 16;
  auto *shared =
      static_cast<char *>(mmap(nullptr, capacity, PROT_READ | PROT_WRITE,
                               MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  pid_t child = fork();
  if (child == 0) {
    limitProcessorTime(10);
    Verdict verdict = work();
    std::strncpy(shared, verdict.message.c_str(), capacity - 1);
    _exit(int(verdict.kind));
  }
  int status = 0;
  waitpid(child, &status, 0);
  Verdict verdict{Verdict::Kind::Differs, shared};
  munmap(shared, capacity);
  if (WIFEXITED(status)) {
    verdict.kind = static_cast<Verdict::Kind>(WEXITSTATUS(status));
  } else {
    int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    verdict.message =
        signal == SIGALRM || signal == SIGPROF
            ? "the executor hangs"
            : std::string("the executor dies: ") + strsignal(signal);
  }
  return verdict;
}

Verdict checkApart(ModuleOp module, Executor &executor,
                   llvm::function_ref<void(const Prepared &)> look) {
  return apart([&] { return check(module, executor, look); });
}

bool isSameFailure(const Verdict &a, const Verdict &b) {
  auto dies = [](const Verdict &v) {
    return v.message.rfind("the executor ", 0) == 0;
  };
  return a.kind == b.kind && dies(a) == dies(b);
}

namespace {

//===----------------------------------------------------------------------===//
// Reductions of a module
//===----------------------------------------------------------------------===//

/// Erases what nothing needs, and parameters without a use.
void sweep(func::FuncOp function) {
  bool changed = true;
  while (changed) {
    changed = false;
    SmallVector<Operation *> dead;
    function.walk([&](Operation *op) {
      if (op != function && (isOpTriviallyDead(op) ||
                             (isa<tile::LoadOp>(op) && op->use_empty()))) {
        dead.push_back(op);
      }
    });
    for (Operation *op : dead) {
      op->erase();
      changed = true;
    }
  }
  BitVector unused(function.getNumArguments());
  for (BlockArgument argument : function.getArguments()) {
    unused[argument.getArgNumber()] = argument.use_empty();
  }
  (void)function.eraseArguments(unused);
}

Value makeZero(OpBuilder &b, Location loc, Type type, int64_t number) {
  Type element = tile::getElement(type);
  if (isa<tile::PtrType>(element)) {
    return {};
  }
  TypedAttr attr =
      isa<FloatType>(element)
          ? TypedAttr(b.getFloatAttr(element, double(number)))
          : TypedAttr(b.getIntegerAttr(
                element, element.isInteger(1) ? number & 1 : number));
  if (auto tensor = dyn_cast<RankedTensorType>(type)) {
    attr = DenseElementsAttr::get(tensor, Attribute(attr));
  }
  return arith::ConstantOp::create(b, loc, attr);
}

/// Moves the operations of a branch or a body in front of `op`, which takes
/// the values it yields.
void inlineBlock(Operation *op, Block &block) {
  SmallVector<Value> yields(block.getTerminator()->getOperands());
  block.getTerminator()->erase();
  op->getBlock()->getOperations().splice(op->getIterator(),
                                         block.getOperations());
  op->replaceAllUsesWith(yields);
  op->erase();
}

/// The ways to make an operation go, numbered from 0; false past the last or
/// where one does not apply.
bool replaceOp(Operation *op, unsigned way) {
  OpBuilder b(op);
  if (auto branch = dyn_cast<scf::IfOp>(op); branch && way < 2) {
    Block *block = way == 0 ? branch.thenBlock() : branch.elseBlock();
    if (!block) {
      return false;
    }
    inlineBlock(op, *block);
    return true;
  }
  if (auto loop = dyn_cast<scf::ForOp>(op); loop && way < 2) {
    if (way == 0) {
      loop.replaceAllUsesWith(loop.getInitArgs());
      loop.erase();
      return true;
    }
    loop.getInductionVar().replaceAllUsesWith(loop.getLowerBound());
    for (auto [argument, init] :
         llvm::zip_equal(loop.getRegionIterArgs(), loop.getInitArgs())) {
      argument.replaceAllUsesWith(init);
    }
    inlineBlock(op, *loop.getBody());
    return true;
  }
  if (auto loop = dyn_cast<scf::WhileOp>(op);
      loop && way < 1 && loop.getInits().getTypes() == loop.getResultTypes()) {
    loop.replaceAllUsesWith(loop.getInits());
    loop.erase();
    return true;
  }
  if (op->hasTrait<OpTrait::IsTerminator>()) {
    return false;
  }
  if (op->use_empty()) { // a store, or an atomic whose result nothing reads
    if (way == 0) {
      op->erase();
    }
    return way == 0;
  }
  // An operand of the same type, then 0, then 1.
  if (way < op->getNumOperands()) {
    if (op->getNumResults() != 1 ||
        op->getOperand(way).getType() != op->getResult(0).getType() ||
        op->getResult(0).use_empty()) {
      return false;
    }
    op->getResult(0).replaceAllUsesWith(op->getOperand(way));
    return true;
  }
  if (op->hasTrait<OpTrait::ConstantLike>() ||
      way >= op->getNumOperands() + 2) {
    return false;
  }
  for (Value result : op->getResults()) {
    Value zero = makeZero(b, op->getLoc(), result.getType(),
                          int64_t(way - op->getNumOperands()));
    if (!zero) {
      return false;
    }
    result.replaceAllUsesWith(zero);
  }
  return true;
}

unsigned waysOf(Operation *op) {
  return std::max(2u, op->getNumOperands() + 2);
}

/// Operation `index` in the order of the text, not in a combine region.
Operation *operationAt(func::FuncOp function, unsigned index) {
  Operation *found = nullptr;
  function.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op == function) {
      return WalkResult::advance();
    }
    if (index-- == 0) {
      found = op;
      return WalkResult::interrupt();
    }
    return isa<tile::ReduceOp, tile::ScanOp>(op) ? WalkResult::skip()
                                                 : WalkResult::advance();
  });
  return found;
}

class Shrinker {
public:
  Shrinker(OwningOpRef<ModuleOp> failing, Executor &executor)
      : best(std::move(failing)), executor(executor),
        failure(checkApart(*best, executor)) {}

  bool accept(OwningOpRef<ModuleOp> candidate) {
    ScopedDiagnosticHandler quiet(candidate->getContext(),
                                  [](mlir::Diagnostic &) { return success(); });
    ++tried;
    if (failed(verify(*candidate)) ||
        !isSameFailure(checkApart(*candidate, executor), failure)) {
      return false;
    }
    best = std::move(candidate);
    return true;
  }

  void regenerate(uint64_t seed, GeneratorOptions options) {
    MLIRContext &context = *best->getContext();
    for (int64_t elements = 1; elements < options.maxElements && !isOver();
         elements *= 2) {
      GeneratorOptions smaller = options;
      smaller.maxElements = elements;
      if (accept(generate(context, seed, smaller))) {
        options = smaller;
        break;
      }
    }
    for (int operations = 1; operations < options.operations && !isOver();
         ++operations) {
      GeneratorOptions smaller = options;
      smaller.operations = operations;
      if (accept(generate(context, seed, smaller))) {
        break;
      }
    }
  }

  void useOneProgram() {
    OwningOpRef<ModuleOp> candidate(best->clone());
    kernelOf(*candidate)
        ->setAttr(gridAttr,
                  Builder(best->getContext()).getDenseI32ArrayAttr({1, 1, 1}));
    accept(std::move(candidate));
  }

  /// Carried values that nothing needs, branches on constants and the like.
  void canonicalise() {
    OwningOpRef<ModuleOp> candidate(best->clone());
    PassManager manager(best->getContext());
    manager.addPass(createCanonicalizerPass());
    if (succeeded(manager.run(*candidate))) {
      sweep(kernelOf(*candidate));
      accept(std::move(candidate));
    }
  }

  /// From the end of the text: what comes later depends on what is before.
  /// `large`: only stores and control flow, which take much with them.
  bool removeOperations(bool large) {
    bool any = false;
    unsigned count = 0;
    while (operationAt(kernelOf(*best), count)) {
      ++count;
    }
    for (unsigned i = count; i-- > 0 && !isOver();) {
      for (unsigned way = 0; !isOver(); ++way) {
        OwningOpRef<ModuleOp> candidate(best->clone());
        Operation *op = operationAt(kernelOf(*candidate), i);
        bool isLarge = op && (op->getNumResults() == 0 ||
                              isa<scf::SCFDialect>(op->getDialect()));
        if (!op || way >= waysOf(op) || (large && !isLarge)) {
          break;
        }
        if (replaceOp(op, way)) {
          sweep(kernelOf(*candidate));
          if (accept(std::move(candidate))) {
            any = true;
            break;
          }
        }
      }
    }
    return any;
  }

  /// Some minutes. A number and no time, so that the result is always the same.
  bool isOver() const { return tried > 20000; }
  OwningOpRef<ModuleOp> take() { return std::move(best); }

private:
  OwningOpRef<ModuleOp> best;
  Executor &executor;
  Verdict failure;
  int tried = 0;
};

} // namespace

OwningOpRef<ModuleOp> shrink(OwningOpRef<ModuleOp> module, uint64_t seed,
                             const GeneratorOptions &options,
                             Executor &executor) {
  Shrinker shrinker(std::move(module), executor);
  shrinker.regenerate(seed, options);
  shrinker.useOneProgram();
  for (bool large : {true, false}) {
    while (shrinker.removeOperations(large) && !shrinker.isOver()) {
      shrinker.canonicalise();
    }
  }
  return shrinker.take();
}

} // namespace nereid::fuzz
