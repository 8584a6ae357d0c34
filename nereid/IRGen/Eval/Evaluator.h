//===- Evaluator.h - The staged evaluator -----------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Walks the syntax tree. What is static is computed; what is dynamic is
// emitted. The same walk serves kernels, their helpers, module globals,
// decorators, heuristics and grids: the frame says which rules hold.
//
//   kernel frame  assignment makes numbers dynamic; runtime control flow
//                 becomes scf; globals must be constexpr
//   host frame    plain Python, with a limit on the number of steps
//
// Control flow on run-time values: each branch is evaluated into a region with
// the variables it assigns journalled; then the variables of both are compared,
// and those that differ become results (docs/IRGen.md).
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_IRGEN_EVAL_EVALUATOR_H
#define NEREID_IRGEN_EVAL_EVALUATOR_H

#include "nereid/IRGen/Builtins/Builtins.h"
#include "nereid/IRGen/Eval/Budget.h"
#include "nereid/IRGen/Eval/Function.h"
#include "nereid/IRGen/Eval/HostState.h"
#include "nereid/IRGen/Eval/LastUses.h"
#include "nereid/IRGen/Eval/Modules.h"
#include "nereid/IRGen/Eval/Scope.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace nereid::irgen {

struct HostTarget; // HostAnswers.h

class Evaluator {
public:
  Evaluator(ModuleTable &modules, Emitter &emitter, Diagnostics &diag)
      : modules(modules), emitter(emitter), diag(diag) {}
  /// Functions keep the scope that they were made in, which keeps them.
  ~Evaluator() {
    for (const std::shared_ptr<Scope> &scope : closures) {
      scope->variables.clear();
    }
  }
  Evaluator(const Evaluator &) = delete;
  ModuleTable &modules;
  Emitter &emitter;
  Diagnostics &diag;
  //===--------------------------------------------------------------------===//
  // For built-ins
  //===--------------------------------------------------------------------===//

  /// Calls anything callable.
  FailureOr<Value> call(const Value &callee,
                        llvm::ArrayRef<Argument> arguments);

  /// Fills the region of a tile.reduce or tile.scan: a block of 2n scalars of
  /// `types` (n of them), the function called on them, its n results checked
  /// against `types` and yielded. `what` names the operation in messages.
  LogicalResult buildCombineRegion(mlir::Region &region, const Value &function,
                                   llvm::ArrayRef<ScalarType> types,
                                   llvm::StringRef what);

  /// The attribute `name` of a value (Attributes.cpp).
  FailureOr<Value> attribute(const Value &object, llvm::StringRef name);

  /// The items of a value that can be iterated statically.
  FailureOr<std::vector<Value>> iterate(const Value &value,
                                        llvm::StringRef what);

  /// A function of stdlib/<library>.py.
  FailureOr<Value> libraryFunction(llvm::StringRef library,
                                   llvm::StringRef name);

  /// Python's operators on static values (StaticOps.cpp).
  FailureOr<Value> staticBinary(ast::Operator op, const Value &a,
                                const Value &b);
  FailureOr<Value> staticCompare(ast::CompareOperator op, const Value &a,
                                 const Value &b);

  /// Python's isinstance of a static or dynamic value.
  bool isInstance(const Value &value, const Value &classOrTuple) const;

  /// What to write so that the expression at `span` is known while compiling:
  /// names the parameter or the variable in it that is not.
  std::string constexprHint(const ast::Span &span) const;

  /// Whether a kernel (or a function called from one) is being evaluated.
  bool inKernel() const;

  /// Whether operations may be emitted: in a kernel, or in an extern function
  /// that it called.
  bool emits() const;

  /// Options of the compilation that built-ins look at.
  bool emitAsserts = false;
  uint32_t numWarps = 4;
  /// CompileRequest::target: what host code's questions are answered for.
  std::string target;
  /// Decorators that say how to launch (autotune, heuristics) are not looked
  /// at: a compilation has every value.
  bool skipsTuning = false;

