//===- TileGPUDialect.cpp - Attribute and registration --------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Dialect/TileGPU/IR/TileGPU.h"

#include "mlir/IR/DialectImplementation.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

#include "nereid/Dialect/TileGPU/IR/TileGPUDialect.cpp.inc"
#include "nereid/Dialect/TileGPU/IR/TileGPUEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "nereid/Dialect/TileGPU/IR/TileGPUAttrs.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "nereid/Dialect/TileGPU/IR/TileGPUTypes.cpp.inc"

#define GET_OP_CLASSES
#include "nereid/Dialect/TileGPU/IR/TileGPUOps.cpp.inc"

namespace nereid::tilegpu {

void TileGPUDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "nereid/Dialect/TileGPU/IR/TileGPUAttrs.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "nereid/Dialect/TileGPU/IR/TileGPUTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "nereid/Dialect/TileGPU/IR/TileGPUOps.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// Targets
//===----------------------------------------------------------------------===//

void TileGPUDialect::addTarget(TargetInfo target) {
  if (!findTarget(target.name)) {
    targets.push_back(std::move(target));
  }
}

const TargetInfo *TileGPUDialect::findTarget(StringRef name) const {
  auto found = llvm::find_if(
      targets, [&](const TargetInfo &target) { return target.name == name; });
  return found == targets.end() ? nullptr : &*found;
}

const TargetInfo *targetOf(Operation *kernel) {
  auto name = kernel->getAttrOfType<StringAttr>(targetAttr);
  if (!name) {
    kernel->emitError("the kernel has no ")
        << targetAttr << "; expected the name of a GPU";
    return nullptr;
  }
  auto *dialect = kernel->getContext()->getLoadedDialect<TileGPUDialect>();
  const TargetInfo *target = dialect ? dialect->findTarget(name) : nullptr;
  if (!target) {
    kernel->emitError("no GPU is called ") << name;
  }
  return target;
}

unsigned warpsOf(Operation *kernel) {
  return kernel->getAttrOfType<IntegerAttr>(warpsAttr).getInt();
}

unsigned producerWarpsOf(Operation *kernel) {
  auto warps = kernel->getAttrOfType<IntegerAttr>(producerWarpsAttr);
  return warps ? warps.getInt() : 0;
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

std::optional<OperandKind> operandKind(tile::DotOp op) {
  Type element = tile::getElement(op.getLhs().getType());
  if (element.isF32()) {
    return op.getPrecision() == tile::InputPrecision::TF32 ? OperandKind::TF32
           : op.getPrecision() == tile::InputPrecision::TF32x3
               ? OperandKind::TF32x3
               : OperandKind::F32;
  }
  if (isa<Float8E4M3FNType, Float8E5M2Type>(element)) {
    return OperandKind::F8;
  }
  if (element.isInteger(8)) {
    return OperandKind::I8;
  }
  return element.isF16()    ? std::optional(OperandKind::F16)
         : element.isBF16() ? std::optional(OperandKind::BF16)
         : element.isF64()  ? std::optional(OperandKind::F64)
                            : std::nullopt;
}

unsigned partsOfShortSums(tile::DotOp op, unsigned instructionDepth) {
  int64_t most = op.getMaxImpreciseAcc(),
          depth = op.getLhs().getType().getShape()[1];
  if (operandKind(op) != OperandKind::F8 || most <= 0 || most >= depth) {
    return 1;
  }
  return depth % most || most % instructionDepth ? 0 : depth / most;
}

const MatrixInstruction *matrixInstruction(const TargetInfo &target,
                                           tile::DotOp op) {
  std::optional<OperandKind> kind = operandKind(op);
  if (!kind) {
    return nullptr;
  }
  auto kernel = op->getParentOfType<FunctionOpInterface>();
  auto wanted =
      kernel ? kernel->getAttrOfType<IntegerAttr>(matrixSizeAttr) : nullptr;
  unsigned rows = wanted ? wanted.getInt() : 0;
  int64_t depth = op.getLhs().getType().getShape().back();
  const MatrixInstruction *one =
      target.findMatrix(*kind, /*warps=*/1, rows, depth);
  if (!one && (kind == OperandKind::TF32 || kind == OperandKind::TF32x3)) {
    one = target.findMatrix(OperandKind::F32, /*warps=*/1, rows, depth);
  }
  return one && (one->takesUnsigned || !op.getIsUnsigned()) ? one : nullptr;
}

//===----------------------------------------------------------------------===//
// Layouts
//===----------------------------------------------------------------------===//

LogicalResult ScratchAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                  ArrayRef<uint32_t> offsets,
                                  ArrayRef<uint32_t> behindBarrier, Warps) {
  for (uint32_t offset : offsets) {
    if (offset % wavefrontBytes) {
      return emitError() << "scratch at " << offset
                         << "; expected a multiple of " << wavefrontBytes;
    }
  }
  for (auto [i, piece] : llvm::enumerate(behindBarrier)) {
    if (piece >= offsets.size()) {
      return emitError() << "a barrier before piece " << piece << " of "
                         << offsets.size();
    }
    if (i && piece <= behindBarrier[i - 1]) {
      return emitError() << "barriers before pieces in no ascending order";
    }
  }
  return success();
}

LogicalResult ScheduleAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                   ArrayRef<uint32_t> stages,
                                   ArrayRef<uint32_t> orders,
                                   ArrayRef<uint32_t> done) {
  if (stages.empty() || stages.size() != orders.size()) {
    return emitError() << stages.size() << " stages with " << orders.size()
                       << " orders; expected as many, and one at least";
  }
  for (unsigned i = 1; i < stages.size(); ++i) {
    if (stages[i] <= stages[i - 1]) {
      return emitError() << "stages in no ascending order";
    }
  }
  if (!done.empty() && done.size() != 2) {
    return emitError() << "done has " << done.size()
                       << " numbers; expected a stage and an order";
  }
  return success();
}

