//===- ExpandMathTest.cpp - Expanded functions against libm ---------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//===----------------------------------------------------------------------===//

#include "nereid/Target/CPU/ExpandMathTest.h"

#include "nereid/Dialect/Tile/Transforms/ExpandMath.h"

#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVMPass.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVMPass.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/Extensions/AllExtensions.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <random>

using namespace nereid;
using namespace nereid::cpu;

static long double rsqrtLong(long double x) { return 1 / sqrtl(x); }
/// 1 / sqrt(x) in long double: in double it would have two roundings, which is
/// still exact enough for f32.
static double rsqrtDouble(double x) { return 1 / std::sqrt(x); }

#define NEREID_FUNCTION(name, error32, error64)                                \
  {#name, static_cast<double (*)(double)>(::name),                             \
   static_cast<long double (*)(long double)>(::name##l), error32, error64}

llvm::ArrayRef<MathFunction> cpu::mathFunctions() {
  static const MathFunction table[] = {
      NEREID_FUNCTION(exp, 1, 1),
      NEREID_FUNCTION(exp2, 1, 1),
      NEREID_FUNCTION(expm1, 2, 2),
      NEREID_FUNCTION(sinh, 2, 2),
      NEREID_FUNCTION(cosh, 2, 2),
      NEREID_FUNCTION(tanh, 2, 2),
      NEREID_FUNCTION(log, 1, 1),
      NEREID_FUNCTION(log2, 1, 1),
      NEREID_FUNCTION(log10, 1, 1),
      NEREID_FUNCTION(log1p, 2, 2),
      NEREID_FUNCTION(asinh, 3, 3),
      NEREID_FUNCTION(acosh, 3, 3),
      NEREID_FUNCTION(atanh, 3, 3),
      NEREID_FUNCTION(sin, 1, 1),
      NEREID_FUNCTION(cos, 1, 1),
      NEREID_FUNCTION(tan, 2, 2),
      NEREID_FUNCTION(asin, 2, 2),
      NEREID_FUNCTION(acos, 2, 2),
      NEREID_FUNCTION(atan, 2, 2),
      NEREID_FUNCTION(erf, 2, 2),
      NEREID_FUNCTION(erfc, 2, 2),
      NEREID_FUNCTION(cbrt, 1, 1),
      {"rsqrt", rsqrtDouble, rsqrtLong, 1, 1},
  };
  return table;
}

llvm::ArrayRef<MathFunction2> cpu::mathFunctions2() {
  static const MathFunction2 table[] = {
      {"powf", ::pow, ::powl, 2, 2},
      {"atan2", ::atan2, ::atan2l, 2, 2},
  };
  return table;
}

/// Operations on %vx and %vy of type `vector` that define %r.
static std::string bodyText(const std::string &op, int numOperands,
                            const std::string &vector,
                            const std::string &integers) {
  if (op == "sincos.sin") {
    return "%r, %c = math.sincos %vx : " + vector + "\n";
  }
  if (op == "sincos.cos") {
    return "%s, %r = math.sincos %vx : " + vector + "\n";
  }
  if (op == "fpowi") {
    return "%n = arith.fptosi %vy : " + vector + " to " + integers +
           "\n%r = math.fpowi %vx, %n : " + vector + ", " + integers + "\n";
  }
  return "%r = math." + op + (numOperands == 2 ? " %vx, %vy : " : " %vx : ") +
         vector + "\n";
}

/// A loop over `lanes` elements at a time.
static std::string loopText(const std::string &op, int numOperands,
                            const std::string &type, unsigned lanes) {
  auto shaped = [&](const std::string &element) {
    return lanes == 1 ? element
                      : "vector<" + std::to_string(lanes) + "x" + element + ">";
  };
  std::string vector = shaped(type);
  std::string load = " {alignment = 4 : i64} : !llvm.ptr -> " + vector + "\n";
  std::string address = "[%i] : (!llvm.ptr, i64) -> !llvm.ptr, " + type + "\n";
  std::string text = R"mlir(
func.func @entry(%self: !llvm.ptr, %frame: !llvm.ptr, %b: i64, %e: i64) {
  %args = llvm.load %frame : !llvm.ptr -> !llvm.ptr
  %a1 = llvm.getelementptr %args[1] : (!llvm.ptr) -> !llvm.ptr, i64
  %a2 = llvm.getelementptr %args[2] : (!llvm.ptr) -> !llvm.ptr, i64
  %x = llvm.load %args : !llvm.ptr -> !llvm.ptr
  %y = llvm.load %a1 : !llvm.ptr -> !llvm.ptr
  %out = llvm.load %a2 : !llvm.ptr -> !llvm.ptr
  %step = arith.constant )mlir" +
                     std::to_string(lanes) + R"mlir( : i64
  scf.for %i = %b to %e step %step : i64 {
    %px = llvm.getelementptr %x)mlir" +
                     address + "%vx = llvm.load %px" + load;
  if (numOperands == 2) {
    text +=
        "%py = llvm.getelementptr %y" + address + "%vy = llvm.load %py" + load;
  }
  return text + bodyText(op, numOperands, vector, shaped("i32")) +
         "%po = llvm.getelementptr %out" + address +
         "llvm.store %r, %po {alignment = 4 : i64} : " + vector +
         ", !llvm.ptr\n } return }";
}

Expected<LoweredModule> cpu::lowerText(const std::string &text,
                                       const CpuTarget &target) {
  mlir::DialectRegistry registry;
  mlir::arith::registerConvertArithToLLVMInterface(registry);
  LoweredModule result;
  result.context = std::make_unique<mlir::MLIRContext>(
      registry, mlir::MLIRContext::Threading::DISABLED);
  mlir::MLIRContext &context = *result.context;
  context.loadDialect<mlir::func::FuncDialect, mlir::arith::ArithDialect,
                      mlir::math::MathDialect, mlir::scf::SCFDialect,
                      mlir::vector::VectorDialect, mlir::cf::ControlFlowDialect,
                      mlir::LLVM::LLVMDialect>();
  result.module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  if (!result.module) {
    return {ErrorCode::Internal, "the test's module does not parse"};
  }
  tile::ExpandMathOptions options;
  options.hasFma = target.hasFma;
  options.hasScalef = target.hasMaskRegisters;
  tile::expandMath(*result.module, options);
  mlir::PassManager passes(&context);
  passes.addPass(mlir::createSCFToControlFlowPass());
  passes.addPass(mlir::createConvertVectorToLLVMPass());
  passes.addPass(mlir::createArithToLLVMConversionPass());
  passes.addPass(mlir::createConvertMathToLLVMPass());
  passes.addPass(mlir::createConvertControlFlowToLLVMPass());
  passes.addPass(mlir::createConvertFuncToLLVMPass());
  passes.addPass(mlir::createReconcileUnrealizedCastsPass());
  if (failed(passes.run(*result.module))) {
    return {ErrorCode::Internal, "the lowering failed"};
  }
  return result;
}

Expected<MathKernel> MathKernel::create(const std::string &op, int numOperands,
                                        const std::string &type, unsigned lanes,
                                        const CpuTarget &target) {
  auto lowered = lowerText(loopText(op, numOperands, type, lanes), target);
  if (!lowered.ok()) {
    return lowered.failure();
  }
  mlir::ModuleOp module = *lowered->module;
  if (const char *folder = std::getenv("NEREID_TEST_ASM")) {
    std::string path = std::string(folder) + "/" + op + "." + type + "." +
                       target.name + ".x" + std::to_string(lanes) + ".s";
    auto text = emitAssembly(module, target);
    if (FILE *file = fopen(path.c_str(), "w")) {
      fputs(text.ok() ? text->c_str() : "", file);
      fclose(file);
    }
  }
  auto object = emitObject(module, target);
  if (!object.ok()) {
    return object.failure();
  }
  auto code = loadObject(*object, "entry");
  if (!code.ok()) {
    return code.failure();
  }
  MathKernel kernel;
  kernel.code = *code;
  return kernel;
}

namespace {

template <typename T>
struct Format;
template <>
struct Format<float> {
  using Bits = uint32_t;
  static constexpr const char *name = "f32";
};
template <>
struct Format<double> {
  using Bits = uint64_t;
  static constexpr const char *name = "f64";
};

/// The worst of many results.
struct Worst {
  double error = 0;
  double x = 0, y = 0, got = 0, exact = 0;
};

} // namespace

/// Zeros, infinities, NaN, the ends of the normal and of the whole range, small
/// integers and halves, and the neighbours of each; of both signs.
template <typename T>
static std::vector<T> specialValues() {
  using Limits = std::numeric_limits<T>;
  std::vector<T> values;
  for (T special :
       {T(0), T(0.5), T(1), T(1.5), T(2), T(3), T(10), T(100), T(0x1p24),
        T(0x1p31), T(0x1p53), Limits::infinity(), Limits::quiet_NaN(),
        Limits::min(), Limits::max(), Limits::denorm_min()}) {
    for (T near : {special, std::nextafter(special, T(0)),
                   std::nextafter(special, Limits::infinity())}) {
      values.push_back(near);
      values.push_back(-near);
    }
  }
  return values;
}

/// Bit patterns evenly over the format, which is evenly over the exponents, as
/// many where most functions do most, and special values.
template <typename T>
static std::vector<T> samples(size_t count) {
  using Bits = typename Format<T>::Bits;
  std::vector<T> values = specialValues<T>();
  for (int i = 1; i <= 400; ++i) { // near multiples of pi/2 and of ln 2 / 2
    values.push_back(static_cast<T>(i * 1.5707963267948966));
    values.push_back(static_cast<T>(-i * 0.34657359027997264));
  }
  std::mt19937_64 random(1);
  Bits stride = static_cast<Bits>(-1) / static_cast<Bits>(count) | 1;
  for (size_t i = 0; values.size() < count; ++i) {
    Bits offset = static_cast<Bits>(random()) % stride;
    Bits pattern = static_cast<Bits>(i) * stride + offset;
    values.push_back(std::bit_cast<T>(pattern));
    if (i % 4 == 0) {
      auto u = static_cast<double>(random()) * 0x1p-64;
      values.push_back(static_cast<T>(std::ldexp(u - 0.5, i / 4 % 12)));
    }
  }
  values.resize(count);
  return values;
}

/// Pairs of special values, of any bits, and of numbers (x, y) for which both
/// x^y and y/x are in range.
template <typename T>
static void samplePairs(size_t count, std::vector<T> &xs, std::vector<T> &ys) {
  using Bits = typename Format<T>::Bits;
  std::vector<T> special = specialValues<T>();
  for (T x : special) {
    for (T y : special) {
      xs.push_back(x);
      ys.push_back(y);
    }
  }
  std::mt19937_64 random(2);
  auto uniform = [&] { return static_cast<double>(random()) * 0x1p-63 - 1; };
  constexpr double range = std::numeric_limits<T>::max_exponent * 1.2;
  while (xs.size() < count) {
    xs.push_back(std::bit_cast<T>(static_cast<Bits>(random())));
    ys.push_back(std::bit_cast<T>(static_cast<Bits>(random())));
    double log = uniform() * std::exp2(uniform() * 8);
    xs.push_back(static_cast<T>(std::exp2(log)));
    ys.push_back(static_cast<T>(uniform() * range / log));
    xs.push_back(static_cast<T>(uniform() * 16));
    ys.push_back(std::round(static_cast<T>(uniform() * 30)));
  }
  xs.resize(count);
  ys.resize(count);
}

template <typename T, typename Wide>
static Worst worstOf(const std::vector<T> &got, const std::vector<Wide> &want,
                     const std::vector<T> &xs, const std::vector<T> &ys) {
  Worst worst;
  for (size_t i = 0; i < xs.size(); ++i) {
    double error = errorInUlp<T, Wide>(got[i], want[i]);
    if (error > worst.error) {
      worst = {error, xs[i], ys[i], got[i], static_cast<double>(want[i])};
    }
  }
  return worst;
}

/// Equal but for the bits of NaNs.
template <typename T>
static bool sameResults(const std::vector<T> &a, const std::vector<T> &b) {
  for (size_t i = 0; i < a.size(); ++i) {
    bool same = std::isnan(a[i]) ? std::isnan(b[i])
                                 : memcmp(&a[i], &b[i], sizeof(T)) == 0;
    if (!same) {
      return false;
    }
  }
  return true;
}

/// Without FMA each product of a sum is rounded, too.
static double limitOn(const CpuTarget &target, double limit) {
  return target.hasFma ? limit : limit + 0.5;
}

static void expectWithin(const Worst &worst, double limit,
                         const std::string &what) {
  EXPECT_LE(worst.error, limit)
      << what << std::hexfloat << " x " << worst.x << " y " << worst.y
      << " got " << worst.got << " exact " << worst.exact << std::defaultfloat
      << " (x = " << worst.x << ")";
  if (std::getenv("NEREID_TEST_SAMPLES")) {
    printf("%-30s %.3f ulp at %a %a\n", what.c_str(), worst.error, worst.x,
           worst.y);
  }
}

static std::vector<const char *> hostTargets() {
  std::vector<const char *> names;
  for (const char *name : {"x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4"}) {
    if (runsHere(*resolve(name))) {
      names.push_back(name);
    }
  }
  return names;
}

/// Full vectors of every target; on the widest also four times as long ones (as
/// TileToCPU unrolls), halves and less, scalars.
static std::vector<std::pair<const char *, unsigned>> shapes(unsigned bytes) {
  std::vector<std::pair<const char *, unsigned>> result;
  for (const char *name : hostTargets()) {
    result.emplace_back(name, resolve(name)->lanes(bytes));
  }
  unsigned widest = result.back().second;
  const char *target = result.back().first;
  result.emplace_back(target, 4 * widest);
  for (unsigned lanes = widest / 2; lanes >= 1; lanes /= 2) {
    result.emplace_back(target, lanes);
  }
  return result;
}

static size_t numSamples() {
  const char *text = std::getenv("NEREID_TEST_SAMPLES");
  return text ? strtoul(text, nullptr, 10) : 1 << 15;
}

/// Every shape is within the limit, and all shapes of one target agree: a
/// vector and the scalar remainder of a loop give the same.
template <typename T, typename Wide>
static void checkShapes(const std::string &op, int numOperands, double limit,
                        const std::vector<T> &xs, const std::vector<T> &ys,
                        const std::vector<Wide> &want) {
  std::string lastTarget;
  std::vector<T> got(xs.size()), first;
  for (auto [name, lanes] : shapes(sizeof(T))) {
    CpuTarget target = *resolve(name);
    std::string what =
        op + " " + Format<T>::name + " " + name + " x" + std::to_string(lanes);
    auto kernel =
        MathKernel::create(op, numOperands, Format<T>::name, lanes, target);
    ASSERT_TRUE(kernel.ok()) << what << kernel.failure().str();
    kernel->run(xs.data(), ys.data(), got.data(),
                static_cast<int64_t>(xs.size()));
    expectWithin(worstOf(got, want, xs, ys), limitOn(target, limit), what);
    if (lastTarget == name) {
      EXPECT_TRUE(sameResults(first, got)) << what;
    } else {
      lastTarget = name;
      first = got;
    }
  }
}

namespace {

class ExpandMathTest : public testing::TestWithParam<MathFunction> {
protected:
  template <typename T, typename Wide>
  void check(Wide (*exact)(Wide), double limit) {
    std::vector<T> xs = samples<T>(numSamples());
    std::vector<Wide> want(xs.begin(), xs.end());
    std::transform(want.begin(), want.end(), want.begin(), exact);
    checkShapes<T, Wide>(GetParam().op, 1, limit, xs, xs, want);
  }
};

class ExpandMath2Test : public testing::TestWithParam<MathFunction2> {
protected:
  template <typename T, typename Wide>
  void check(Wide (*exact)(Wide, Wide), double limit) {
    std::vector<T> xs, ys;
    samplePairs(numSamples(), xs, ys);
    std::vector<Wide> want;
    for (size_t i = 0; i < xs.size(); ++i) {
      want.push_back(exact(xs[i], ys[i]));
    }
    checkShapes<T, Wide>(GetParam().op, 2, limit, xs, ys, want);
  }
};

} // namespace

TEST_P(ExpandMathTest, Float32) {
  check<float, double>(GetParam().inDouble, GetParam().error32);
}

TEST_P(ExpandMathTest, Float64) {
  check<double, long double>(GetParam().inLongDouble, GetParam().error64);
}

INSTANTIATE_TEST_SUITE_P(All, ExpandMathTest,
                         testing::ValuesIn(mathFunctions().begin(),
                                           mathFunctions().end()),
                         [](const auto &info) {
                           return std::string(info.param.op);
                         });

TEST_P(ExpandMath2Test, Float32) {
  check<float, double>(GetParam().inDouble, GetParam().error32);
}

TEST_P(ExpandMath2Test, Float64) {
  check<double, long double>(GetParam().inLongDouble, GetParam().error64);
}

INSTANTIATE_TEST_SUITE_P(All, ExpandMath2Test,
                         testing::ValuesIn(mathFunctions2().begin(),
                                           mathFunctions2().end()),
                         [](const auto &info) {
                           return std::string(info.param.op);
                         });

TEST(ExpandMathForms, SincosIsSinAndCos) {
  std::vector<float> xs = samples<float>(1 << 14);
  std::vector<float> one(xs.size()), other(xs.size());
  CpuTarget target = *resolve("cpu");
  for (std::string op : {"sin", "cos"}) {
    auto single = MathKernel::create(op, 1, "f32", target.lanes(4), target);
    auto both =
        MathKernel::create("sincos." + op, 1, "f32", target.lanes(4), target);
    ASSERT_TRUE(single.ok() && both.ok());
    auto count = static_cast<int64_t>(xs.size());
    single->run(xs.data(), nullptr, one.data(), count);
    both->run(xs.data(), nullptr, other.data(), count);
    EXPECT_EQ(memcmp(one.data(), other.data(), xs.size() * sizeof(float)), 0);
  }
}

/// pow itself takes the exponent 16777217 as 16777216; fpowi must not lose the
/// sign that the last bit decides.
TEST(ExpandMathForms, IntegerPowersKeepTheSign) {
  std::vector<float> xs, ys;
  for (float x : {-2.0f, -1.0f, -0.0f, 0.0f, 0.5f, 3.0f, -0.99f,
                  -std::numeric_limits<float>::infinity()}) {
    for (float y : {-3.0f, -2.0f, -1.0f, 0.0f, 1.0f, 2.0f, 7.0f, 31.0f}) {
      xs.push_back(x);
      ys.push_back(y);
    }
  }
  for (const char *name : hostTargets()) {
    CpuTarget target = *resolve(name);
    auto kernel =
        MathKernel::create("fpowi", 2, "f32", target.lanes(4), target);
    ASSERT_TRUE(kernel.ok()) << kernel.failure().str();
    std::vector<float> got(xs.size());
    kernel->run(xs.data(), ys.data(), got.data(),
                static_cast<int64_t>(xs.size()));
    for (size_t i = 0; i < xs.size(); ++i) {
      double exact = std::pow(double(xs[i]), double(ys[i]));
      EXPECT_LE((errorInUlp<float, double>(got[i], exact)), 1.5)
          << name << " " << xs[i] << "^" << ys[i] << " = " << got[i];
    }
  }
}
