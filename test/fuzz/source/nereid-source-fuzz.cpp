//===- nereid-source-fuzz.cpp - Random kernels in the language ------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   nereid-source-fuzz --seed 1 --count 5000 --executor interp,cpu
//   nereid-source-fuzz --seed 17 --print
//   nereid-source-fuzz --seed 1 --count 5000 --emit-dir DIR
//
// The first failure is shrunk and printed as a kernel with its launch.
//
//===----------------------------------------------------------------------===//

#include "test/fuzz/KeptOptions.h"
#include "test/fuzz/Shrink.h"
#include "test/fuzz/Workers.h"
#include "test/fuzz/source/Compile.h"
#include "test/fuzz/source/Emit.h"
#include "test/fuzz/source/ShrinkSource.h"
#include "test/fuzz/source/SourceGenerator.h"

#include "nereid/Dialect/Tile/IR/Tile.h"
#include "nereid/Dialect/Tile/Transforms/Passes.h"
#include "nereid/IRGen/IRGen.h"

#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/raw_ostream.h"

#include <chrono>

using namespace nereid;
using namespace nereid::fuzz;
namespace cl = llvm::cl;

static cl::OptionCategory category("nereid-source-fuzz");
static cl::opt<uint64_t> firstSeed("seed", cl::cat(category),
                                   cl::desc("first seed"), cl::init(1));
static cl::opt<uint64_t> seedCount("count", cl::cat(category),
                                   cl::desc("number of kernels"),
                                   cl::init(100));
static cl::list<std::string> executorList("executor", cl::cat(category),
                                          cl::CommaSeparated,
                                          cl::desc("what to compare"));
static cl::opt<int> jobs("jobs", cl::cat(category), cl::desc("processes"),
                         cl::init(2));
static cl::opt<int64_t> maxElements("max-elements", cl::cat(category),
                                    cl::desc("largest block"), cl::init(512));
static cl::opt<int>
    statements("statements", cl::cat(category), cl::init(0),
               cl::desc("size of a kernel; without it, 1 to 16 by the seed"));
static cl::opt<int> products("products", cl::cat(category), cl::init(8),
                             cl::desc("of 100 kernels, those with products"));
static cl::opt<int> packing("packing", cl::cat(category), cl::init(8),
                            cl::desc("of 100 kernels, those that pack"));
static cl::opt<int>
    reducedCarried("reduced-carried", cl::cat(category), cl::init(8),
                   cl::desc("of 100 kernels, those with loops that reduce what "
                            "they carry"));
static cl::opt<bool>
    anySizes("any-sizes", cl::cat(category),
             cl::desc("blocks whose sizes are not powers of two"));
static cl::opt<bool> printOnly("print", cl::cat(category),
                               cl::desc("print the first kernel"));
static cl::opt<std::string>
    emitDir("emit-dir", cl::cat(category),
            cl::desc("write the kernels, their launches and what they give "
                     "into this folder; without --executor, only that"));
static cl::opt<std::string>
    saveTo("save", cl::cat(category),
           cl::desc("folder for the shrunk kernel and its launch, and for "
                    "what GPU executors compile kernels to"));
static cl::opt<bool> noShrink("no-shrink", cl::cat(category),
                              cl::desc("print failures as found"));
static cl::opt<bool> keepGoing("keep-going", cl::cat(category),
                               cl::desc("a line a failure, to the end"));
static cl::opt<bool> coverage("coverage", cl::cat(category),
                              cl::desc("say how often each feature occurred"));