  /// How to say what a value of the host is.
  std::string bindHint(const Value &value) const;
  /// By a format specification: f"{value:spec}".
  FailureOr<std::string> formatValue(const Value &value, llvm::StringRef spec);
  /// A method of a string (StringMethods.cpp).
  FailureOr<Value> stringMethod(const std::string &text, llvm::StringRef name,
                                llvm::ArrayRef<Argument> arguments);
  /// str.format; `next` counts the fields without a name.
  FailureOr<Value> formatText(llvm::StringRef text,
                              llvm::ArrayRef<Argument> arguments, size_t &next,
                              unsigned depth = 0);

  /// Python's str(x), with the __str__ of objects.
  FailureOr<std::string> textOf(const Value &value);
  /// `value`, or what its __bool__ or __len__ says of it.
  FailureOr<Value> tested(const Value &value);
  /// obj.name = value, in host code.
  LogicalResult setAttribute(const Value &object, llvm::StringRef name,
                             const Value &value);
  /// A method that Python calls for an operator; nullopt: there is none.
  std::optional<FailureOr<Value>>
  callSpecial(const Value &object, llvm::StringRef name,
              llvm::ArrayRef<Value> arguments = {});

  HostState host;

  /// While a hook of @triton.autotune runs: what it does to the arguments.
  std::vector<HookAction> *hookActions = nullptr;

  //===--------------------------------------------------------------------===//
  // For the entry points
  //===--------------------------------------------------------------------===//

  /// A name of a module's top level (Globals.cpp).
  FailureOr<Value> global(const std::shared_ptr<SourceModule> &module,
                          llvm::StringRef name);
  static bool hasGlobal(const SourceModule &module, llvm::StringRef name);
  /// Evaluates a kernel's body with these parameter values.
  LogicalResult runKernel(const std::shared_ptr<const Function> &kernel,
                          llvm::ArrayRef<Value> parameters);
  /// Evaluates an expression with host rules: `locals` first, then the module's
  /// globals, then triton's names.
  FailureOr<Value>
  evaluateIn(const std::shared_ptr<SourceModule> &module,
             const SourceText &source, const ast::Expr *expr,
             llvm::ArrayRef<std::pair<std::string, Value>> locals);
  /// Calls a host function from `span` of the module (or of `source`).
  FailureOr<Value> callIn(const std::shared_ptr<SourceModule> &module,
                          const ast::Span &span, const Value &callee,
                          llvm::ArrayRef<Argument> arguments,
                          const SourceText *source = nullptr);
  /// Whether an annotation says tl.constexpr.
  static bool isConstexprAnnotation(const ast::Expr *annotation);

private:
  std::vector<std::shared_ptr<Scope>> closures;
  bool seesChangedGlobals = false;     ///< in a function that declares them
  std::vector<std::string> evaluating; ///< globals, the innermost last
  struct Frame;
  /// Pushes a frame here and in the diagnostics.
  class FrameScope;
  Frame *frame = nullptr; ///< innermost

  // Names (Names.cpp)
  FailureOr<Value> readName(llvm::StringRef name);
  LogicalResult undefinedName(llvm::StringRef name);
  void bind(llvm::StringRef name, Scope::Binding binding);
  void unbind(llvm::StringRef name);
  LogicalResult assign(const ast::Expr *target, const Value &value);
  LogicalResult assignName(const ast::Name *target, Value value);
  LogicalResult unpack(llvm::ArrayRef<ast::Expr *> targets, const Value &value);
  LogicalResult storeInto(const ast::Expr *target, const Value &value);
  LogicalResult storeField(const ast::Attribute *target, const Value &object,
                           const Value &value);
  /// `descriptor.block_shape = value` in a hook (HostArguments.cpp).
  LogicalResult storeAttribute(const ast::Attribute *target,
                               const Value &value);

