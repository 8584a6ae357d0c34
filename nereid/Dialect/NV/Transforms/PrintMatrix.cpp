//===- PrintMatrix.cpp - Assembly of products -----------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Dialect/NV/Transforms/AssemblyWriter.h"
#include "nereid/Dialect/NV/Transforms/Passes.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace nereid::nv {

static void print(LoadMatrixOp op) {
  AssemblyWriter w(op);
  std::string place = w.place(op.getAddress(), op.getOffset());
  w.write("ldmatrix.sync.aligned.m8n8.x" +
              std::to_string(op.getWords().size()) +
              (op.getTransposed() ? ".trans" : "") + ".shared.b16 " +
              w.results() + ", " + place + ";",
          true);
}

static void print(StoreMatrixOp op) {
  AssemblyWriter w(op);
  std::string place = w.place(op.getAddress(), op.getOffset());
  w.write("stmatrix.sync.aligned.m8n8.x" +
              std::to_string(op.getWords().size()) +
              (op.getTransposed() ? ".trans" : "") + ".shared.b16 " + place +
              ", " + w.use(op.getWords()) + ";",
          true);
}

/// How the manual spells the type of sums.
static std::string sumName(Type type) {
  return type.isF64() ? "f64" : type.isF32() ? "f32" : "s32";
}

/// Elements of an operand along K in one instruction: 32 bytes, 64 of f64.
static unsigned depthOf(StringRef element) {
  return element == "tf32" || element == "f64"   ? 8
         : element == "f16" || element == "bf16" ? 16
                                                 : 32;
}

/// Products of 8-bit floats came with PTX 8.4 only, also to processors that
/// older drivers know.
static void print(MmaOp op) {
  AssemblyWriter w(op);
  std::string lhs = elementName(op.getLhsType()).str();
  std::string rhs = elementName(op.getRhsType()).str();
  std::string sum = sumName(op.getSums().front().getType());
  std::string shape = op.getLhs().size() == 1
                          ? "m8n8k4"
                          : "m16n8k" + std::to_string(depthOf(lhs));
  if (isa<Float8E4M3FNType, Float8E5M2Type>(op.getLhsType())) {
    w.mark(ptxVersionAttr, Builder(op.getContext()).getI32IntegerAttr(84));
  }
  std::string a = w.use(op.getLhs()), b = w.use(op.getRhs());
  std::string sums = "{";
  unsigned first = op.getNumResults() + op.getLhs().size() + op.getRhs().size();
  for (unsigned i = 0; i < op.getSums().size(); ++i) {
    sums += (i ? ", $" : "$") + std::to_string(first + i);
  }
  w.tie(op.getSums());
  w.write("mma.sync.aligned." + shape + ".row.col." + sum + "." + lhs + "." +
              rhs + "." + sum + " " + w.results() + ", " + a + ", " + b + ", " +
              sums + "};",
          false);
}

//===----------------------------------------------------------------------===//
// Products of four warps
//===----------------------------------------------------------------------===//

static constexpr const char *fenceProducts = "wgmma.fence.sync.aligned;\n\t";
static constexpr const char *commitProducts =
    "wgmma.commit_group.sync.aligned;\n\t";

static std::string waitFor(unsigned pending) {
  return "wgmma.wait_group.sync.aligned " + std::to_string(pending) + ";";
}

static std::string advance(const char *to, const std::string &from,
                           uint32_t by) {
  return std::string("add.s64 ") + to + ", " + from + ", " +
         std::to_string(by) + ";\n\t";
}

namespace {
/// The assembly of an `nv.wgmma`, between its fence and its wait.
class WarpgroupProduct {
public:
  WarpgroupProduct(WarpgroupMmaOp op, AssemblyWriter &w) : op(op) {
    right = w.use(op.getRight());
    for (Value value : op.getLeft()) {
      left.push_back(w.use(value));
    }
    std::string lhs = elementName(op.getLhsType()).str();
    name = "wgmma.mma_async.sync.aligned.m64n" +
           std::to_string(op.getColumns()) + "k" +
           std::to_string(depthOf(lhs)) + "." +
           sumName(op.getSums().front().getType()) + "." + lhs + "." +
           elementName(op.getRhsType()).str() + " ";
    // The result is added to, p; factors of the operands, floats only; rows
    // along M and N, 16-bit elements only.
    orders = ", p";
    if (!op.getLhsType().isInteger()) {
      orders += ", 1, 1";
    }
    if (op.getLhsType().isF16() || op.getLhsType().isBF16()) {
      if (!op.readsLeftFromRegisters()) {
        orders += op.getLeftAlongM() ? ", 1" : ", 0";
      }
      orders += op.getRightAlongN() ? ", 1" : ", 0";
    }
  }