namespace {

std::unique_ptr<mlir::MLIRContext> makeContext() {
  mlir::DialectRegistry registry;
  registerExecutorDialects(registry);
  auto context = std::make_unique<mlir::MLIRContext>(
      registry, mlir::MLIRContext::Threading::DISABLED);
  context->loadDialect<tile::TileDialect, mlir::ub::UBDialect>();
  irgen::loadDialects(*context);
  return context;
}

source::Program makeProgram(uint64_t seed, source::FeatureCounts &features) {
  source::GeneratorOptions options;
  options.maxElements = maxElements;
  options.products = products;
  options.packing = packing;
  options.reducedCarried = reducedCarried;
  options.anySizes = anySizes;
  options.wideShifts = emitDir.empty();
  options.statements =
      statements ? int(statements) : 1 + int(seed * 0x9e3779b97f4a7c15 >> 60);
  return source::generate(seed, options, features);
}

std::vector<std::unique_ptr<Executor>> makeExecutors() {
  std::vector<std::string> names(executorList.begin(), executorList.end());
  if (names.empty() && emitDir.empty()) {
    names = {"interp", "cpu"};
  }
  return executorsOrExit(names);
}

void tryProgram(mlir::MLIRContext &context, const source::Program &program,
                std::vector<std::unique_ptr<Executor>> &executors,
                Progress &progress) {
  progress.executor = 0;
  auto module = source::compile(context, program);
  if (!module.ok()) {
    progress.fail("IRGen refuses it: " + module.failure().str());
    return;
  }
  Reference reference(**module);
  if (reference.verdict().kind == Verdict::Kind::Undefined) {
    progress.fail("the kernel is not legal: " + reference.verdict().message);
    return;
  }
  if (!reference.isDefined()) {
    progress.leave(Reason::TooLong);
    return;
  }
  if (!emitDir.empty()) {
    std::string name = "k" + std::to_string(progress.seed);
    Status status = source::emit(program, **module, emitDir, name);
    if (!status.ok()) {
      progress.fail(status.failure().str());
      return;
    }
  }
  for (progress.executor = 0; progress.executor < executors.size();
       ++progress.executor) {
    Verdict verdict = reference.compare(
        *executors[progress.executor], [&](const Prepared &prepared) {
          saveAssembly(prepared, saveTo, "k" + std::to_string(progress.seed),
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
    source::FeatureCounts features;
    source::Program program = makeProgram(seed, features);
    static_assert(2 * source::numFeatures <= std::size(Progress().counters));
    for (size_t i = 0; i < source::numFeatures; ++i) {
      progress.counters[i] += features.counts[i];
      progress.counters[source::numFeatures + i] += features.counts[i] != 0;
    }
    tryProgram(*state->context, program, state->executors, progress);
  };
}

/// Prints the failure of one worker, shrunk.
void report(const Progress &progress) {
  std::vector<std::unique_ptr<Executor>> executors = makeExecutors();
  if (executors.empty()) {
    executors.push_back(std::move(*makeExecutor("interp")));
  }
  Executor &executor = *executors[progress.executor];
  printFailure(progress, executor.name());
  std::unique_ptr<mlir::MLIRContext> context = makeContext();
  source::FeatureCounts features;
  source::Program program = makeProgram(progress.seed, features);
  Verdict verdict = source::checkApart(*context, program, executor);
  if (!noShrink && verdict.kind != Verdict::Kind::Agrees) {
    program = source::shrink(*context, std::move(program), executor);
    llvm::outs() << "shrunk: "
                 << source::checkApart(*context, program, executor).message
                 << "\n";
  }
  llvm::outs() << print(program);
  if (!saveTo.empty()) {
    std::string name = "k" + std::to_string(progress.seed);
    auto module = source::compile(*context, program);
    Status status = module.ok() ? emitLaunch(program, **module, saveTo, name)
                                : module.status();
    llvm::outs() << (status.ok() ? "nereid run --launch " + saveTo + "/" +
                                       name + ".json"
                                 : status.failure().str())
                 << "\n";
  }
}

void printCoverage(const std::vector<Progress> &workers) {
  for (size_t i = 0; i < source::numFeatures; ++i) {
    uint64_t times = 0, kernels = 0;
    for (const Progress &progress : workers) {
      times += progress.counters[i];
      kernels += progress.counters[source::numFeatures + i];
    }
    llvm::outs() << source::featureNames[i] << ": " << times << " in "
                 << kernels << " kernels\n";
  }
}

int runAll() {
  auto begin = std::chrono::steady_clock::now();
  SeedRange range{firstSeed, seedCount, jobs, keepGoing};
  std::vector<Progress> workers =
      runSeeds(range, makeWork, [](unsigned executor) {
        auto executors = makeExecutors();
        return executor < executors.size() ? executors[executor]->name()
                                           : std::string("interp");
      });
  for (const Progress &progress : workers) {
    if (progress.failures && !keepGoing) {
      report(progress);
      break;
    }
  }
  if (coverage) {
    printCoverage(workers);
  }
  double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin)
          .count();
  return !printSummary(workers, seconds);
}

} // namespace

int main(int argc, char **argv) {
  mlir::registerTransformsPasses();
  tile::registerTilePasses();
  tile::registerTilePipelines();
  // LLVM registers its own on top.
  cl::HideUnrelatedOptions(category);
  cl::ParseCommandLineOptions(argc, argv, "Random kernels in the language\n");
  keepOptions(firstSeed, seedCount, jobs, maxElements, statements, products,
              packing, reducedCarried, anySizes, printOnly, emitDir, saveTo,
              noShrink, keepGoing, coverage);
  announceSkipped({executorList.begin(), executorList.end()});
  if (printOnly) {
    source::FeatureCounts features;
    llvm::outs() << print(makeProgram(firstSeed, features));
    return 0;
  }
  return runAll();
}
