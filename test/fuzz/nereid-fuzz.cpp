//===- nereid-fuzz.cpp - Differential test of Tile executors --------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   nereid-fuzz --seed 1 --count 5000 --executor cpu,tile-pipeline
//   nereid-fuzz --replay failure.mlir --executor cpu
//   nereid-fuzz --seed 17 --print
//   nereid-fuzz --index --seed 1 --count 100000 [--fault quotient-of-negatives]
//
// Seeds are dealt to --jobs processes, so that a crash is one more way to
// fail. The first failure is shrunk and printed as a test of its own.
//
//===----------------------------------------------------------------------===//

#include "test/fuzz/IndexClaims.h"
#include "test/fuzz/KeptOptions.h"
#include "test/fuzz/Launch.h"
#include "test/fuzz/Shrink.h"
#include "test/fuzz/Workers.h"

#include "nereid/Dialect/Tile/Transforms/Passes.h"

#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <chrono>

using namespace nereid;
using namespace nereid::fuzz;
namespace cl = llvm::cl;

static cl::OptionCategory category("nereid-fuzz");
static cl::opt<uint64_t> firstSeed("seed", cl::cat(category),
                                   cl::desc("first seed"), cl::init(1));
static cl::opt<uint64_t> seedCount("count", cl::cat(category),
                                   cl::desc("number of programs"),
                                   cl::init(100));
static cl::list<std::string> executorList("executor", cl::cat(category),
                                          cl::CommaSeparated,
                                          cl::desc("what to compare"));
static cl::opt<int> jobs("jobs", cl::cat(category), cl::desc("processes"),
                         cl::init(2));
static cl::opt<int64_t> maxElements("max-elements", cl::cat(category),
                                    cl::desc("largest block"), cl::init(1024));
static cl::opt<int>
    operations("operations", cl::cat(category), cl::init(0),
               cl::desc("size of a program; without it, 1 to 16 by the seed"));
static cl::opt<int>
    products("products", cl::cat(category), cl::init(13),
             cl::desc("of 100 programs, those with product loops"));
static cl::opt<int>
    masks("masks", cl::cat(category), cl::init(6),
          cl::desc("of 100 programs, those whose masked loads decide masks"));
static cl::opt<bool> printOnly("print", cl::cat(category),
                               cl::desc("print the first program"));
static cl::opt<bool> noShrink("no-shrink", cl::cat(category),
                              cl::desc("print failures as found"));
static cl::opt<bool> keepGoing("keep-going", cl::cat(category),
                               cl::desc("a line a failure, to the end"));
static cl::opt<std::string>
    saveTo("save", cl::cat(category),
           cl::desc("folder for what GPU executors compile programs to"));
static cl::opt<bool>
    indexOnly("index", cl::cat(category),
              cl::desc("expressions of indices: analyses against values"));
static cl::opt<std::string>
    faultName("fault", cl::cat(category),
              cl::desc("with --index: a rule that is wrong on purpose"));
static cl::list<std::string>
    decodeFiles("decode", cl::cat(category), cl::CommaSeparated,
                cl::desc("files of PTX: is every instruction simulated?"));
static cl::opt<std::string> replay("replay", cl::cat(category),
                                   cl::desc("run one program"));