  // Globals (Globals.cpp, Imports.cpp, Decorators.cpp)
  class GlobalSearch;
  FailureOr<Value> evaluateBinding(const std::shared_ptr<SourceModule> &module,
                                   llvm::StringRef name,
                                   const GlobalBinding &binding);
  FailureOr<Value> bindingValue(const ast::Stmt *statement,
                                llvm::StringRef name);
  std::optional<bool>
  conditionsHold(const std::shared_ptr<SourceModule> &module,
                 const GlobalBinding &binding);
  static bool hasPendingEffects(const SourceModule &module,
                                llvm::StringRef name);
  static void startEffects(SourceModule &module, llvm::StringRef name,
                           const ast::Stmt &binding, const ast::Stmt *until);
  FailureOr<Value> afterEffects(const std::shared_ptr<SourceModule> &module,
                                llvm::StringRef name);
  LogicalResult runEffect(const std::shared_ptr<SourceModule> &module,
                          const GlobalBinding &effect);
  FailureOr<std::shared_ptr<Scope>>
  runModuleLoop(const std::shared_ptr<SourceModule> &module,
                const ast::Stmt *loop);
  FailureOr<bool> importsMissing(const SourceModule &module, ast::Body body);
  FailureOr<std::optional<bool>> triesReach(const SourceModule &module,
                                            const GlobalBinding &binding);
  FailureOr<Value> importModule(llvm::StringRef name, int level);
  FailureOr<Value> importName(const ast::Import *import,
                              const ast::Alias *alias);
  FailureOr<Value> importFrom(const ast::ImportFrom *import,
                              llvm::StringRef name);
  FailureOr<Value> moduleAttribute(const ModuleValue &module,
                                   llvm::StringRef name);
  FailureOr<Value> builtinModuleAttribute(llvm::StringRef path,
                                          llvm::StringRef name);
  FailureOr<Value> defineFunction(const ast::FunctionLike *def);
  FailureOr<Value> defineClass(const ast::ClassDef *def);
  FailureOr<Value> decorate(Value function,
                            llvm::ArrayRef<ast::Expr *> decorators);

  // Expressions
  FailureOr<Value> evaluate(const ast::Expr *expr);
  FailureOr<Value> evaluateKind(const ast::Expr *expr);
  FailureOr<Value> constant(const ast::Constant *expr);
  FailureOr<Value> binOp(const ast::BinOp *expr);
  FailureOr<Value> percentFormat(llvm::StringRef text, const Value &values);
  FailureOr<Value> binary(ast::Operator op, const Value &a, const Value &b);
  FailureOr<Value> unaryOp(const ast::UnaryOp *expr);
  FailureOr<Value> staticUnary(ast::UnaryOperator op, const Value &value);
  FailureOr<Value> boolOp(const ast::BoolOp *expr);
  FailureOr<Value> compare(const ast::Compare *expr);
  FailureOr<Value> compareOne(ast::CompareOperator op, const Value &a,
                              const Value &b);
  FailureOr<Value> ifExp(const ast::IfExp *expr);
  FailureOr<Value> sequence(llvm::ArrayRef<ast::Expr *> items, bool isTuple);
  FailureOr<Value> dict(const ast::Dict *expr);
  FailureOr<Value> joinedStr(const ast::JoinedStr *expr);
  FailureOr<std::string> formatted(const ast::FormattedValue *expr);
  // FormatText.cpp
  FailureOr<Value> formatField(llvm::StringRef field, size_t &next,
                               llvm::ArrayRef<Argument> arguments);
  FailureOr<Value> comprehension(const ast::Expr *expr);
  LogicalResult
  comprehensionLoop(llvm::ArrayRef<ast::Comprehension *> generators,
                    llvm::function_ref<LogicalResult()> body);
  FailureOr<Value> lambda(const ast::Lambda *expr);
  FailureOr<Value> callExpr(const ast::Call *expr);
  FailureOr<Value> namedExpr(const ast::NamedExpr *expr);
  /// Runs `evaluate` and fails where the result is not static.
  FailureOr<Value> evaluateStatic(const ast::Expr *expr, llvm::StringRef what);

