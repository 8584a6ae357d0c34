//===- IndexClaims.cpp - What analyses say of indices, and values ---------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/fuzz/IndexClaims.h"

#include "nereid/Analysis/ProgramValues.h"
#include "nereid/Interp/Machine.h"

#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace nereid::fuzz {

namespace {
using Wide = __int128;
using Values = std::vector<int64_t>;

class Checker {
public:
  Checker(IndexExpression &expression, const IndexFault *fault)
      : expression(expression), function(expression.function()), fault(fault),
        axes(function), ranges(function) {}
  IndexVerdict run();

private:
  void watch(interp::Code &code);
  void observe(const interp::Step &step, const interp::Machine &machine);
  void checkAssumptions(Operation *op);
  void checkKnown(std::array<int32_t, 3> program);
  void check(Value value);
  void checkAxes(Value value, const IndexClaim &claim);
  void checkRuns(Value value, const IndexClaim &claim, size_t d, size_t i,
                 int64_t index, int64_t step);
  void checkRange(Value value, const IndexClaim &claim);
  void checkWrap(Value value, const IndexClaim &claim);
  IndexClaim claimOf(Value value);
  bool isOpen(Value value);
  void wrong(Value value, const std::string &what, size_t i);

  static Type elementOf(Value value) {
    return tile::getElement(value.getType());
  }
  static unsigned widthOf(Value value) {
    Type element = elementOf(value);
    return isa<IntegerType>(element) ? element.getIntOrFloatBitWidth() : 64;
  }
  static int64_t unitOf(Value value) {
    auto pointer = dyn_cast<tile::PtrType>(elementOf(value));
    return pointer ? tile::getElementBytes(pointer.getPointee()) : 1;
  }
  /// Are two numbers equal modulo 2^32, or modulo 2^width in narrower types?
  static bool isSame(Value value, int64_t a, int64_t b) {
    unsigned bits = std::min(widthOf(value), 32u);
    return ((uint64_t(a) ^ uint64_t(b)) &
            llvm::maskTrailingOnes<uint64_t>(bits)) == 0;
  }

  IndexExpression &expression;
  func::FuncOp function;
  const IndexFault *fault;
  AxisInfoAnalysis axes;
  IntegerRanges ranges;
  ConstantStrides strides;
  /// As the operations left them last; a boolean that is true is -1.
  llvm::DenseMap<Value, Values> values;
  std::vector<std::unique_ptr<interp::Handler>> watchers;
  llvm::DenseMap<Value, bool> open;
  IndexVerdict verdict;
};
} // namespace

void Checker::wrong(Value value, const std::string &what, size_t i) {
  if (verdict.kind == IndexVerdict::Kind::False) {
    return;
  }
  verdict.kind = IndexVerdict::Kind::False;
  llvm::raw_string_ostream out(verdict.message);
  out << what << ", element " << i << " of ";
  value.print(out);
  out << ":";
  for (int64_t element : ArrayRef(values[value]).take_front(40)) {
    out << " " << element;
  }
}

IndexClaim Checker::claimOf(Value value) {
  IndexClaim claim{axes.get(value), ranges.get(value), ranges.mayWrap(value),
                   strides.get(value)};
  if (fault && value.getDefiningOp()) {
    fault->apply(value.getDefiningOp(), claim, [&](Value operand) {
      return IndexClaim{axes.get(operand), ranges.get(operand),
                        ranges.mayWrap(operand), strides.get(operand)};
    });
  }
  return claim;
}

/// Along dimension `d`, where element i has index `index` and its neighbour in
/// front lies `step` elements before it.
void Checker::checkRuns(Value value, const IndexClaim &claim, size_t d,
                        size_t i, int64_t index, int64_t step) {
  const Values &v = values[value];
  unsigned width = widthOf(value);
  int64_t unit = unitOf(value);
  int64_t run = claim.axes.contiguity[d], divisor = claim.axes.divisibility[d];
  if (index % run == 0 && (uint64_t(v[i]) & uint64_t(divisor - 1) &
                           llvm::maskTrailingOnes<uint64_t>(width)) != 0) {
    wrong(value, "not divisible by " + std::to_string(divisor), i);
  }
  if (index == 0) {
    return;
  }
  int64_t before = v[i - step];
  if (index % run != 0 && !isSame(value, v[i], before + unit)) {
    wrong(value, "no run of " + std::to_string(run), i);
  }
  int64_t piece = std::min(run & -run, std::max<int64_t>(divisor / unit, 1));
  if (index % piece != 0 && Wide(v[i]) - before != unit) {
    wrong(value, "no piece of " + std::to_string(piece), i);
  }
  int64_t equal = claim.axes.constancy[d];
  if (index % equal != 0 && v[i] != before) {
    wrong(value, "not equal in pieces of " + std::to_string(equal), i);
  }
  auto stride = claim.strides.empty() ? std::nullopt : claim.strides[d];
  if (stride && !isSame(value, v[i], int64_t(uint64_t(before) + *stride))) {
    wrong(value, "no stride of " + std::to_string(*stride), i);
  }
}

