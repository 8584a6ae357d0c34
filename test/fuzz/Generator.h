//===- Generator.h - Random Tile programs -----------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Programs are legal by construction: divisors are not zero, gathers stay
// inside, addresses are affine in what is known, every program of
// the grid and every iteration of a loop stores to a place of its own. The
// oracle checks it (Oracle::undefined); a violation is a bug of this folder.
//
// The generator keeps a pool of values in scope and grows it one operation at
// a time. Each family of operations has a file: GenerateX.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_TEST_FUZZ_GENERATOR_H
#define NEREID_TEST_FUZZ_GENERATOR_H

#include "test/fuzz/Random.h"

#include "nereid/Dialect/Tile/IR/Tile.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/OwningOpRef.h"

#include <functional>
#include <vector>

namespace nereid::fuzz {

struct GeneratorOptions {
  int64_t maxElements = 1024; ///< of a block
  int operations = 16;        ///< of the outermost block, roughly
  int depth = 2;              ///< of nested control flow
  int products = 13;          ///< of 100 programs, those with product loops
  int masks = 6; ///< of 100 programs, those whose masked loads decide masks
};

/// A module with one function and its launch (Launch.h). The same seed and
/// options give the same text.
mlir::OwningOpRef<mlir::ModuleOp> generate(mlir::MLIRContext &context,
                                           uint64_t seed,
                                           const GeneratorOptions &options);

using Dims = llvm::SmallVector<int64_t, 4>;

/// A value in scope and what is known about it.
struct Item {
  mlir::Value value;
  /// Floats: equal on every executor, so that comparing it decides.
  bool isExact = true;
  /// Floats: rarely above this. Keeps values away from overflow, where
  /// nothing can be compared.
  double magnitude = 8;

  mlir::Type type() const { return value.getType(); }
};

/// A scalar parameter whose value is known here.
struct KnownScalar {
  mlir::Value value;
  int64_t number = 0;
};

/// Where the elements of a block lie in an array: element i at
/// start + sum i[d] * strides[d], all below `extent`.
struct Placement {
  Dims strides;
  int64_t extent = 1;
};

/// Values of a region go out of scope with it.
class Scope {
public:
  explicit Scope(std::vector<Item> &pool) : pool(pool), size(pool.size()) {}
  ~Scope() { pool.erase(pool.begin() + size, pool.end()); }

private:
  std::vector<Item> &pool;
  size_t size;
};

class Generator {
public:
  Generator(mlir::MLIRContext &context, uint64_t seed,
            const GeneratorOptions &options);
  mlir::OwningOpRef<mlir::ModuleOp> run();

private:
  template <typename Op, typename... Args>
  auto create(Args &&...args) {
    return Op::create(b, loc, std::forward<Args>(args)...);
  }

  // Generator.cpp: the program as a whole.
  void beginFunction();
  void endFunction();
  void growBlock(int operations, int depth);
  void growOnce(int depth);
  void storeResults(int count);

  // Pool.cpp: types and values.
  mlir::Type intType(bool withBool = false);
  mlir::Type floatType();     ///< one that arithmetic has: not f8
  mlir::Type mathFloatType(); ///< f32 or f64
  mlir::Type anyElement();
  Dims anyShape();
  static mlir::Type typeOf(llvm::ArrayRef<int64_t> shape, mlir::Type element);
  Item add(mlir::Value value, bool isExact = true, double magnitude = 8);
  std::optional<Item> find(const std::function<bool(const Item &)> &wanted);
  /// A value of exactly this type: one in scope, or a new one.
  Item operand(mlir::Type type);
  Item fresh(mlir::Type type);
  Item constant(mlir::Type type);
  /// Half of the divisions and exponentials may be inexact, as the language's.
  mlir::arith::FastMathFlags approximation() {
    return random.chance(50) ? mlir::arith::FastMathFlags::afn
                             : mlir::arith::FastMathFlags::none;
  }
  mlir::Value number(mlir::Type type, double value);
  mlir::Value number(mlir::Type type, int64_t value);
  Item castTo(const Item &item, mlir::Type element);
  Item indices(mlir::Type type); ///< integers made of a range
  Item bounded(const Item &item, double limit);

  // GenerateElementwise.cpp
  void growIntBinary();
  void growIntUnary();
  void growCompare();
  void growSelect();
  void growFloatBinary();
  void growFloatUnary();
  void growMath();
  void growCast();
  void growBitcast();
  Item fpToInt(const Item &item, mlir::Type element);

  // GenerateMemory.cpp
  mlir::Value parameter(mlir::Type type,
                        llvm::ArrayRef<mlir::NamedAttribute> attrs);
  KnownScalar scalarParameter(int64_t low, int64_t high);
  mlir::Value arrayParameter(mlir::Type element, int64_t count,
                             llvm::StringRef fill, bool isOutput,
                             int alignedPercent = 40);
  Placement placement(llvm::ArrayRef<int64_t> shape, bool disjoint);
  mlir::Value offsets(llvm::ArrayRef<int64_t> shape, const Placement &placement,
                      mlir::Type element);
  mlir::Value address(mlir::Value base, mlir::Value shift,
                      llvm::ArrayRef<int64_t> shape,
                      const Placement &placement);
  mlir::Value alongDim(mlir::Value line, llvm::ArrayRef<int64_t> shape,
                       size_t dim);
  mlir::Value mask(llvm::ArrayRef<int64_t> shape);
  Item load(mlir::Type type);
  Item gatherLoad(mlir::Type type);
  void store(const Item &item, bool reread = false);
  void growAtomic();
  mlir::Value exclusiveShift(int64_t extent, int64_t &count);

