//===- SourceGenerator.h - Random kernels in the language -------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Kernels are valid by construction: every expression has a known type and
// shape, accesses stay inside of their arrays, divisors are not zero, a shift
// by its width or more is discarded. Floats stay small, and what depends on a
// float by a jump (a comparison, a conversion to an integer) takes one that is
// equal on every executor, so that nearly every program decides something.
//
// The generator keeps a pool of variables in scope and grows it a statement at
// a time. Each family of statements has a file: GrowX.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_TEST_FUZZ_SOURCE_SOURCEGENERATOR_H
#define NEREID_TEST_FUZZ_SOURCE_SOURCEGENERATOR_H

#include "test/fuzz/Random.h"
#include "test/fuzz/source/Features.h"
#include "test/fuzz/source/Program.h"

#include <algorithm>
#include <functional>

namespace nereid::fuzz::source {

struct GeneratorOptions {
  int64_t maxElements = 512; ///< of a block
  int statements = 10;       ///< of the outermost block, roughly
  int depth = 2;             ///< of nested control flow
  int products = 8;          ///< of 100 programs, those with product loops
  int packing = 8;           ///< of 100 programs, those that pack narrow values
  int reducedCarried =
      8; ///< of 100, those with loops that reduce what they carry
  /// Sizes that are not powers of two: an extension, which upstream refuses.
  bool anySizes = false;
  /// Shifts by their width and more whose result is used: defined here, and
  /// upstream not.
  bool wideShifts = true;
};

/// The same seed and options give the same program.
Program generate(uint64_t seed, const GeneratorOptions &options,
                 FeatureCounts &features);

/// A variable in scope and what is known about it.
struct Item {
  VariableId variable;
  Type type;
  /// Floats: equal on every executor, so that comparing it decides.
  bool isExact = true;
  bool isWhole = false;
  /// Floats: never above this.
  double magnitude = 8;
};

/// A compile-time integer in scope.
struct StaticItem {
  VariableId variable;
  int64_t number = 0;
};

/// A number written into the source, or a constant's name.
struct Literal {
  Expr text;
  DType type; ///< that it has by itself
  int64_t integer = 0;
  double magnitude = 0;
};

/// A function made before, and the types that it was made for.
struct Helper {
  std::string name;
  std::vector<Type> parameters;
  /// Text of the constexpr arguments, and whether they may be left out.
  std::vector<std::string> statics;
  bool hasDefault = false, takesTuple = false;
  std::vector<Item> results; ///< variables unused
};

/// A variable that a loop or a branch assigns again.
struct Carried {
  VariableId variable;
  Item item;
  /// Floats: added to in every iteration, by up to `step`.
  double step = 0;
  bool isNew = false; ///< has no value yet
};

using Predicate = std::function<bool(const Item &)>;

class Generator {
public:
  Generator(uint64_t seed, const GeneratorOptions &options,
            FeatureCounts &features)
      : options(options), features(features), random(seed) {
    program.seed = seed;
  }
  Program run();

private:
  // Generator.cpp: the program as a whole.
  void beginKernel();
  void growBlock(int statements, int depth);
  void growOnce(int depth);
  void storeResults(int count);
  void count(Feature feature) { ++features[feature]; }

  // Variables.cpp: statements, variables, types.
  VariableId variable(const char *prefix, std::optional<Type> type,
                      bool isMutable = false);
  Stmt &emit(Stmt stmt);
  void effect(Expr expr);
  /// `name = expr`, in the pool; a pure one may be printed at its uses instead.
  Item define(Expr expr, Type type, bool isExact = true, double magnitude = 8,
              bool isWhole = false, bool isPure = true);
  /// As `define`, for the next statements only: it stays out of the pool.
  Item step(Expr expr, Type type) {
    Item item = define(std::move(expr), std::move(type));
    pool.pop_back();
    return item;
  }
  Item like(Expr expr, Type type, const Item &model) {
    return define(std::move(expr), std::move(type), model.isExact,
                  model.magnitude, model.isWhole);
  }
  void assign(VariableId target, Expr expr, const char *augmented = "");
  bool isMutable(const Expr &expr) const;
  size_t sizeOf(const Expr &expr) const;
  /// The statements that `grow` makes; variables go out of scope with it.
  std::vector<Stmt> block(const std::function<void()> &grow);