void Checker::checkAxes(Value value, const IndexClaim &claim) {
  const Values &v = values[value];
  Values shape(tile::getShape(value.getType()));
  if (shape.empty()) {
    shape = {1};
  }
  for (size_t i = 0; i < v.size(); ++i) {
    int64_t step = 1;
    for (size_t d = shape.size(); d-- > 0; step *= shape[d]) {
      checkRuns(value, claim, d, i, int64_t(i) / step % shape[d], step);
    }
    if (claim.axes.constant && v[i] != *claim.axes.constant) {
      wrong(value, "not the constant " + std::to_string(*claim.axes.constant),
            i);
    }
  }
  verdict.claims += 5 * shape.size();
}

void Checker::checkRange(Value value, const IndexClaim &claim) {
  for (auto [i, element] : llvm::enumerate(values[value])) {
    if (element < claim.range.low || element > claim.range.high) {
      wrong(value,
            "not from " + std::to_string(claim.range.low) + " to " +
                std::to_string(claim.range.high),
            i);
    }
  }
  ++verdict.claims;
}

/// The result of a sum, difference, product, shift or truncation, before it is
/// brought into the type; nothing for other operations.
static std::optional<Wide> exactOf(Operation *op, Wide x, Wide y) {
  return llvm::TypeSwitch<Operation *, std::optional<Wide>>(op)
      .Case([&](arith::AddIOp) { return x + y; })
      .Case([&](arith::SubIOp) { return x - y; })
      .Case([&](arith::MulIOp) { return x * y; })
      .Case([&](arith::TruncIOp) { return x; })
      .Case([&](arith::ShLIOp) {
        return y >= 0 && y < 64 ? std::optional(x * (Wide(1) << int(y)))
                                : std::nullopt;
      })
      .Default([](Operation *) { return std::nullopt; });
}

void Checker::checkWrap(Value value, const IndexClaim &claim) {
  Operation *op = value.getDefiningOp();
  if (claim.mayWrap || !op || !exactOf(op, 0, 0)) {
    return;
  }
  for (auto [i, element] : llvm::enumerate(values[value])) {
    Wide x = values[op->getOperand(0)][i];
    Wide y = op->getNumOperands() == 2 ? values[op->getOperand(1)][i] : 0;
    std::optional<Wide> exact = exactOf(op, x, y);
    if (exact && *exact != element) {
      wrong(value, "wraps", i);
    }
  }
}

void Checker::check(Value value) {
  IndexClaim claim = claimOf(value);
  checkAxes(value, claim);
  if (isa<IntegerType>(elementOf(value))) {
    checkRange(value, claim);
    checkWrap(value, claim);
  }
}

/// Does it come from an argument or the grid?
bool Checker::isOpen(Value value) {
  auto [found, isNew] = open.try_emplace(value, false);
  if (!isNew) {
    return found->second;
  }
  bool result = false;
  if (Operation *op = value.getDefiningOp()) {
    result = isa<tile::ProgramIdOp, tile::NumProgramsOp, scf::ForOp>(op) ||
             llvm::any_of(op->getOperands(),
                          [&](Value operand) { return isOpen(operand); });
  } else {
    result = true; // of the function, or carried by a loop
  }
  return open[value] = result;
}

