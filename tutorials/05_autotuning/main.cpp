//===- main.cpp - Lesson 5: the machine chooses ----------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The sizes of a kernel's blocks are worth a factor, and which ones are best
// depends on the machine and on the arrays. So the choice is measured: from a
// list, with what is wrong in it named; kept for later processes; exported for
// programs that ship compiled kernels; and found without any list.
//
//===----------------------------------------------------------------------===//

#include "nereid/Bench/Measure.h"
#include "nereid/Support/Files.h"
#include "nereid/Tune/SearchingCompiler.h"
#include "nereid/Tune/TuningChooser.h"
#include "nereid/nereid.h"
#include "tutorials/Lesson.h"

using namespace nereid;
using namespace nereid::literals;

namespace {

constexpr const char *file = LESSON_DIR "/matmul.py";

/// c = a * b. Whole numbers from -4 to 3: every order of adding gives the same,
/// and a result is right or wrong.
struct Product {
  Product(int64_t size, Device device)
      : size(size), device(device),
        a(randint({size, size}, -4, 4, f32, device, 1)),
        b(randint({size, size}, -4, 4, f32, device, 2)), c(emptyLike(a)),
        expected(size_t(size * size)) {
    std::vector<double> x = a.toFloat64(), y = b.toFloat64();
    for (int64_t i = 0; i < size; ++i) {
      for (int64_t k = 0; k < size; ++k) {
        for (int64_t j = 0; j < size; ++j) {
          expected[i * size + j] += x[i * size + k] * y[k * size + j];
        }
      }
    }
  }

  /// The number of programs depends on the choice: a function of it.
  Grid grid() const {
    return [n = size](const Meta &meta) {
      return Grid{cdiv(n, meta["BLOCK_M"]), cdiv(n, meta["BLOCK_N"])};
    };
  }
  /// A launch that leaves the block sizes open.
  void run(const Kernel &kernel) {
    kernel[grid()](c, a, b, size, size, size);
    synchronize(device);
  }
  double difference() const { return lesson::maxDifference(c, expected); }

  int64_t size;
  Device device;
  Tensor a, b, c;
  std::vector<double> expected;
};

/// What became of each configuration, in the order of the list.
void printTrials(const tune::TuningChooser::Choice &choice) {
  for (const tune::TrialRecord &trial : choice.record.trials) {
    bool isChosen = describe(trial.config) == describe(choice.record.config);
    std::printf("  %-62s ", describe(trial.config).c_str());
    if (trial.state == tune::TrialState::Measured) {
      std::printf("%8.3f ms  %zu samples%s\n", trial.ms, trial.samples,
                  isChosen ? "  <- chosen" : "");
    } else {
      // The first line says what, the others where.
      std::string message = trial.message.substr(0, trial.message.find('\n'));
      std::printf("%s: %s\n", tune::name(trial.state), message.c_str());
    }
  }
  if (choice.wasFound) {
    std::printf("  (kept by an earlier run; --again 1 tunes anew)\n");
  }
  std::printf("\n");
}

/// The reference executor takes the first configuration: its times say nothing.
void printNoChoice() { std::printf("  This device does not choose.\n\n"); }

//===----------------------------------------------------------------------===//
// The problem
//===----------------------------------------------------------------------===//

/// Sizes that somebody might write down. Returns the largest difference.
double byHand(Product &product, size_t repeats) {
  std::printf("1. By hand: the same kernel with four choices\n\n");
  Kernel matmul = Kernel::load(file, "matmul");
  struct Blocks {
    int64_t m, n, k;
  };
  const Blocks choices[] = {
      {16, 16, 16}, {32, 32, 32}, {64, 64, 64}, {16, 256, 256}};
  std::vector<bench::Contender> contenders;
  double worst = 0;
  for (const Blocks &blocks : choices) {
    auto run = [&product, matmul, blocks](size_t) {
      matmul[product.grid()](product.c, product.a, product.b, product.size,
                             product.size, product.size, "BLOCK_M"_a = blocks.m,
                             "BLOCK_N"_a = blocks.n, "BLOCK_K"_a = blocks.k);
    };
    run(0);
    worst = std::max(worst, product.difference());
    contenders.push_back({std::to_string(blocks.m) + " x " +
                              std::to_string(blocks.n) + " x " +
                              std::to_string(blocks.k),
                          run});
  }
  std::vector<bench::Times> times = bench::measure(
      product.device, contenders,
      {.seconds = 5, .leastSamples = repeats, .mostSamples = repeats});
  double least = INFINITY, most = 0;
  for (const bench::Times &one : times) {
    if (one.failure) {
      raise(*one.failure);
    }
    std::printf("  %-14s %8.3f ms\n", one.name.c_str(), one.ms.median);
    least = std::min(least, one.ms.median);
    most = std::max(most, one.ms.median);
  }
  std::printf("\n  The worst takes %.1f times as long as the best.\n\n",
              most / least);
  return worst;
}

//===----------------------------------------------------------------------===//
// The tuner
//===----------------------------------------------------------------------===//

/// A list in the kernel's file. The first launch measures it; the lesson
/// installs a chooser of its own only to ask it afterwards.
double fromList(Product &product, tune::TuningChooser &chooser,
                const char *kernel) {
  product.c.fill(0);
  product.run(Kernel::load(file, kernel));
  if (chooser.latest()) {
    printTrials(*chooser.latest());
  } else {
    printNoChoice();
  }
  return product.difference();
}

/// Further launches know the choice, and so do further processes: another
/// context has nothing in memory, as a process that has just begun.
void again(Product &product, const char *kernel) {
  Kernel loaded = Kernel::load(file, kernel);
  double first = bench::clockMs(product.device, [&] { product.run(loaded); });
  Context another(createKernelCompiler());
  tune::TuningChooser chooser;
  setConfigChooser(&chooser);
  product.run(Kernel::load(file, kernel, another));
  std::printf("  The next launch takes %.3f ms. ", first);
  if (chooser.latest() && chooser.latest()->wasFound) {
    std::printf("A process that begins now finds the choice in %.2f ms.\n\n",
                chooser.latest()->readyMs);
  } else {
    std::printf("Nothing is kept on this machine (docs/Tune.md says why).\n\n");
  }
}

/// Without a list: the parameters that the launch leaves open are the space.
double search(Product &product, double seconds, bool isAgain, double listedMs) {
  std::printf("4. No list: %.0f seconds of search for the kernel 'matmul'\n\n",
              seconds);
  tune::TuningChooser chooser({.searchSeconds = seconds});
  chooser.again = isAgain;
  setConfigChooser(&chooser);
  Context context(
      std::make_unique<tune::SearchingCompiler>(createKernelCompiler()));
  product.c.fill(0);
  product.run(Kernel::load(file, "matmul", context));
  if (!chooser.latest()) {
    printNoChoice();
    return product.difference();
  }
  const tune::TuningRecord &record = chooser.latest()->record;
  std::printf("  %zu configurations tried%s, the best one:\n  %s, %.3f ms; "
              "the list's best one took %.3f ms\n",
              record.trials.size(),
              chooser.latest()->wasFound ? " by an earlier run" : "",
              describe(record.config).c_str(), record.ms, listedMs);
  return product.difference();
}

} // namespace

