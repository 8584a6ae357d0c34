//===- KernelCompiler.h - The compiler, as the runtime sees it --*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The whole interface between compiler and runtime: plain structs in and out.
// The runtime takes a KernelCompiler as an explicit argument; without one it
// runs ahead-of-time images only.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_ABI_KERNELCOMPILER_H
#define NEREID_ABI_KERNELCOMPILER_H

#include "nereid/ABI/KernelImage.h"
#include "nereid/ABI/LanguageVersion.h"
#include "nereid/ABI/LaunchABI.h"

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace nereid {

/// A value known at compile time, in plain form. An integer is an int64_t where
/// it fits, and a uint64_t from 2^63 on, so that equal ones compare equal; a
/// list and a tuple are the same here.
struct StaticValue {
  struct None {
    bool operator==(const None &) const = default;
  };
  /// A jit function of the kernel's file.
  struct Function {
    std::string name;
    /// KernelDescription::sourceHash of the function; the runtime fills it in
    /// where a value goes into a CompileRequest.
    std::string hash;
    bool operator==(const Function &) const = default;
  };
  using Tuple = std::vector<StaticValue>;
  using Dict = std::map<std::string, StaticValue>;
  std::variant<None, bool, int64_t, double, std::string, DType, Tuple, Dict,
               uint64_t, Function>
      value;

  StaticValue() = default;
  StaticValue(bool v) : value(v) {}
  StaticValue(int v) : value(int64_t{v}) {}
  StaticValue(int64_t v) : value(v) {}
  StaticValue(uint64_t v) {
    if (v >> 63) {
      value = v;
    } else {
      value = static_cast<int64_t>(v);
    }
  }
  StaticValue(double v) : value(v) {}
  StaticValue(const char *v) : value(std::string(v)) {}
  StaticValue(std::string v) : value(std::move(v)) {}
  StaticValue(DType v) : value(v) {}
  StaticValue(Tuple v) : value(std::move(v)) {}
  StaticValue(Dict v) : value(std::move(v)) {}
  StaticValue(Function v) : value(std::move(v)) {}

  bool isNone() const { return std::holds_alternative<None>(value); }
  bool operator==(const StaticValue &) const = default;
  /// Python's repr: None, True, 16, 1.5, 'text', fp32, (1, 2).
  std::string str() const;
};

/// A source text and what its globals mean where a host language knows better.
struct Source {
  std::string path; ///< for messages, and to find modules it imports
  std::string text;
  /// By name; a global of another module by its path: "config.FAST".
  std::map<std::string, StaticValue> bindings;
  /// Whose meaning it has where versions differ. Absent: NEREID_LANGUAGE, else
  /// the newest.
  std::optional<LanguageVersion> language = std::nullopt;
};

/// A run-time parameter's type and what is known of its value.
struct RuntimeArgument {
  DType dtype = DType::Int32;
  bool isPointer = false;
  bool isConst = false;
  bool divisibleBy16 = false; ///< the integer's value, or the address

  bool operator==(const RuntimeArgument &) const = default;
};

struct ArgumentSpec;

/// An argument that is made of others. The kernel's parameters in the image are
/// those of its items that are passed at launch, in order, named
/// "<argument>.<itemName>".
struct CompositeArgument {
  enum class Kind : uint8_t {
    Tuple,
    /// A tensor descriptor made by the host: the base pointer, then as many
    /// sizes as `blockShape` has, then as many strides (in elements).
    Descriptor,
  };
  Kind kind = Kind::Tuple;
  std::string type;               ///< of a named tuple
  std::vector<std::string> names; ///< of its fields; empty: no names
  std::vector<ArgumentSpec> items;
  std::vector<int64_t> blockShape; ///< of a descriptor
  bool padsWithNan = false;        ///< of a descriptor; else with zeros

  /// "0" or a field's name; "base", "shape.0", "strides.1".
  std::string itemName(size_t i) const;
  bool operator==(const CompositeArgument &other) const;
};

/// One for each parameter of the kernel, in order: passed at launch, fixed, or
/// made of such.
struct ArgumentSpec
    : std::variant<RuntimeArgument, StaticValue, CompositeArgument> {
  using Variant = std::variant<RuntimeArgument, StaticValue, CompositeArgument>;
  ArgumentSpec() = default;
  ArgumentSpec(RuntimeArgument v) : Variant(v) {}
  ArgumentSpec(StaticValue v) : Variant(std::move(v)) {}
  ArgumentSpec(CompositeArgument v) : Variant(std::move(v)) {}

  bool operator==(const ArgumentSpec &) const = default;
};

/// Checks compiled into the kernel.
enum CheckFlags : uint32_t {
  CheckBounds = 1,
  CheckNan = 2,
  CheckAsserts = 4,
  /// +, - and * of integers of at most 32 bits give what the type holds.
  CheckOverflow = 16, // 8: TrappingAsserts.h
};

struct CompileOptions {
  uint32_t numWarps = 4;
  uint32_t numStages = 3;
  uint32_t numCtas = 1;
  /// Limits for a thread of a GPU; 0: no limit. With a minimum, fewer programs
  /// share a multiprocessor.
  uint32_t maxRegisters = 0, minRegisters = 0;
  /// Waves that each SIMD unit should have room for (waves_per_eu); 0: as many
  /// as the registers leave. For GPUs of AMD, as is the next one.
  uint32_t wavesPerUnit = 0;
  /// Rows and columns of a matrix instruction's sums (matrix_instr_nonkdim); 0:
  /// the compiler chooses.
  uint32_t matrixSize = 0;
  bool fpFusion = true; ///< a * b + c may become one rounding
  /// All programs run at once or the launch is refused. The code is the same.
  bool cooperativeGrid = false;
  /// The launch may begin before the one in front of it in its stream has
  /// ended (GPUs from 9.0 on): the kernel waits where it says gdc_wait. One
  /// that says nothing of the kind waits at its beginning.
  bool dependentLaunch = false;
  uint32_t checks = 0; ///< CheckFlags
  /// The launch may make tensor maps (TensorMapSource), which loops that say
  /// warp_specialize want. False: of a form for tensors that no map describes,
  /// and of code compiled ahead of time.
  bool tensorMaps = true;

  bool operator==(const CompileOptions &) const = default;
};

struct CompileRequest {
  Source source;
  std::string kernel;
  std::vector<ArgumentSpec> arguments;
  CompileOptions options;
  /// "cpu" (this machine), "x86-64-v2|v3|v4", "interp", or a GPU: "sm_XY" of
  /// its compute capability, with an 'a' from 9.0 on (sm_75, sm_89, sm_90a).
  /// For a GPU the image is GpuAssembly, with `entry`, `threadsPerBlock`,
  /// `sharedBytes` and `hasFaultRecord` set; the runtime has it assembled for
  /// the device.
  std::string target = "cpu";
  /// Also return this stage as text in CompileResult::stage:
  /// "ast", "tile", "tile-opt", "llvm"; "cpu", "asm", "obj" of a CPU;
  /// "tilegpu", "gpu", "ptx" of a GPU.
  std::string emit;
  /// Also return what was decided.
  bool wantsDecisions = false;
};

/// A choice that makes a kernel fast or slow (docs/Reasons.md), at its place in
/// the kernel's source.
struct ToldDecision {
  SourceLocation location;
  std::string subject;  ///< "load", "dot", "loop", "layout"
  std::string chosen;   ///< what is done
  std::string rejected; ///< what would be better; may be empty
  std::string reason, hint;
};

struct CompileResult {
  KernelImage image;
  std::string stage;
  std::vector<ToldDecision> decisions;
};

/// What is known of a run-time parameter in one launch: an integer, or an
/// array's memory.
struct ArgumentFact {
  bool isPointer = false;
  int64_t integer = 0; ///< or the address
  /// Bytes of the array, in front of the address and from there on.
  uint64_t bytesBefore = 0, bytesFrom = 0;
};

/// What is known of one launch before it runs. `values` by the names of the
/// image's parameters; those that are missing are not known.
struct LaunchFacts {
  std::array<int32_t, 3> grid = {1, 1, 1};
  std::map<std::string, ArgumentFact> values;
};

/// Operations that a launch asks for, by its source: of each element once, of
/// elements that masks let through. Multiplications and additions are counted
/// apart, so that one that does both is two.
struct SourceOperations {
  double floats = 0; ///< without products of matrices
  /// The operations of these products: what masks let through, and what the
  /// blocks hold.
  double products = 0, blockProducts = 0;
  double floatProducts = 0; ///< the part of `products` that is of floats

  void add(const SourceOperations &other) {
    floats += other.floats;
    products += other.products;
    blockProducts += other.blockProducts;
    floatProducts += other.floatProducts;
  }
};

/// A parameter as the source declares it.
struct ParameterDescription {
  std::string name;
  bool isStatic = false;      ///< annotated tl.constexpr
  std::optional<DType> dtype; ///< an annotation fixes the type
  bool isPointer = false;     ///< with dtype: annotated as a pointer
  bool isConst = false;       ///< annotated tl.const
  bool specialize = true;     ///< false: do_not_specialize
  bool specializeAlignment = true;
  std::optional<StaticValue> defaultValue;
  SourceLocation location;
};

/// One triton.Config.
struct ConfigDescription {
  std::map<std::string, StaticValue> values;
  CompileOptions options;
  bool hasHook = false; ///< pre_hook
};

struct KernelDescription {
  std::string name;
  std::vector<ParameterDescription> parameters;
  /// @triton.autotune: empty when there is none.
  std::vector<ConfigDescription> configs;
  std::vector<std::string> tuneKey;
  /// @triton.heuristics: names of parameters computed by `evaluate`, in the
  /// order in which they must be computed.
  std::vector<std::string> heuristics;
  /// Decorator arguments of @triton.autotune that the tuner uses.
  std::vector<std::string> resetToZero, restoreValue;
  bool hasPreHook = false, hasPostHook = false; ///< of @triton.autotune
  bool prunesConfigs = false;                   ///< prune_configs_by
  /// Why configurations, heuristics or default values are missing: host code
  /// that cannot be evaluated. Matters where a launch does not give the values.
  std::vector<Diagnostic> unknown;
  /// Hash of the kernel, every function and global it can reach, and the
  /// modules it imports: equal hashes compile to equal code.
  std::string sourceHash;
  SourceLocation location;
};

/// An expression over values: a grid (`expression` set), or a heuristic of the
/// kernel (`heuristic` set).
struct EvaluateRequest {
  Source source;
  std::string kernel;
  std::string expression; ///< Python text; may use cdiv, min, max, triton.*
  std::string heuristic;  ///< parameter name
  std::map<std::string, StaticValue> values;
  /// As CompileRequest::target: the machine that host code sees.
  std::string target = "cpu";
};

/// What a hook of @triton.autotune does to an argument of the launch.
struct HookAction {
  enum class Kind : uint8_t {
    Fill,       ///< tensor.zero_(), tensor.fill_(value)
    Copy,       ///< tensor.copy_(source), also an argument
    BlockShape, ///< descriptor.block_shape = shape
  };
  Kind kind = Kind::Fill;
  std::string argument;
  double value = 0;
  std::string source;
  std::vector<int64_t> shape;

  bool operator==(const HookAction &) const = default;
};

/// A function given to @triton.autotune or triton.Config, on the arguments of
/// one launch, tuned values among them. A tensor is the dict of its dtype,
/// shape and stride; a descriptor that of its base, shape, strides and
/// block_shape.
struct HookRequest {
  enum class Hook : uint8_t { Config, Before, After };
  Source source;
  std::string kernel;
  Hook hook = Hook::Config;
  size_t config = 0;      ///< whose hook, for Hook::Config
  bool resetOnly = false; ///< Hook::Before: before the launch that was tuned
  std::map<std::string, StaticValue> values;
  /// As CompileRequest::target: what questions about the device are answered
  /// for.
  std::string target = "cpu";
};

class KernelCompiler {
public:
  virtual ~KernelCompiler() = default;

  /// Identifies the compiler's build: part of every cache key.
  virtual std::string buildId() const = 0;
  /// The target that `target` means on this machine ("cpu" -> "x86-64-v4").
  virtual Expected<std::string> resolveTarget(const std::string &target) = 0;
  /// Names of the jit functions of a source, in order.
  virtual Expected<std::vector<std::string>>
  listKernels(const Source &source) = 0;
  virtual Expected<KernelDescription> describe(const Source &source,
                                               const std::string &kernel) = 0;
  virtual Expected<CompileResult> compile(const CompileRequest &request) = 0;
  /// Accesses that leave their arrays in this launch, for certain, as warnings.
  /// Those that depend on what is loaded are not among them.
  virtual Expected<std::vector<Diagnostic>>
  findOutside(const CompileRequest &request, const LaunchFacts &launch) {
    (void)request, (void)launch;
    return std::vector<Diagnostic>();
  }
  /// Nothing where it depends on what is loaded. Of large grids, and where the
  /// analysis takes long, scaled from some of the programs.
  virtual Expected<std::optional<SourceOperations>>
  countOperations(const CompileRequest &request, const LaunchFacts &launch) {
    (void)request, (void)launch;
    return std::optional<SourceOperations>();
  }
  virtual Expected<StaticValue> evaluate(const EvaluateRequest &request) = 0;
  /// What the hook does; an error at its line for what is no HookAction.
  virtual Expected<std::vector<HookAction>>
  runHook(const HookRequest &request) = 0;
  /// The configurations that prune_configs_by leaves of the kernel's, by index.
  /// `hook` is ignored.
  virtual Expected<std::vector<size_t>>
  pruneConfigs(const HookRequest &request) = 0;
  /// Loads host code (HostObject or TileIR). Thread-safe.
  virtual Expected<HostCode> load(const KernelImage &image) = 0;
};

/// Defined by Pipeline. Thread-safe object; cheap to create.
std::unique_ptr<KernelCompiler> createKernelCompiler();

} // namespace nereid

#endif // NEREID_ABI_KERNELCOMPILER_H