  std::string straight() {
    std::string text = fenceProducts;
    for (unsigned block = 0; block < op.getBlocks(); ++block) {
      for (unsigned step = 0; step < op.getSteps(); ++step) {
        text += instruction(block, step,
                            op.readsLeftFromRegisters() ? "" : left[0], right);
      }
    }
    return text + commitProducts;
  }

  /// A group for each step: with one for all, ptxas adds a product of nothing
  /// after the loop, to have something to wait for.
  std::string looped() {
    ArrayRef<int32_t> a = op.getLeftOffsets(), b = op.getRightOffsets();
    std::string text = ".reg .pred more;\n\t.reg .b64 sa, sb;\n\t"
                       ".reg .b32 step;\n\tmov.b64 sa, " +
                       left[0] + ";\n\tmov.b64 sb, " + right +
                       ";\n\tmov.b32 step, 0;\nNEXT:\n\t"
                       ".pragma \"nounroll\";\n\t" +
                       fenceProducts;
    for (unsigned block = 0; block < op.getBlocks(); ++block) {
      text += instruction(block, 0, "sa", "sb");
    }
    return text + commitProducts + advance("sa", "sa", a[1] - a[0]) +
           advance("sb", "sb", b[1] - b[0]) +
           "add.s32 step, step, 1;\n\tsetp.ne.u32 more, step, " +
           std::to_string(op.getSteps()) + ";\n\t@more bra NEXT;\n\t";
  }

private:
  std::string instruction(unsigned block, unsigned step,
                          const std::string &leftBase,
                          const std::string &rightBase) {
    unsigned number = block * op.getSteps() + step;
    std::string text, a = "da";
    if (op.readsLeftFromRegisters()) {
      a = "{";
      for (int32_t word : op.getLeftWords().slice(4 * number, 4)) {
        a += (a.size() > 1 ? ", " : "") + left[word];
      }
      a += "}";
    } else {
      text = advance("da", leftBase, op.getLeftOffsets()[number]);
    }
    return text + advance("db", rightBase, op.getRightOffsets()[number]) +
           name + sumsOf(block) + ", " + a + ", db" + orders + ";\n\t";
  }

  std::string sumsOf(unsigned block) {
    unsigned count = op.getColumns() / 2;
    std::string text = "{";
    for (unsigned i = 0; i < count; ++i) {
      text += (i ? ", $" : "$") + std::to_string(block * count + i);
    }
    return text + "}";
  }

  WarpgroupMmaOp op;
  std::string right, name, orders;
  SmallVector<std::string> left;
};
} // namespace

static void print(WarpgroupMmaOp op) {
  AssemblyWriter w(op);
  WarpgroupProduct product(op, w);
  w.tie(op.getSums());
  w.mark(warpgroupProductAttr, UnitAttr::get(op.getContext()));
  std::string text = "{\n\t.reg .pred p;\n\t.reg .b64 da, db;\n\t"
                     "setp.eq.u32 p, 0, 0;\n\t";
  text += op.getLooped() ? product.looped() : product.straight();
  text += op.getWaits() ? waitFor(0) + "\n\t}" : "}";
  w.write(text, true);
}

static void print(WarpgroupWaitOp op) {
  AssemblyWriter w(op);
  w.tie(op.getSums());
  w.write(waitFor(op.getPending()), true);
}

bool printMatrix(Operation *op) {
  return TypeSwitch<Operation *, bool>(op)
      .Case<LoadMatrixOp, StoreMatrixOp, MmaOp, WarpgroupMmaOp,
            WarpgroupWaitOp>([](auto typed) {
        print(typed);
        return true;
      })
      .Default(false);
}

} // namespace nereid::nv