  // GenerateMasks.cpp
  mlir::Value boxMask(llvm::ArrayRef<int64_t> shape);
  void growMaskedDecision();

  // GeneratePointers.cpp
  mlir::Value disguised(mlir::Value pointer);
  mlir::Value hinted(mlir::Value index, int64_t divisibility,
                     int64_t contiguity);
  void growMemoryChain();
  void growCompareAndSwap();

  // GenerateShape.cpp
  void growShape();
  Item reshape(const Item &item, llvm::ArrayRef<int64_t> shape);
  Item transpose(const Item &item);
  Item grow(const Item &item);
  Item gather(const Item &item);
  Item joinOrSplit(const Item &item);
  Item cat(const Item &item);
  Item slice(const Item &item);

  // GenerateMap.cpp
  void growMap();

  // GenerateReduce.cpp, Combine.cpp
  struct Combine {
    llvm::SmallVector<mlir::Type> elements;
    /// 2n scalars to n.
    std::function<llvm::SmallVector<mlir::Value>(mlir::ValueRange)> build;
    bool isExact = true;
    double growth = 1; ///< magnitude of the results of n elements: growth * n
    double limit = 64; ///< operands are brought below it first
  };
  void growReduce();
  void growScan();
  void growDot();
  void growHistogram();
  Combine combine(bool forScan);
  Combine simpleInt();
  Combine simpleFloat();
  Combine argBest();
  Combine welford();
  Combine logSumExp();
  Combine recurrence();
  Combine lastNonZero();
  Combine pair(Combine first, Combine second);
  llvm::SmallVector<Item> combineOperands(const Combine &combine,
                                          llvm::ArrayRef<int64_t> shape);
  void fillRegion(mlir::Region &region, const Combine &combine);

  // GenerateControl.cpp
  void growIf(int depth);
  void growFor(int depth);
  void growWhile(int depth);
  void growPointerLoop();
  mlir::Value condition();
  llvm::SmallVector<Item> carriedItems();
  Item yieldFor(const Item &carried);
  class LoopBody;

  // GenerateProducts.cpp, GenerateLoadLoops.cpp, TileLoop.cpp
  class TileLoop;
  struct Operand;
  struct ProductTypes {
    mlir::Type lhsMemory, rhsMemory, lhs, rhs, sum;
  };
  void growTileLoop();
  void growProductLoop();
  void growChainedLoop();
  void growLoadLoop();
  ProductTypes productTypes();
  Dims productSizes();
  /// Elements of the largest tile: more than other blocks may have.
  int64_t tileLimit() const { return 16 * options.maxElements; }
  Operand walkOperand(TileLoop &loop, mlir::Type memory, mlir::Type used,
                      Dims shape, size_t dim, bool isWritten = false);
  Item transposed(const Item &item);
  Item loadOperand(TileLoop &loop, const Operand &operand);
  Item prepareOperand(Item item, mlir::Type used, bool isTransposed);
  Item image(const Item &item);
  mlir::Value product(const Item &lhs, const Item &rhs, mlir::Value onto,
                      tile::InputPrecision precision, bool isUnsigned);
  mlir::Value onlyIf(mlir::Value condition, mlir::Value otherwise,
                     llvm::function_ref<mlir::Value()> then);
  mlir::Value zeros(mlir::Type type);
  mlir::Value sum(mlir::Value x, mlir::Value y);
  mlir::Value reduceRows(mlir::Value value, bool isMaximum);
  void storeTile(mlir::Value value);
  void finishTile(mlir::Value value, double magnitude);
  void growBesides(llvm::ArrayRef<Item> items);

  GeneratorOptions options;
  uint64_t seed;
  Random random;
  mlir::OpBuilder b;
  mlir::Location loc;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::func::FuncOp function;
  llvm::SmallVector<mlir::DictionaryAttr> parameterAttrs;

  std::vector<Item> pool;
  std::vector<Dims> shapes; ///< the program's favourites
  llvm::SmallVector<int32_t> grid;
  mlir::Value programIndex; ///< i32, linear
  /// Of the loops around: index of the iteration (null outside) and count.
  mlir::Value iteration;
  int64_t iterations = 1;
  int tileLoops = 0; ///< still to be grown
  /// Addresses as most kernels write them: numbers say what divides them, and
  /// pointers are not disguised.
  bool isPlain = false;
};

/// While it lives, operations go into the body of a loop, whose iterations are
/// counted.
class Generator::LoopBody {
public:
  LoopBody(Generator &g, mlir::scf::ForOp loop, int64_t trips);
  ~LoopBody();

private:
  Generator &g;
  mlir::OpBuilder::InsertionGuard guard;
  Scope scope;
  mlir::Value outer;
  int64_t count;
};

} // namespace nereid::fuzz

#endif // NEREID_TEST_FUZZ_GENERATOR_H
