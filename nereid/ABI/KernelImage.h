//===- KernelImage.h - A compiled kernel ------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the compiler hands to the runtime, and what the cache stores.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_ABI_KERNELIMAGE_H
#define NEREID_ABI_KERNELIMAGE_H

#include "nereid/ABI/DType.h"
#include "nereid/ABI/Status.h"

#include <cstdint>
#include <string>
#include <vector>

namespace nereid {

inline constexpr uint32_t kernelImageVersion = 5;

enum class ImageFormat : uint8_t {
  HostObject, ///< relocatable ELF of the host
  TileIR,     ///< textual Tile IR for the reference executor
  /// Text for the driver's assembler (PTX), without a terminating NUL; never
  /// stored in a cache.
  GpuAssembly,
  GpuBinary, ///< what the assembler made of it (a cubin)
};

/// A parameter that exists at run time; static ones are folded away.
struct ImageParameter {
  std::string name;
  DType dtype = DType::Int32; ///< the pointee's type, for a pointer
  bool isPointer = false;
  bool isConst = false;   ///< never written through
  bool isWritten = false; ///< a store or an atomic can reach it
};

/// A place in the kernel that can call the host at run time.
struct ImageSite {
  enum class Kind : uint8_t { Print, Assert, Bounds, Nan };
  Kind kind = Kind::Print;
  std::string message; ///< print prefix, assert text, or what was accessed
  SourceLocation location;
  std::string sourceLine;
  DType dtype = DType::Int32; ///< print: the elements' type
  std::vector<int64_t> shape; ///< print: the tile's shape; empty for a scalar
  bool hex = false;           ///< print: hexadecimal
  int32_t parameter = -1; ///< bounds: index of the pointer's parameter, or -1
  uint32_t elementBytes = 0; ///< bounds: bytes of one element
};

/// A parameter after the others, of 128 bytes aligned to 64: a tensor as the
/// GPU's engine for copies of boxes knows it, which each launch makes.
struct TensorMapSource {
  uint32_t base = 0;         ///< the pointer's parameter
  uint32_t elementBytes = 0; ///< 1, 2, 4 or 8
  uint32_t swizzleBytes = 0; ///< of a row of the box, permuted in 16 bytes
  std::vector<int64_t> box;  ///< elements by dimension, innermost first
  /// Stride and size of each dimension, in elements: sums of products of
  /// parameters. First the number of products, or -1 for a size that does not
  /// matter; of each its factor, how many parameters it has, and these.
  std::vector<int64_t> numbers;

  bool operator==(const TensorMapSource &) const = default;
};

/// Names and milliseconds, in the order in which stages ran.
using StageTimes = std::vector<std::pair<std::string, double>>;

struct KernelImage {
  uint32_t version = kernelImageVersion;
  ImageFormat format = ImageFormat::HostObject;
  std::string kernel; ///< the name in the source
  std::string entry;  ///< the symbol, or the function of the Tile module
  std::string target; ///< "x86-64-v4", "interp", "sm_90a"
  std::vector<ImageParameter> parameters;
  std::vector<ImageSite> sites;
  /// A program may spin until a later program of the grid has run: programs
  /// need threads of their own.
  bool programsWait = false;
  uint64_t scratchBytes = 0;    ///< per thread (CPU)
  uint32_t sharedBytes = 0;     ///< dynamic shared memory of a block (GPU)
  uint32_t numWarps = 4;        ///< as the program was compiled for
  uint32_t threadsPerBlock = 0; ///< a block has so many x 1 x 1 (GPU)
  /// GPU: the kernel has one more, last parameter, the address of a
  /// DeviceFault (ABI/LaunchABI.h).
  bool hasFaultRecord = false;
  std::vector<TensorMapSource> tensorMaps; ///< GPU
  /// What the assembler says of a thread; 0 in a GpuAssembly image. Spills are
  /// the bytes stored and loaded, as they stand in the code.
  uint32_t numRegisters = 0, spillBytes = 0, localBytes = 0;
  /// Stage times of the compilation that made it, in ms.
  StageTimes stageTimes;
  /// Warnings of the compilation, repeated when the image comes from a cache.
  std::vector<Diagnostic> warnings;
  std::vector<std::byte> code;
};

} // namespace nereid

#endif // NEREID_ABI_KERNELIMAGE_H