namespace {

std::unique_ptr<mlir::MLIRContext> makeContext() {
  mlir::DialectRegistry registry;
  registerExecutorDialects(registry);
  auto context = std::make_unique<mlir::MLIRContext>(
      registry, mlir::MLIRContext::Threading::DISABLED);
  context->loadDialect<tile::TileDialect, mlir::ub::UBDialect>();
  return context;
}

/// Small programs are quick and reach most of what large ones do; large ones
/// have the interactions.
GeneratorOptions generatorOptions(uint64_t seed) {
  GeneratorOptions options;
  options.maxElements = maxElements;
  options.products = products;
  options.masks = masks;
  options.operations =
      operations ? int(operations) : 1 + int(seed * 0x9e3779b97f4a7c15 >> 60);
  return options;
}

std::vector<std::unique_ptr<Executor>> makeExecutors() {
  std::vector<std::string> names(executorList.begin(), executorList.end());
  if (names.empty()) {
    names = {"interp", "tile-pipeline"};
  }
  return executorsOrExit(names);
}

void tryProgram(mlir::ModuleOp module,
                std::vector<std::unique_ptr<Executor>> &executors,
                Progress &progress) {
  progress.executor = 0;
  Reference reference(module);
  if (reference.verdict().kind == Verdict::Kind::Undefined) {
    progress.fail("the program is not legal: " + reference.verdict().message);
    return;
  }
  if (!reference.isDefined()) {
    progress.leave(Reason::TooLong);
    return;
  }
  for (progress.executor = 0; progress.executor < executors.size();
       ++progress.executor) {
    Verdict verdict = reference.compare(
        *executors[progress.executor], [&](const Prepared &prepared) {
          saveAssembly(prepared, saveTo, std::to_string(progress.seed),
                       progress.executor);
        });
    if (verdict.isFailure()) {
      progress.fail(verdict.message);
      return;
    }
    if (verdict.kind == Verdict::Kind::Agrees) {
      ++progress.agreed;
    } else {
      progress.leave(verdict.reason);
    }
  }
}

/// What each process does with its seeds.
SeedWork makeWork() {
  struct State {
    std::vector<std::unique_ptr<Executor>> executors = makeExecutors();
    std::unique_ptr<mlir::MLIRContext> context;
    uint64_t done = 0;
  };
  auto state = std::make_shared<State>();
  return [state](uint64_t seed, Progress &progress) {
    if (state->done++ % 256 == 0) { // types and constants are never forgotten
      state->context = makeContext();
    }
    auto module = generate(*state->context, seed, generatorOptions(seed));
    tryProgram(*module, state->executors, progress);
  };
}

void printTest(mlir::ModuleOp module, Executor &executor, uint64_t seed) {
  llvm::outs() << "// RUN: nereid-fuzz --replay %s --executor="
               << executor.name() << "\n// REQUIRES: nereid-fuzz\n// seed "
               << seed << "\n"
               << module << "\n";
}

/// Prints the failure of one worker, shrunk.
void report(const Progress &progress) {
  std::vector<std::unique_ptr<Executor>> executors = makeExecutors();
  Executor &executor = *executors[progress.executor];
  printFailure(progress, executor.name());
  std::unique_ptr<mlir::MLIRContext> context = makeContext();
  auto module =
      generate(*context, progress.seed, generatorOptions(progress.seed));
  Verdict verdict = checkApart(*module, executor);
  if (!noShrink && verdict.isFailure()) {
    module = shrink(std::move(module), progress.seed,
                    generatorOptions(progress.seed), executor);
    llvm::outs() << "shrunk: " << checkApart(*module, executor).message << "\n";
  }
  printTest(*module, executor, progress.seed);
}

int runSeeds() {
  auto begin = std::chrono::steady_clock::now();
  SeedRange range{firstSeed, seedCount, jobs, keepGoing};
  std::vector<Progress> workers =
      fuzz::runSeeds(range, makeWork, [](unsigned executor) {
        return makeExecutors()[executor]->name();
      });
  for (const Progress &progress : workers) {
    if (progress.failures && !keepGoing) {
      report(progress);
      break;
    }
  }
  double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin)
          .count();
  return !printSummary(workers, seconds);
}

/// The rule that --fault names; null without one.
const IndexFault *chosenFault() {
  if (faultName.empty()) {
    return nullptr;
  }
  const IndexFault *found = llvm::find_if(
      indexFaults(), [](const IndexFault &f) { return faultName == f.name; });
  if (found == indexFaults().end()) {
    llvm::errs() << "error: --fault: expected one of";
    for (const IndexFault &fault : indexFaults()) {
      llvm::errs() << " " << fault.name;
    }
    llvm::errs() << ", got '" << faultName << "'\n";
    exit(2);
  }
  return found;
}