  // Subscript.cpp
  FailureOr<Value> subscript(const ast::Subscript *expr);
  FailureOr<Value> subscriptTensor(const Tensor &x, const Value &index);
  FailureOr<Value> subscriptSequence(const Value &object, const Value &index);
  FailureOr<Value> subscriptValue(const Value &object, const Value &index);
  FailureOr<Value> slice(const ast::Slice *expr);

  // Attributes.cpp
  FailureOr<Value> tensorAttribute(const Tensor &x, llvm::StringRef name);
  FailureOr<Value> typeAttribute(const TypeValue &type, llvm::StringRef name);
  FailureOr<Value> typeMethod(const TypeValue &type, llvm::StringRef name,
                              llvm::ArrayRef<Argument> arguments);
  FailureOr<Value> recordAttribute(const Value &object, llvm::StringRef name);
  FailureOr<Value> memberFunction(const Value &self, const Value &function);
  FailureOr<Value> hostAggregateAttribute(const Aggregate &aggregate,
                                          llvm::StringRef name);

  // Objects.cpp, ClassDefinitions.cpp
  class HostLibrary;
  class ClassBuilder;
  FailureOr<Value> instantiate(const std::shared_ptr<const PythonClass> &cls,
                               llvm::ArrayRef<Argument> arguments);
  FailureOr<Value> initialised(const std::shared_ptr<const PythonClass> &cls,
                               llvm::ArrayRef<Argument> arguments);
  FailureOr<Value> objectAttribute(const Value &object, llvm::StringRef name);
  FailureOr<Value> superAttribute(const HostObject &super,
                                  llvm::StringRef name);
  std::optional<FailureOr<Value>> specialBinary(ast::Operator op,
                                                const Value &a, const Value &b);
  std::optional<FailureOr<Value>>
  specialCompare(ast::CompareOperator op, const Value &a, const Value &b);
  FailureOr<Value> baseMethod(const BoundMethod &method,
                              llvm::ArrayRef<Argument> arguments);
  FailureOr<Value> namespaceEntry(const HostObject &space, const Value &key);

  // HostMethods.cpp: methods of str, list, dict, tuple, int, float
  static llvm::ArrayRef<llvm::StringRef> hostMethods(const Value &object);
  FailureOr<Value> callHostMethod(const BoundMethod &method,
                                  llvm::ArrayRef<Argument> arguments);

  // Calls (Calls.cpp)
  FailureOr<llvm::SmallVector<Argument>> arguments(const ast::Call *expr);
  FailureOr<Value> callBuiltin(const Builtin &builtin,
                               llvm::ArrayRef<Argument> arguments);
  FailureOr<Value> callFunction(const std::shared_ptr<const Function> &function,
                                llvm::ArrayRef<Argument> arguments);
  FailureOr<Value> callClass(const std::shared_ptr<const PythonClass> &cls,
                             llvm::ArrayRef<Argument> arguments);
  /// A name of the host, by its path: what HostAnswers says, else opaque.
  FailureOr<Value> hostName(std::string name);
  /// An opaque value that is used: what HostAnswers says of its last name.
  Value resolved(const Value &value) const;
  HostTarget hostTarget() const;
  FailureOr<Value> environment(llvm::ArrayRef<Argument> arguments);
  FailureOr<Value> callOpaque(const Opaque &callee,
                              llvm::ArrayRef<Argument> arguments);
  FailureOr<Value> construct(const std::shared_ptr<const PythonClass> &cls,
                             const std::shared_ptr<const Function> &init,
                             llvm::ArrayRef<Argument> arguments);
  FailureOr<Value> namedTupleClass(llvm::ArrayRef<Argument> arguments);
  LogicalResult bindParameters(const Function &function,
                               llvm::ArrayRef<Argument> arguments,
                               Scope &scope);
  LogicalResult checkRecursion(const Function &function, const Scope &scope);
  FailureOr<Value> defaultValue(const Function &function,
                                const ast::Expr *expr);
  FailureOr<Value> runFunction(ast::Body body);

  // Statements (Statements.cpp, ControlFlow.cpp, Loops.cpp)
  class BranchChain;

