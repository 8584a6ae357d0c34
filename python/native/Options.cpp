//===- Options.cpp - Names in a launch that are no parameters -------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "python/native/Core.h"

#include <algorithm>
#include <string_view>

namespace nereid::python {

/// Options of the runtime, which judges their values.
static constexpr std::string_view taken[] = {
    "num_warps",
    "num_stages",
    "num_ctas",
    "maxnreg",
    "minnreg",
    "waves_per_eu",
    "matrix_instr_nonkdim",
    "kpack",
    "enable_fp_fusion",
    "debug",
    "assert_traps",
    "launch_cooperative_grid",
    "launch_pdl",
    "sanitize_overflow",
    "instrumentation_mode",
    "enable_reflect_ftz",
    "warp_size",
    "default_dot_input_precision",
    "allowed_dot_input_precisions",
    "max_num_imprecise_acc_default",
    "supported_fp8_dtypes",
    "deprecated_fp8_dot_operand_dtypes",
    "ir_override",
    "ptx_version",
    "ptx_options",
    "arch",
    "backend_name",
};

/// Options of other back ends of the language, and of its older versions: they
/// change no result. Libraries of bitcode are among them: libdevice is written
/// in the language, and a function of another one is an error where it is
/// called.
static constexpr std::string_view ignored[] = {
    "extern_libs",
    "allow_flush_denorm",
    "schedule_hint",
    "cluster_dims",
    "num_consumer_groups",
    "num_buffers_warp_spec",
    "reg_dec_producer",
    "reg_inc_consumer",
    "enable_warp_specialization",
    "enable_persistent",
    "optimize_epilogue",
    "grf_mode",
    "one_tile_per_cta",
    "threads_per_warp",
    "opt_level",
    "multibuffer",
    "stream",
    "device",
    "device_type",
};

bool isLaunchOption(const CoreState &state, PyObject *name) {
  std::string_view text = textOf(name);
  if (std::ranges::find(taken, text) != std::end(taken)) {
    return true;
  }
  if (std::ranges::find(ignored, text) != std::end(ignored)) {
    return false;
  }
  raisePython(PyExc_KeyError,
              "Keyword argument " + std::string(text) +
                  " was specified but unrecognised: " + state.name +
                  " has no such parameter, and it is no launch option");
}

} // namespace nereid::python