SeedWork makeIndexWork() {
  struct State {
    std::unique_ptr<mlir::MLIRContext> context;
    uint64_t done = 0;
  };
  auto state = std::make_shared<State>();
  return [state, fault = chosenFault()](uint64_t seed, Progress &progress) {
    if (state->done++ % 256 == 0) {
      state->context = makeContext();
    }
    IndexExpression expression = makeIndexExpression(*state->context, seed);
    IndexVerdict verdict = checkIndexExpression(expression, fault);
    progress.counters[0] += verdict.claims;
    switch (verdict.kind) {
    case IndexVerdict::Kind::Holds:
      ++progress.agreed;
      return;
    case IndexVerdict::Kind::Outside:
      ++progress.undecided;
      return;
    case IndexVerdict::Kind::False:
      progress.fail("a false claim: " + verdict.message);
    }
  };
}

/// Expressions are small: the first false claim is printed with its own.
int runIndexSeeds() {
  SeedRange range{firstSeed, seedCount, jobs, keepGoing};
  std::vector<Progress> workers =
      fuzz::runSeeds(range, makeIndexWork, [](unsigned) { return "index"; });
  uint64_t held = 0, outside = 0, failures = 0, claims = 0;
  for (const Progress &progress : workers) {
    if (progress.failures && !failures && !keepGoing) {
      printFailure(progress, "index");
      std::unique_ptr<mlir::MLIRContext> context = makeContext();
      makeIndexExpression(*context, progress.seed).module->print(llvm::outs());
    }
    held += progress.agreed;
    outside += progress.undecided;
    failures += progress.failures;
    claims += progress.counters[0];
  }
  llvm::outs() << held << " expressions hold, " << outside
               << " are outside of what is claimed, " << failures
               << " have a false claim; " << claims << " claims\n";
  return failures != 0;
}

int runDecode() {
  int result = 0;
  for (const std::string &file : decodeFiles) {
    auto text = llvm::MemoryBuffer::getFile(file);
    Status status =
        text ? isSimulated((*text)->getBuffer().str())
             : Status(ErrorCode::NotFound, text.getError().message());
    if (!status.ok()) {
      llvm::outs() << file << ": " << status.failure().message << "\n";
      result = 1;
    }
  }
  return result;
}

int runReplay() {
  std::unique_ptr<mlir::MLIRContext> context = makeContext();
  auto module = mlir::parseSourceFile<mlir::ModuleOp>(
      replay, mlir::ParserConfig(context.get()));
  if (!module) {
    return 2;
  }
  int result = 0;
  unsigned number = 0;
  for (std::unique_ptr<Executor> &executor : makeExecutors()) {
    Verdict verdict = checkApart(*module, *executor, [&](const Prepared &it) {
      saveAssembly(it, saveTo, llvm::sys::path::stem(replay).str(), number);
    });
    ++number;
    bool failed = verdict.isFailure() ||
                  verdict.kind == Verdict::Kind::Undefined ||
                  verdict.kind == Verdict::Kind::TooLong;
    llvm::outs() << executor->name() << ": "
                 << (failed ? verdict.message
                     : verdict.kind == Verdict::Kind::Undecided ? "undecided"
                                                                : "agrees")
                 << "\n";
    result |= failed;
  }
  return result;
}

} // namespace

int main(int argc, char **argv) {
  mlir::registerTransformsPasses();
  tile::registerTilePasses();
  tile::registerTilePipelines();
  // LLVM registers its own on top.
  cl::HideUnrelatedOptions(category);
  cl::ParseCommandLineOptions(argc, argv, "Differential test of executors\n");
  keepOptions(firstSeed, seedCount, jobs, maxElements, operations, products,
              masks, printOnly, noShrink, keepGoing, saveTo, indexOnly,
              faultName, replay);
  announceSkipped({executorList.begin(), executorList.end()});
  if (!replay.empty()) {
    return runReplay();
  }
  if (!decodeFiles.empty()) {
    return runDecode();
  }
  if (indexOnly) {
    chosenFault();
    return runIndexSeeds();
  }
  if (printOnly) {
    std::unique_ptr<mlir::MLIRContext> context = makeContext();
    generate(*context, firstSeed, generatorOptions(firstSeed))
        ->print(llvm::outs());
    return 0;
  }
  return runSeeds();
}