  /// Runs items 0, 1, ... of `count`. An item may open sides of branches on the
  /// chain: what follows is then evaluated inside them.
  FailureOr<Outcome> runSequence(
      size_t count,
      llvm::function_ref<FailureOr<Outcome>(size_t, BranchChain &)> item);
  FailureOr<Outcome> runBody(ast::Body body);
  FailureOr<Outcome> runStatement(const ast::Stmt *statement, BranchChain &);
  FailureOr<Outcome> runReturn(const ast::Return *statement);
  FailureOr<Outcome> runIf(const ast::If *statement, BranchChain &branches);
  FailureOr<Outcome> runFor(const ast::ForLike *statement);
  FailureOr<Outcome> runStaticFor(const ast::ForLike *statement,
                                  llvm::ArrayRef<Value> items);
  FailureOr<Outcome> runTileFor(const ast::ForLike *statement,
                                const RangeValue &range);
  FailureOr<Outcome> runWhile(const ast::While *statement);
  FailureOr<Outcome> runTileWhile(const ast::While *statement);
  FailureOr<Outcome> runTry(const ast::TryLike *statement);
  LogicalResult runAssert(const ast::Assert *statement);
  LogicalResult runRaise(const ast::Raise *statement);
  LogicalResult runGlobal(const ast::Global *statement);
  LogicalResult runDelete(const ast::Delete *statement);
  FailureOr<Outcome> runWith(const ast::With *statement);
  FailureOr<Outcome> runHandlers(const ast::TryLike *statement,
                                 Diagnostics::Mark mark);
  LogicalResult runAnnAssign(const ast::AnnAssign *statement);
  LogicalResult runAugAssign(const ast::AugAssign *statement);
  LogicalResult runImport(const ast::Stmt *statement);
  LogicalResult unsupported(const ast::Stmt *statement);
  /// A static bool, or an i1 scalar.
  FailureOr<Value> condition(const ast::Expr *expr, llvm::StringRef what);

  void enterBlock(mlir::Block *block);
  Changes undoSince(size_t mark);
  FailureOr<Branch>
  evaluateBranch(mlir::Block *block,
                 llvm::function_ref<FailureOr<Outcome>()> body);
  FailureOr<Outcome>
  runtimeIf(const Tensor &condition,
            llvm::function_ref<FailureOr<Outcome>()> thenBody,
            llvm::function_ref<FailureOr<Outcome>()> elseBody);
  class Merge;
  /// Makes the variables and the outcome after an scf.if of what its two sides
  /// made of them; of two reasons why a variable has no value, `a`'s counts.
  FailureOr<Outcome> join(mlir::Operation *branch, Branch &a, Branch &b);

  FailureOr<std::vector<Carried>>
  carriedVariables(llvm::ArrayRef<llvm::StringRef> assigned,
                   llvm::SmallVectorImpl<mlir::Value> &inits);
  void bindCarried(llvm::ArrayRef<Carried> carried,
                   llvm::ArrayRef<mlir::Value> values);
  LogicalResult yieldCarried(llvm::ArrayRef<Carried> carried,
                             const Branch &body, const ast::Span &loop,
                             llvm::SmallVectorImpl<mlir::Value> &yields);
  void afterLoop(llvm::ArrayRef<Carried> carried, const Branch &body,
                 mlir::ValueRange arguments, mlir::ValueRange results,
                 llvm::ArrayRef<mlir::Value> yields, const ast::Span &loop);
  void bindLastIndex(const LoopIndex &loop);
  void warnAboutAccumulators(ast::Body body, llvm::ArrayRef<Carried> carried);

  size_t openSides = 0; ///< of all chains
  LastUses lastUses;

  // Limits
  /// Counts a node; fails when the budget is exceeded.
  LogicalResult step();
  LogicalResult withinBudget();
  Budget budget;
  unsigned nesting = 0;
};

} // namespace nereid::irgen

#include "nereid/IRGen/Eval/Frame.h"

#endif // NEREID_IRGEN_EVAL_EVALUATOR_H
