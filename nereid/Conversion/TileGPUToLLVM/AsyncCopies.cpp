//===- AsyncCopies.cpp - Global memory into buffers, meanwhile ------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Conversion/TileGPUToLLVM/LoweringTable.h"

using namespace mlir;

namespace nereid::togpu {

Value KernelEmitter::slotAddress(Value buffer, Value slot) {
  auto type = cast<tilegpu::BufferType>(buffer.getType());
  std::optional<uint32_t> offset =
      buffer.getDefiningOp<tilegpu::AllocOp>().getOffset();
  if (!offset) {
    fail(buffer.getDefiningOp(), "no place in shared memory");
    offset = 0;
  }
  return arith::AddIOp::create(
      b, loc, sharedAddress(*offset),
      arith::MulIOp::create(b, loc, scalar(slot),
                            ops().i32(type.getSlotBytes())));
}

KernelEmitter::SlotPlaces
KernelEmitter::placesAt(Value start, ArrayRef<uint32_t> threadColumns) {
  SlotPlaces places;
  places.slot = start;
  std::vector<uint32_t> columns(threadColumns.begin(), threadColumns.end());
  for (uint32_t column : columns) {
    places.reach |= column;
    places.span.add(column);
  }
  places.threads = atEntry(columns);
  return places;
}

KernelEmitter::SlotPlaces
KernelEmitter::placesIn(tilegpu::BufferType buffer, Value start,
                        ArrayRef<uint32_t> threadColumns) {
  SlotPlaces places = placesAt(start, threadColumns);
  ArrayRef<int64_t> shape = buffer.getShape();
  places.end =
      isPowerOfTwo({shape.begin(), shape.end()}) ? 0 : buffer.getSlotBytes();
  return places;
}

KernelEmitter::SharedPlace KernelEmitter::place(SlotPlaces &places,
                                                uint32_t own) {
  return placeToRead(places, own, /*bytes=*/0);
}

KernelEmitter::SharedPlace
KernelEmitter::placeToRead(SlotPlaces &places, uint32_t own, unsigned bytes) {
  constexpr uint32_t anywhere = ~0u;
  uint32_t exclusive = own & places.reach, added = own & ~places.reach;
  uint32_t last = anywhere;
  if (bytes && places.end &&
      places.span.greatest(exclusive) + added + bytes > places.end) {
    // Skip what starts past the end in every thread.
    added = added + bytes > places.end ? 0 : added;
    last = places.end - added - bytes;
  }
  Value &start = places.starts[{exclusive, last}];
  if (!start) {
    Value threads = places.threads;
    if (exclusive) {
      threads = arith::XOrIOp::create(b, loc, threads, ops().i32(exclusive));
    }
    if (last != anywhere) {
      threads = arith::MinUIOp::create(b, loc, threads, ops().i32(last));
    }
    start = arith::AddIOp::create(b, loc, places.slot, threads);
  }
  return {start, added};
}

/// Bytes that each column of `part` adds to an offset.
std::vector<uint32_t> bytesOf(ArrayRef<uint32_t> part,
                              ArrayRef<uint32_t> offsetOfBit, unsigned bytes) {
  std::vector<uint32_t> columns;
  for (uint32_t index : part) {
    uint32_t offset = 0;
    for (unsigned i = 0; i < offsetOfBit.size(); ++i) {
      offset ^= index >> i & 1 ? offsetOfBit[i] : 0;
    }
    columns.push_back(offset * bytes);
  }
  return columns;
}

uint32_t sumOfColumns(ArrayRef<uint32_t> columns, unsigned bits) {
  uint32_t sum = 0;
  for (unsigned i = 0; i < columns.size(); ++i) {
    sum ^= bits >> i & 1 ? columns[i] : 0;
  }
  return sum;
}

void KernelEmitter::storeTile(Value tensor, tilegpu::BufferType buffer,
                              Value start) {
  const TileInfo &tile = info(tensor.getType());
  const Registers &source = regs(tensor);
  unsigned bytes = tile::getElementBytes(tile.element);
  std::vector<uint32_t> offsets = tilegpu::offsetsOfIndex(buffer);
  auto columns = bytesOf(tile.layout.registers, offsets, bytes);
  auto threadColumns = bytesOf(tile.layout.lanes, offsets, bytes);
  for (uint32_t column : bytesOf(tile.layout.warps, offsets, bytes)) {
    threadColumns.push_back(column);
  }
  // Registers that lie side by side, up to a piece, which no swizzle divides.
  unsigned width = 1;
  for (unsigned i = 0; i < columns.size() && columns[i] == width * bytes &&
                       2 * width * bytes <= 16;
       ++i) {
    width *= 2;
  }
  SlotPlaces places = placesAt(start, threadColumns);
  Value firstCopy = isFirstCopy(tile.layout);
  for (unsigned r = 0; r < tile.count(); r += width) {
    // What lies outside begins after what lies inside, and its place in the
    // same piece is in the slot, too.
    if (tile.dead[r]) {
      continue;
    }
    Registers elements(ArrayRef<Value>(source).slice(r, width));
    for (Value &element : elements) {
      element = element ? element : elements[0];
    }
    storeShared(place(places, sumOfColumns(columns, r)), elements,
                andOf(insideShape(tile, r), firstCopy));
  }
}

void KernelEmitter::emitLocalStore(tilegpu::LocalStoreOp op) {
  storeTile(op.getTensor(), op.getBuffer().getType(),
            slotAddress(op.getBuffer(), op.getSlot()));
  fenceForWarpgroups();
  barrier();
}

/// A piece is 4, 8 or 16 bytes. Under a mask the bytes read from global memory
/// are 0, and zeros fill the piece.
void KernelEmitter::emitCopyAsync(tilegpu::CopyAsyncOp op) {
  const TileInfo &tile = info(op.getPointers().getType());
  tilegpu::BufferType buffer = op.getBuffer().getType();
  unsigned elementBytes = tile::getElementBytes(buffer.getElementType());
  std::vector<uint32_t> offsets = tilegpu::offsetsOfIndex(buffer);
  auto columns = bytesOf(tile.layout.registers, offsets, elementBytes);
  AccessWidth most = accessWidth(op.getPointers(), op.getMask());
  reportAccess("copy ahead", op.getPointers(), op.getMask(), most);
  unsigned width = most.elements, piece = 1;
  for (unsigned i = 0; piece < width && i < columns.size() &&
                       columns[i] == elementBytes * piece;
       ++i) {
    piece *= 2;
  }
  unsigned bytes = piece * elementBytes;
  if (bytes < 4) {
    fail(op, "asynchronous copies move at least 4 bytes");
    return;
  }
  std::vector<uint32_t> threadColumns =
      bytesOf(tile.layout.lanes, offsets, elementBytes);
  for (uint32_t column : bytesOf(tile.layout.warps, offsets, elementBytes)) {
    threadColumns.push_back(column);
  }
  SlotPlaces places =
      placesAt(slotAddress(op.getBuffer(), op.getSlot()), threadColumns);
  Value condition =
      andOf(op.getCondition() ? scalar(op.getCondition()) : Value(),
            isFirstCopy(tile.layout));
  GlobalAddresses global = globalAddresses(op.getPointers());
  for (unsigned r = 0; r < tile.count(); r += piece) {
    if (tile.dead[r]) {
      continue;
    }
    auto [start, offset] = place(places, sumOfColumns(columns, r));
    auto [address, distance] = globalAddress(global, r);
    Value read;
    if (Value mask = maskInside(op.getPointers(), op.getMask(), r)) {
      read =
          arith::SelectOp::create(b, loc, mask, ops().i32(bytes), ops().i32(0));
    }
    machine->copyAsync({Space::Shared, start, offset,
                        AccessShape(8 * elementBytes, piece),
                        andOf(condition, insideShape(tile, r))},
                       address, distance, read);
  }
}

static void emitCommit(KernelEmitter &e, tilegpu::CommitCopiesOp) {
  e.machine->commitCopies();
}

static void emitWait(KernelEmitter &e, tilegpu::WaitCopiesOp op) {
  e.machine->waitForCopies(op.getPending());
  e.fenceForWarpgroups();
  e.barrier();
}

static void emitPlace(KernelEmitter &, Operation *) {}

void addCopyLowerings(LoweringTable &table) {
  table.add<tilegpu::CopyAsyncOp, &KernelEmitter::emitCopyAsync>();
  table.add<tilegpu::CommitCopiesOp, emitCommit>();
  table.add<tilegpu::WaitCopiesOp, emitWait>();
  table.add<tilegpu::LocalStoreOp, &KernelEmitter::emitLocalStore>();
  table.add<tilegpu::LocalLoadOp, &KernelEmitter::emitLocalLoad>();
  table.add<tilegpu::AllocOp, emitPlace>();
  table.add<tilegpu::FreeOp, emitPlace>();
}

} // namespace nereid::togpu