/// What IntegerRanges assumes of open numbers of 32 bits and more, and what the
/// language leaves undefined.
void Checker::checkAssumptions(Operation *op) {
  if (isa<arith::DivSIOp, arith::RemSIOp, arith::DivUIOp, arith::RemUIOp>(op) &&
      llvm::is_contained(values[op->getOperand(1)], 0)) {
    verdict.kind = IndexVerdict::Kind::Outside;
    return;
  }
  bool isDivision = isa<arith::DivSIOp, arith::RemSIOp>(op);
  if (op->getNumOperands() == 0 || !isOpen(op->getResult(0)) ||
      !(isDivision || exactOf(op, 0, 0)) || widthOf(op->getResult(0)) < 32) {
    return;
  }
  for (auto [i, element] : llvm::enumerate(values[op->getResult(0)])) {
    Wide x = values[op->getOperand(0)][i];
    Wide y = op->getNumOperands() == 2 ? values[op->getOperand(1)][i] : 0;
    std::optional<Wide> exact = exactOf(op, x, y);
    if (exact ? *exact != element : y <= 0 && isOpen(op->getOperand(1))) {
      verdict.kind = IndexVerdict::Kind::Outside;
    }
  }
}

/// Every operation is followed by a look at what it did.
void Checker::watch(interp::Code &code) {
  for (interp::Step &step : code.steps) {
    for (interp::Code &region : step.regions) {
      watch(region);
    }
    auto watcher = std::make_unique<interp::Handler>(*step.handler);
    watcher->run = [this, inner = step.handler](interp::Machine &machine,
                                                const interp::Step &now) {
      inner->run(machine, now);
      observe(now, machine);
    };
    step.handler = watcher.get();
    watchers.push_back(std::move(watcher));
  }
}

void Checker::observe(const interp::Step &step,
                      const interp::Machine &machine) {
  if (verdict.kind != IndexVerdict::Kind::Holds || step.results.size() != 1 ||
      isa<tile::LoadOp>(step.op)) {
    return;
  }
  auto read = [&](unsigned slot, Value value) {
    const interp::TileValue &found = machine.slot(slot);
    Values &to = values[value] = found.ints;
    for (int64_t &element : to) {
      element = found.element.width == 1 ? -element : element;
    }
  };
  if (!isa<scf::ForOp>(step.op)) {
    for (auto [slot, operand] :
         llvm::zip_equal(step.operands, step.op->getOperands())) {
      read(slot, operand);
    }
  }
  read(step.results[0], step.op->getResult(0));
  checkAssumptions(step.op);
  if (verdict.kind == IndexVerdict::Kind::Holds) {
    check(step.op->getResult(0));
  }
}

/// ProgramValues reports accesses; every probe is one.
void Checker::checkKnown(std::array<int32_t, 3> program) {
  int64_t work = 1 << 22;
  ProgramValues known(
      expression.launch, program, work, [&](const KnownAccess &access) {
        Value pointers = access.op->getOperand(0);
        auto array = cast<BlockArgument>(access.pointers.root);
        uint64_t base = expression.arguments[array.getArgNumber()];
        auto found = values.find(pointers);
        if (found == values.end() || found->second.size() != access.count) {
          return;
        }
        for (size_t i = 0; i < access.count; ++i) {
          if (uint64_t(found->second[i]) !=
              base + uint64_t(access.pointers.at(i))) {
            wrong(pointers,
                  "not " + std::to_string(access.pointers.at(i)) +
                      " bytes after its array",
                  i);
          }
        }
        ++verdict.claims;
      });
  known.run(function);
}

IndexVerdict Checker::run() {
  auto program = interp::buildProgram(function);
  if (!program.ok()) {
    verdict.kind = IndexVerdict::Kind::False;
    verdict.message = program.failure().message;
    return verdict;
  }
  watch((*program)->body);
  const auto &grid = expression.launch.grid;
  LaunchFrame frame = {};
  frame.arguments = expression.arguments.data();
  std::copy(grid.begin(), grid.end(), frame.grid);
  interp::Machine machine(**program, interp::FloatMode::Declared, frame);
  int64_t programs = int64_t(grid[0]) * grid[1] * grid[2];
  for (int64_t i = 0; i < programs; ++i) {
    machine.runProgram(i);
    if (verdict.kind != IndexVerdict::Kind::Holds) {
      return verdict;
    }
    checkKnown({int32_t(i % grid[0]), int32_t(i / grid[0] % grid[1]),
                int32_t(i / grid[0] / grid[1])});
    if (verdict.kind == IndexVerdict::Kind::False) {
      return verdict;
    }
  }
  return verdict;
}

IndexVerdict checkIndexExpression(IndexExpression &expression,
                                  const IndexFault *fault) {
  return Checker(expression, fault).run();
}

} // namespace nereid::fuzz
