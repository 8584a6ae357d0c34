//===- LaunchABI.h - How compiled host code is called ----------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The calling contract of kernels that run on host memory (the CPU target and
// the reference executor). Field offsets are read by generated code: changing
// anything here changes `launchAbiVersion`.
//
// One call runs a contiguous range of a grid's programs, so that the cost of a
// call is paid once a chunk and not once a program. Program p of the linear
// order has the ids (p % g0, p / g0 % g1, p / (g0 * g1)).
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_ABI_LAUNCHABI_H
#define NEREID_ABI_LAUNCHABI_H

#include <cstddef>
#include <cstdint>
#include <memory>

namespace nereid {

inline constexpr uint32_t launchAbiVersion = 2;

struct HostServices;

enum LaunchFlags : uint32_t {
  /// The tensors of this launch exceed the last-level cache together: stores
  /// that are never read again should bypass it.
  StreamingStores = 1,
};

/// What a call of host code sees of the launch. One frame a worker thread.
struct LaunchFrame {
  /// One 8-byte slot for each entry of KernelImage::parameters, the value in
  /// the low bytes (little endian), the rest unspecified. Pointers are
  /// addresses; a float32 is its 4 bytes; an int1 is one byte, 0 or 1.
  const uint64_t *arguments;
  int32_t grid[3];
  uint32_t flags;
  /// KernelImage::scratchBytes bytes, 64-byte aligned, owned by the calling
  /// thread; contents undefined on entry.
  std::byte *scratch;
  const HostServices *services;
  /// The ids of the program being run, kept current by generated code only in
  /// kernels that can call a service.
  int32_t programId[3];
};

static_assert(offsetof(LaunchFrame, arguments) == 0);
static_assert(offsetof(LaunchFrame, grid) == 8);
static_assert(offsetof(LaunchFrame, flags) == 20);
static_assert(offsetof(LaunchFrame, scratch) == 24);
static_assert(offsetof(LaunchFrame, services) == 32);
static_assert(offsetof(LaunchFrame, programId) == 40);

/// Services of the runtime to generated code. `site` indexes
/// KernelImage::sites, which tells what the call is about.
struct HostServices {
  /// device_print: `count` elements of the site's dtype, row-major.
  void (*print)(const LaunchFrame *frame, uint32_t site, const void *elements,
                int64_t count);
  /// A device_assert that fails, an access out of bounds, a NaN. Does not
  /// return: the launch is abandoned. `element` is the linear index in the
  /// tile; `value` is the offending address (bounds) or unused.
  void (*fail)(const LaunchFrame *frame, uint32_t site, int64_t element,
               uint64_t value);
  /// Under bounds checking: is [address, address + bytes) inside one of the
  /// launch's arrays? Returns 1 or 0.
  uint8_t (*inBounds)(const LaunchFrame *frame, uint64_t address,
                      uint32_t bytes);
  /// The program spins until another one changes memory: called once an
  /// iteration, in images with KernelImage::programsWait.
  void (*wait)(const LaunchFrame *frame);
};

static_assert(offsetof(HostServices, print) == 0);
static_assert(offsetof(HostServices, fail) == 8);
static_assert(offsetof(HostServices, inBounds) == 16);
static_assert(offsetof(HostServices, wait) == 24);

/// Runs programs [begin, end) of the frame's grid. Thread-safe: calls on
/// disjoint ranges may run at once, each with a frame of its own.
using HostEntry = void (*)(const void *self, LaunchFrame *frame, int64_t begin,
                           int64_t end);

//===----------------------------------------------------------------------===//
// GPU kernels
//===----------------------------------------------------------------------===//
//
// The kernel's parameters are those of KernelImage::parameters, in order, each
// of its natural size and alignment: pointers 8 bytes, an int1 one byte. A
// block has KernelImage::threadsPerBlock x 1 x 1 threads; the grid's dimensions
// are the grid's. With KernelImage::hasFaultRecord the last parameter is the
// address of a DeviceFault. device_print calls the driver's vprintf.

/// Where a kernel reports a failed check: host memory that the device sees.
/// The first thread to swap `state` from 0 to 1 fills the rest in, makes it
/// visible to the host (fence.sys), and stores 2. The kernel goes on, without
/// the access that failed; the runtime looks when the launch has finished.
struct DeviceFault {
  enum State : uint32_t { Free, BeingWritten, Written };

  uint32_t state;
  uint32_t site;        ///< index of KernelImage::sites
  int64_t element;      ///< linear, in the tile
  uint64_t value;       ///< the offending address (bounds), or unused
  int32_t programId[3]; ///< of the program that failed
  /// Under bounds checking: the launch's arrays, as pairs of uint64, first
  /// byte and one past the last, at the device address `ranges`. Set by the
  /// runtime; an access is good when one of them holds all of it.
  uint32_t rangeCount;
  uint64_t ranges;
};

static_assert(offsetof(DeviceFault, state) == 0);
static_assert(offsetof(DeviceFault, site) == 4);
static_assert(offsetof(DeviceFault, element) == 8);
static_assert(offsetof(DeviceFault, value) == 16);
static_assert(offsetof(DeviceFault, programId) == 24);
static_assert(offsetof(DeviceFault, rangeCount) == 36);
static_assert(offsetof(DeviceFault, ranges) == 40);
static_assert(sizeof(DeviceFault) == 48);

/// Loaded host code. `owner` keeps the code alive.
struct HostCode {
  HostEntry entry = nullptr;
  const void *self = nullptr;
  std::shared_ptr<const void> owner;
};

} // namespace nereid

#endif // NEREID_ABI_LAUNCHABI_H
