//===- Prepared.cpp ---------------------------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/expression/Prepared.h"

#include "kernels/operator/OperatorKernel.h"
#include "kernels/operator/OverlappedLaunches.h"
#include "nereid/Runtime/Context.h"
#include "nereid/Runtime/OfContexts.h"

#include <array>

using namespace nereid;
using namespace nereid::kernels;
using namespace nereid::kernels::expression;

namespace {
struct PreparedKernels {
  WordTable<std::shared_ptr<const PreparedKernel>> all;
};
} // namespace

static Kernel compile(const std::string &text, Context &context) {
  return Kernel::fromSource({"<expression>", text, {}}, "expression_kernel",
                            context);
}

static std::shared_ptr<const PreparedKernel>
makePrepared(const Recorded &expression) {
  auto made = std::make_shared<PreparedKernel>();
  made->text = writeKernel(expression);
  Context context = Context::current();
  const std::string &text = made->text.text;
  made->kernel = Kernel::keptBy(context, text, [&](Context &owner) {
                   return compile(text, owner);
                 }).uncounted();
  return made;
}

std::shared_ptr<const PreparedKernel>
expression::prepare(const Recorded &expression) {
  static const OfContexts<PreparedKernels> ofContexts;
  auto &prepared = ofContexts.current().all;
  WordKey key;
  expression.addTo(key);
  if (const auto *found = prepared.find(key)) {
    return *found;
  }
  std::shared_ptr<const PreparedKernel> made = makePrepared(expression);
  if (prepared.size() < mostPrepared) {
    using Kept = std::shared_ptr<const PreparedKernel>;
    return *prepared.insert(key, std::make_unique<Kept>(std::move(made)));
  }
  return made;
}

/// Elements of a program: on a GPU 16 bytes a thread and tensor, several times;
/// on a host a piece that stays in the first cache.
static int64_t elementsOfProgram(Device device) {
  return device.isHost() ? 4096 : 1024;
}

/// The blocks, to the arguments. How many programs there are.
static int64_t addBlocks(const Loops &loops, Device device,
                         std::pmr::vector<LaunchArgument> &arguments) {
  int64_t elements = elementsOfProgram(device);
  if (loops.isFlat()) {
    arguments.push_back({"BLOCK", Argument(elements)});
    return cdiv(loops.columns(), elements);
  }
  // Both sides of a transposition are read in pieces of a line.
  int64_t most = loops.rowDimension >= 0 ? 32 : elements;
  int64_t width = std::min(nextPowerOf2(loops.columns()), most);
  int64_t height = std::min(nextPowerOf2(loops.rows()),
                            std::max<int64_t>(elements / width, 1));
  arguments.push_back({"BLOCK_M", Argument(height)});
  arguments.push_back({"BLOCK_N", Argument(width)});
  return cdiv(loops.columns(), width) * cdiv(loops.rows(), height) *
         loops.batches();
}

void expression::addInputs(const Recorded &expression, const KernelText &text,
                           std::pmr::vector<LaunchArgument> &arguments) {
  for (const Tensor *tensor : expression.tensors) {
    arguments.push_back(*tensor);
  }
  for (const SizeSource &size : text.sizes) {
    arguments.push_back(expression.valueOf(size));
  }
  for (const NumberSource &number : text.numbers) {
    arguments.push_back(expression.valueOf(number));
  }
}

void expression::launchPrepared(std::span<const NodePtr> roots,
                                const Tensor &gradient, const Tensor &strided,
                                std::span<const Tensor> results) {
  // Enough for what people write.
  alignas(std::max_align_t) std::array<std::byte, 6144> room;
  std::pmr::monotonic_buffer_resource memory(room.data(), room.size());
  Recorded expression(roots, gradient, strided, false, &memory);
  std::shared_ptr<const PreparedKernel> prepared = prepare(expression);
  const KernelText &text = prepared->text;
  std::pmr::vector<LaunchArgument> arguments(&memory);
  constexpr size_t blocksAndOptions = 4;
  arguments.reserve(results.size() + expression.tensors.size() +
                    text.sizes.size() + text.numbers.size() + blocksAndOptions);
  for (const Tensor &result : results) {
    arguments.push_back(result);
  }
  addInputs(expression, text, arguments);
  int64_t programs =
      addBlocks(expression.loops, results[0].device(), arguments);
  arguments.push_back({"num_warps", Argument(4)});
  if (!areLaunchesOverlapped()) {
    arguments.push_back({"launch_pdl", Argument(true)}); // as OperatorKernel
  }
  launchWatched(
      prepared->kernel, Grid(programs), arguments,
      [&text](Context &context) { return compile(text.text, context); });
}