  DType intType(bool withBool = false);
  DType floatType(); ///< one that arithmetic has
  DType anyElement();
  Dims anyShape();
  Dims shapeAround(const Dims &shape); ///< that broadcasts with it
  std::optional<Item> find(const Predicate &wanted);
  Item integer(bool withBool = false);
  Item floating();
  Item operand(const Type &type);
  Item fresh(const Type &type);
  Item constant(const Type &type);
  Item exactOperand(const Type &type);
  /// Beside `x`: of its shape, or one that broadcasts with it.
  Item partner(const Item &x, const std::function<bool(DType)> &wanted);
  Item castTo(const Item &item, DType element);
  /// The same number or a part of it, of magnitude `limit` at most.
  Item tame(const Item &item, double limit);
  Literal literal(DType beside);
  Literal intLiteral(DType beside, int64_t low, int64_t high);
  Item range(int64_t size);
  Item indices(const Type &type); ///< known small integers

  // GrowArithmetic.cpp
  void growIntBinary();
  void growIntDivision();
  void growShift();
  void growIntUnary();
  void growFloatBinary();
  void growFloatDivision();
  void growFloatUnary();
  void growMath();
  void growMinMax();

  // GrowSelect.cpp
  void growCompare();
  void growWhere();
  void growLogic();
  void growTernary();
  void growCast();
  void growBitcast();
  void growStaticAssert();
  Item comparison(const Dims &shape);
  Item scalarCondition();

  // GrowMemory.cpp
  VariableId parameter(Argument argument, const char *prefix,
                       std::string annotation = "");
  VariableId arrayParameter(DType element, int64_t count, std::string fill,
                            bool isOutput = false, bool isAligned = true);
  /// A scalar known here: a number, a parameter, a constexpr parameter.
  Expr knownNumber(int64_t number);
  struct Place {
    Expr offsets;
    int64_t extent = 1;
  };
  Place place(const Dims &shape, bool isDisjoint);
  Expr alongDim(const Dims &shape, size_t dim);
  Expr mask(const Dims &shape);
  Expr serialTimes(int64_t extent);
  Item load(const Type &type);
  void growGatherLoad();
  void store(const Item &item);
  void growAtomic();
  void growBlockPointer();
  void growDescriptor();

  // GrowShape.cpp, GrowReduce.cpp
  void growShape();
  void growExpand();
  void growReshape();
  void growPermute();
  void growJoinSplit();
  void growGather();
  void growReduce();
  void growReduceIndices();
  void growCombine(bool isScan);
  void growScan();
  void growOrder();

  // GrowReducedCarry.cpp
  void growReducedCarry();

  void growHistogram();
  const std::string &combineFunction(size_t which);

  // GrowControl.cpp
  void growIf(int depth);
  void growFor(int depth);
  void growWhile(int depth);
  void growConstexprIf(int depth);
  void growStatic();
  void growNumberVariable();
  void growTuple();
  void growEarlyReturn(int depth);
  std::vector<Carried> carriedItems(int64_t trips);
  void updateCarried(std::vector<Carried> &carried);

  // GrowHelpers.cpp
  void growHelper(int depth);
  void reuseHelper();
  void call(const Helper &helper, const std::vector<Item> &arguments);

  // GrowProducts.cpp
  void growProducts();
  struct ProductLoop;
  Item between(const ProductLoop &loop, Item product);

  // GrowPacking.cpp
  void growPacking();
  void growDiscarded();

  GeneratorOptions options;
  FeatureCounts &features;
  Random random;
  Program program;
  Function kernel;
  std::vector<Stmt> *here = nullptr;

  std::vector<Item> pool;
  std::vector<StaticItem> statics;
  std::vector<Dims> shapes; ///< the program's favourites
  std::vector<Helper> helpers;
  std::vector<std::string> combines; ///< names of combine functions made
  bool inHelper = false;
  int nesting = 0;  ///< loops and branches around
  int unrolled = 0; ///< of them, loops over tl.static_range
  /// Counts programs and iterations, so that each stores to its own place.
  Expr serial;
  int64_t serials = 1;
  int products = 0, packings = 0, reducedCarries = 0; ///< still to be grown
  unsigned names = 0;
};

/// While it lives, statements go into a function or body of their own.
class ScopeOf {
public:
  explicit ScopeOf(std::vector<Item> &pool) : pool(pool), size(pool.size()) {}
  ~ScopeOf() { pool.erase(pool.begin() + std::ptrdiff_t(size), pool.end()); }
  ScopeOf(const ScopeOf &) = delete;
  ScopeOf &operator=(const ScopeOf &) = delete;

private:
  std::vector<Item> &pool;
  size_t size;
};

} // namespace nereid::fuzz::source

#endif // NEREID_TEST_FUZZ_SOURCE_SOURCEGENERATOR_H
