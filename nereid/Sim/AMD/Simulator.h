//===- Simulator.h - Code objects of AMD's, run without a GPU ---*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_SIM_AMD_SIMULATOR_H
#define NEREID_SIM_AMD_SIMULATOR_H

#include "nereid/Sim/Launch.h"

#include <memory>
#include <span>
#include <string>
#include <vector>

namespace nereid::sim::amd {

/// A parameter of a kernel, or a hidden argument, which the launch fills in.
struct KernelArgument {
  uint32_t offset = 0, bytes = 0; ///< in the kernarg segment
  std::string kind;               ///< ".value_kind": "hidden_block_count_x"
  bool isHidden() const { return kind.starts_with("hidden_"); }
};

/// What a code object says of one of its kernels.
struct Kernel {
  std::string name;
  unsigned lanes = 64; ///< of a wave
  uint64_t entry = 0;  ///< of its first instruction, in the loaded image
  uint32_t sharedBytes = 0, privateBytes = 0, argumentBytes = 0;
  uint32_t vectorRegisters = 0, accumulationRegisters = 0;
  uint32_t scalarRegisters = 0, mostThreads = 1024;
  uint32_t rsrc1 = 0, rsrc2 = 0, rsrc3 = 0;
  uint16_t properties = 0; ///< which user registers it wants
  std::vector<KernelArgument> arguments;
};

/// A loaded code object. Immutable; launches may share it between threads.
class Program;

/// Loads and decodes an ELF file of AMDGPU for gfx90a, gfx942, gfx950, gfx1100
/// or gfx1201. InvalidArgument for other bytes; CompileError, with its text
/// and place, for an instruction that is not simulated.
Expected<std::shared_ptr<const Program>> load(std::span<const uint8_t> object);

/// "gfx942"
const std::string &targetOf(const Program &program);
const std::vector<Kernel> &kernelsOf(const Program &program);
/// Null for a name that it has not.
const Kernel *findKernel(const Program &program, std::string_view name);

/// One instruction as LLVM's disassembler prints it.
struct Line {
  uint64_t address = 0; ///< as linked, in the ELF file
  uint32_t bytes = 0;
  std::string text;
};
/// Every instruction of the text section, in order.
std::vector<Line> disassemble(const Program &program);

enum class Access : uint8_t { Read, Write, Atomic };

/// Receives what a launch with one worker does, in the order in which the
/// simulator does it, up to a fault.
class Trace {
public:
  virtual ~Trace() = default;
  /// The waves of the next workgroup begin.
  virtual void begin() = 0;
  /// An instruction, by its address in the ELF file, before it executes.
  virtual void executes(unsigned wave, uint64_t address) = 0;
  /// What a lane of it accesses, in LDS or in global memory.
  virtual void accesses(unsigned wave, bool isShared, uint64_t address,
                        uint32_t bytes, Access access) = 0;
};
class Profile;

struct LaunchRequest {
  const Program &program;
  const Kernel &kernel;
  const Allocations &memory;
  std::array<uint32_t, 3> grid, threads;
  uint32_t dynamicSharedBytes = 0;
  /// The kernarg segment up to its hidden arguments, as `arguments` lie; those
  /// are filled in by the launch.
  std::vector<unsigned char> arguments = {};
  bool checksRaces = true;
  uint64_t seed = 0; ///< the order of waves
  unsigned workers =
      1; ///< threads of the host, each with a workgroup at a time
  /// Not 0: a wave that has executed so many is a fault.
  uint64_t mostInstructions = 0;
  Trace *trace = nullptr; ///< of one worker; or null
  /// Workgroups wait for each other: all get on, in turns, on one thread.
  bool isCooperative = false;
  /// Null, or what is filled in (Profile.h).
  Profile *profile = nullptr;
  GridSample sample = {};
};

/// Every workgroup of the grid, in order of their numbers, `workers` at a time.
/// KernelFault names the instruction, the wave and the lane, and what it did;
/// InvalidArgument for a grid, arguments or LDS that do not fit.
Status launch(const LaunchRequest &request);

} // namespace nereid::sim::amd

#endif // NEREID_SIM_AMD_SIMULATOR_H
