//===- HostAnswers.h - What host code sees of the machine -------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Module constants are often decided by questions to the host: which GPU, which
// vendor, which version. They are answered from one table. A GPU answers for
// itself; host devices answer as an sm_90 does, so that a kernel means the same
// on every device.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_IRGEN_HOST_HOSTANSWERS_H
#define NEREID_IRGEN_HOST_HOSTANSWERS_H

#include "nereid/IRGen/Builtins/Builtins.h"

namespace nereid::irgen {

/// triton.__version__, and what importlib.metadata says.
inline std::string tritonVersion(LanguageVersion language) {
  return "3." + std::to_string(static_cast<int>(language)) + ".0";
}
inline constexpr const char *answeredTorchVersion = "2.9.0";

/// For a value of the host where it is used, far from the global it came from.
inline constexpr const char *unknownGlobalHint =
    "say what the global is: --bind NAME=VALUE (Source::bindings in C++); "
    "docs/HOST.md has what is known of the host";

/// The GPU that answers are about.
struct HostTarget {
  int major = 9, minor = 0; ///< compute capability; of AMD's as torch has it
  std::string hip = "";     ///< "gfx942"; empty where it is no AMD GPU

  bool isHip() const { return !hip.empty(); }
  /// Of AMD's with waves of 64 lanes.
  bool isCdna() const { return hip.starts_with("gfx9"); }
  /// Of NVIDIA's, with at least that capability.
  bool isCudaFrom(int least) const { return !isHip() && capability() >= least; }
  /// Of CompileRequest::target: "sm_90a", "gfx942", "cpu", "".
  static HostTarget of(llvm::StringRef target);
  int capability() const { return major * 10 + minor; }
};

/// What `name` means: a path such as "torch.version.hip" or, for a call, with
/// "()" at its end. `exact`: the whole path only. Nullopt: the table does not
/// say.
std::optional<Value> hostAnswer(llvm::StringRef name, const HostTarget &target,
                                bool exact,
                                llvm::ArrayRef<Argument> arguments = {});

/// Whether the host lacks it: torch.npu, a vendor's plug-in. Asking for it
/// fails as in Python.
bool hostLacks(llvm::StringRef name);

/// Whether a program is there: the tool that asks NVIDIA's devices is, those of
/// other vendors are not. Nullopt: not known.
std::optional<bool> hostHasCommand(llvm::StringRef name);

/// What subprocess.run gives of a program that ran: its return code. What the
/// program wrote is not known.
Value finishedCommand();

/// Whether `import name` succeeds for a module whose file is not found.
bool hostHasModule(llvm::StringRef name);

/// The built-in module that a name of an unknown module means: `tl` of `from
/// somewhere import tl`. Empty: none.
llvm::StringRef moduleByUse(llvm::StringRef name);

/// A packaging.version.Version, as a tuple of its numbers.
Value versionOf(llvm::StringRef text);

/// docs/HOST.md.
std::string hostAnswersMarkdown();

} // namespace nereid::irgen

#endif // NEREID_IRGEN_HOST_HOSTANSWERS_H