LogicalResult TileGPUDialect::verifyOperationAttribute(Operation *op,
                                                       NamedAttribute entry) {
  StringRef name = entry.getName();
  if (name == scratchAttr && !isa<ScratchAttr>(entry.getValue())) {
    return op->emitOpError() << "'" << name << "' is no #tilegpu.scratch";
  }
  if (name == scheduleAttr && !isa<ScheduleAttr>(entry.getValue())) {
    return op->emitOpError() << "'" << name << "' is no #tilegpu.schedule";
  }
  if (name == slotsAttr) {
    auto slots = dyn_cast<IntegerAttr>(entry.getValue());
    if (!slots || !slots.getType().isInteger(32) || slots.getInt() < 1) {
      return op->emitOpError()
             << "'" << name << "' is no number of tiles (i32)";
    }
  }
  if (name == sharedBytesAttr) {
    auto bytes = dyn_cast<IntegerAttr>(entry.getValue());
    if (!bytes || !bytes.getType().isInteger(32) || bytes.getInt() < 0) {
      return op->emitOpError()
             << "'" << name << "' is no number of bytes (i32)";
    }
  }
  return success();
}

static constexpr const char *partNames[] = {"registers", "lanes", "warps"};

void LayoutAttr::print(AsmPrinter &printer) const {
  ArrayRef<uint32_t> parts[] = {getRegisters(), getLanes(), getWarps()};
  printer << "<";
  for (int i = 0; i < 3; ++i) {
    printer << (i ? ", " : "") << partNames[i] << " = [";
    llvm::interleaveComma(parts[i], printer.getStream());
    printer << "]";
  }
  printer << ">";
}

Attribute LayoutAttr::parse(AsmParser &parser, Type) {
  SmallVector<uint32_t> parts[3];
  if (parser.parseLess()) {
    return {};
  }
  for (int i = 0; i < 3; ++i) {
    if ((i && parser.parseComma()) || parser.parseKeyword(partNames[i]) ||
        parser.parseEqual() ||
        parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
          return parser.parseInteger(parts[i].emplace_back());
        })) {
      return {};
    }
  }
  if (parser.parseGreater()) {
    return {};
  }
  return LayoutAttr::get(parser.getContext(), parts[0], parts[1], parts[2]);
}

LayoutAttr toAttr(MLIRContext *context, const TileLayout &layout) {
  return LayoutAttr::get(context, layout.registers, layout.lanes, layout.warps);
}

TileLayout layoutOf(Type type) {
  auto attr = cast<LayoutAttr>(cast<RankedTensorType>(type).getEncoding());
  auto list = [](ArrayRef<uint32_t> part) {
    return std::vector<uint32_t>(part.begin(), part.end());
  };
  return {list(attr.getRegisters()), list(attr.getLanes()),
          list(attr.getWarps())};
}

RankedTensorType withLayout(Type tensor, const TileLayout &layout) {
  auto type = cast<RankedTensorType>(tensor);
  return RankedTensorType::get(type.getShape(), type.getElementType(),
                               toAttr(tensor.getContext(), layout));
}

Shape shapeOf(Type type) {
  ArrayRef<int64_t> shape = tile::getShape(type);
  return Shape(shape.begin(), shape.end());
}

} // namespace nereid::tilegpu