int main(int argc, char **argv) try {
  lesson::checkOptions(
      argc, argv,
      {"--device", "--size", "--repeats", "--seconds", "--again", "--export"});
  Device device = Device::parse(lesson::option(argc, argv, "--device", "cpu"));
  int64_t size = lesson::option(argc, argv, "--size", 512);
  int64_t repeats = lesson::option(argc, argv, "--repeats", 20);
  int64_t seconds = lesson::option(argc, argv, "--seconds", 3);
  bool isAgain = lesson::option(argc, argv, "--again", 0) != 0;
  std::string exported = lesson::option(argc, argv, "--export", "");
  if (size == 0 || repeats == 0 || seconds == 0) {
    raise({ErrorCode::InvalidArgument,
           "expected --size, --repeats and --seconds from 1, got 0",
           {}});
  }
  Product product(size, device);
  std::printf("The product of two matrices of %lld x %lld fp32 on %s\n\n",
              (long long)size, (long long)size, device.str().c_str());
  double worst = byHand(product, size_t(repeats));

  std::printf("2. @triton.autotune: the first launch measures the list\n\n");
  tune::TuningChooser chooser;
  chooser.again = isAgain;
  setConfigChooser(&chooser);
  worst = std::max(worst, fromList(product, chooser, "listed_matmul"));
  tune::TuningRecord listed;
  if (chooser.latest()) {
    listed = chooser.latest()->record;
    chooser.again = false;
    again(product, "listed_matmul");
  }

  std::printf("3. A list with mistakes: they are named, and not chosen\n\n");
  chooser.again = isAgain;
  setConfigChooser(&chooser);
  worst = std::max(worst, fromList(product, chooser, "careless_matmul"));

  worst = std::max(worst, search(product, double(seconds), isAgain, listed.ms));

  // What a program that ships compiled kernels needs (shipped.cpp).
  if (!exported.empty() && listed.ms) {
    std::vector<tune::TuningRecord> records = {listed};
    throwIfFailed(writeFileAtomically(exported, tune::fileText(records)));
    size_t count = valueOrThrow(tune::readRecords(exported)).size();
    std::printf("\n5. %s has %zu choice%s\n", exported.c_str(), count,
                count == 1 ? "" : "s");
  }
  setConfigChooser(nullptr);
  // Sums of whole numbers are exact.
  return lesson::verdict(worst, 0);
} catch (const Error &error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
