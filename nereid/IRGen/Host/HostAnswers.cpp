//===- HostAnswers.cpp - What host code sees of the machine *- C++
//-*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/IRGen/Host/HostAnswers.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

namespace nereid::irgen {

HostTarget HostTarget::of(llvm::StringRef target) {
  HostTarget result;
  unsigned number;
  if (target.consume_front("sm_") && !target.consumeInteger(10, number)) {
    result.major = static_cast<int>(number / 10);
    result.minor = static_cast<int>(number % 10);
  } else if (target.starts_with("gfx") && target.size() >= 6) {
    // gfx90a is (9, 0), gfx942 (9, 4), gfx1201 (12, 0).
    result.hip = target.str();
    target = target.drop_front(3).drop_back(1);
    result.minor = target.back() - '0';
    target.drop_back(1).getAsInteger(10, result.major);
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

static std::shared_ptr<const AggregateType>
hostAggregate(std::string name, std::vector<std::string> fields, bool isTuple) {
  return std::make_shared<const AggregateType>(AggregateType{
      std::move(name), std::move(fields), isTuple, "host", nullptr});
}

Value versionOf(llvm::StringRef text) {
  static const auto type =
      hostAggregate("Version", {"major", "minor", "micro"}, true);
  Value numbers[3] = {0, 0, 0};
  text = text.trim();
  text.consume_front("v");
  for (Value &number : numbers) {
    unsigned value;
    if (text.consumeInteger(10, value)) {
      break;
    }
    number = Value(Int{value});
    if (!text.consume_front(".")) {
      break;
    }
  }
  return Value(Aggregate{type, {numbers[0], numbers[1], numbers[2]}});
}

namespace {
struct HipDevice {
  const char *target, *name;
  int processors, sharedBytes;
};
} // namespace

/// A GPU of that name, by AMD's specifications.
static const HipDevice &hipDevice(const HostTarget &target) {
  static const HipDevice devices[] = {
      {"gfx942", "AMD Instinct MI300X", 304, 65536},
      {"gfx90a", "AMD Instinct MI250X", 110, 65536},
      {"gfx950", "AMD Instinct MI355X", 256, 163840},
      {"gfx1100", "AMD Radeon RX 7900 XTX", 96, 65536},
      {"gfx1201", "AMD Radeon RX 9070 XT", 64, 65536},
  };
  for (const HipDevice &device : devices) {
    if (target.hip == device.target) {
      return device;
    }
  }
  return devices[0];
}

static std::string deviceName(const HostTarget &target) {
  if (target.isHip()) {
    return hipDevice(target).name;
  }
  switch (target.major) {
  case 7:
    return target.minor == 0 ? "Tesla V100-SXM2-32GB" : "Tesla T4";
  case 8:
    return target.minor == 0   ? "NVIDIA A100-SXM4-80GB"
           : target.minor == 9 ? "NVIDIA L40S"
                               : "NVIDIA A10G";
  case 10:
    return "NVIDIA B200";
  case 12:
    return "NVIDIA GeForce RTX 5090";
  default:
    return "NVIDIA H200";
  }
}

/// Multiprocessors of the GPU that deviceName names.
static int processors(const HostTarget &target) {
  if (target.isHip()) {
    return hipDevice(target).processors;
  }
  switch (target.major) {
  case 7:
    return target.minor == 0 ? 80 : 40;
  case 8:
    return target.minor == 0 ? 108 : target.minor == 9 ? 142 : 72;
  case 10:
    return 148;
  case 12:
    return 170;
  default:
    return 132;
  }
}

/// Bytes of shared memory that one program may have.
static int sharedBytes(const HostTarget &target) {
  if (target.isHip()) {
    return hipDevice(target).sharedBytes;
  }
  switch (target.capability()) {
  case 70:
    return 98304;
  case 75:
    return 65536;
  case 80:
  case 87:
    return 166912;
  case 86:
  case 89:
  case 120:
    return 101376;
  default:
    return 232448;
  }
}

static int warpSize(const HostTarget &target) {
  return target.isCdna() ? 64 : 32;
}

static Value torchProperties(const HostTarget &target) {
  static const auto type = hostAggregate(
      "torch.cuda.get_device_properties(...)",
      {"name", "major", "minor", "multi_processor_count", "total_memory",
       "warp_size", "L2_cache_size", "shared_memory_per_block",
       "shared_memory_per_block_optin", "shared_memory_per_multiprocessor",
       "regs_per_multiprocessor", "max_threads_per_multi_processor"},
      false);
  int shared = sharedBytes(target);
  return Value(Aggregate{
      type,
      {Value(deviceName(target)), target.major, target.minor,
       processors(target), Value(Int{80} << 30), warpSize(target), 50 << 20,
       49152, shared, shared + 1024, 65536, target.major == 7 ? 1024 : 2048}});
}

static Value tritonProperties(const HostTarget &target) {
  return Value::dict({{"max_shared_mem", sharedBytes(target)},
                      {"max_num_regs", 65536},
                      {"multiprocessor_count", processors(target)},
                      {"warpSize", warpSize(target)},
                      {"sm_clock_rate", 1980000},
                      {"mem_clock_rate", 2619000},
                      {"mem_bus_width", 5120}});
}

static Value capabilityOf(const HostTarget &target) {
  static const auto type =
      hostAggregate("DeviceCapability", {"major", "minor"}, true);
  return Value(Aggregate{type, {target.major, target.minor}});
}

static Value currentTarget(const HostTarget &target) {
  static const auto type =
      hostAggregate("GPUTarget", {"backend", "arch", "warp_size"}, false);
  return Value(Aggregate{
      type,
      {Value(target.isHip() ? "hip" : "cuda"),
       target.isHip() ? Value(target.hip) : Value(target.capability()),
       Value(warpSize(target))}});
}

static Value pythonVersion() {
  static const auto type = hostAggregate(
      "sys.version_info", {"major", "minor", "micro", "releaselevel", "serial"},
      true);
  return Value(Aggregate{type, {3, 12, 0, "final", 0}});
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

namespace {

/// One answer. `names`, separated by blanks: with a dot, whole paths; without
/// one, the last part of a path, whatever module it is imported from.
struct AnswerRow {
  const char *names;
  Value (*answer)(const HostTarget &);
  const char *meaning; ///< where the value on an sm_90 does not say enough
};

} // namespace

static const AnswerRow rows[] = {
    {"torch.cuda.is_available() torch.cuda.is_initialized()",
     [](const HostTarget &) { return Value(true); }, ""},
    {"torch.cuda.device_count()", [](const HostTarget &) { return Value(1); },
     ""},
    {"torch.cuda.current_device() get_current_device()",
     [](const HostTarget &) { return Value(0); }, ""},
    {"torch.cuda.get_device_capability() get_device_capability() "
     "get_compute_capability()",
     [](const HostTarget &t) { return capabilityOf(t); },
     "the compute capability"},
    {"DeviceCapability.to_int() get_device_sm() get_sm_version() get_sm() "
     "get_cuda_arch()",
     [](const HostTarget &t) { return Value(t.capability()); },
     "the compute capability as one number"},
    {"torch.cuda.get_device_name() get_device_name()",
     [](const HostTarget &t) { return Value(deviceName(t)); },
     "a GPU of that compute capability"},
    {"torch.cuda.get_device_properties()",
     [](const HostTarget &t) { return torchProperties(t); },
     "of that GPU, by name"},
    {"triton.runtime.driver.active.utils.get_device_properties()",
     [](const HostTarget &t) { return tritonProperties(t); },
     "of that GPU, as a dict"},
    {"num_compute_units() get_num_sms() get_num_sm() num_sms() get_sm_count() "
     "get_device_core_count() get_multiprocessor_count() get_cu_count()",
     [](const HostTarget &t) { return Value(processors(t)); },
     "multiprocessors of that GPU"},
    {"get_current_target()",
     [](const HostTarget &t) { return currentTarget(t); },
     "GPUTarget(backend, arch, warp_size)"},
    {"torch.cuda.is_bf16_supported() is_bf16_supported() "
     "is_bfloat16_supported() "
     "is_ampere_or_newer()",
     [](const HostTarget &t) { return Value(t.major >= 8); },
     "from compute capability 8.0 on"},
    {"is_hopper is_nvidia_hopper is_hopper() is_sm90() is_sm90a() "
     "is_sm90_supported() is_sm90_available() is_nvidia_hopper()",
     [](const HostTarget &t) { return Value(!t.isHip() && t.major == 9); },
     "compute capability 9.0"},
    {"is_hopper_or_newer() is_tma_supported() supports_tma() "
     "supports_host_descriptor()",
     [](const HostTarget &t) { return Value(t.isCudaFrom(90)); },
     "from compute capability 9.0 on"},
    {"is_blackwell is_blackwell() is_sm100() is_sm100_supported() "
     "is_sm100_available() is_sm120() is_sm120_supported() is_sm12x()",
     [](const HostTarget &t) { return Value(t.isCudaFrom(100)); },
     "from compute capability 10.0 on"},
    {"is_fp8_supported() supports_fp8()",
     [](const HostTarget &t) {
       return Value(t.isCudaFrom(89) ||
                    (t.isHip() && t.hip != "gfx90a" && t.hip != "gfx1100"));
     },
     "from compute capability 8.9 on; gfx942, gfx950, gfx1201"},
    {"is_cuda is_nvidia is_cuda() is_nvidia()",
     [](const HostTarget &t) { return Value(!t.isHip()); },
     "on every target but gfx ones"},
    {"is_cuda_alike() is_gpu() "
     "is_cuda_available() is_triton_available() has_triton() "
     "is_torch_available()",
     [](const HostTarget &) { return Value(true); }, ""},
    {"is_hip is_rocm is_amd is_hip() is_rocm() is_amd() is_rocm_available()",
     [](const HostTarget &t) { return Value(t.isHip()); }, "on gfx targets"},
    {"is_cdna()", [](const HostTarget &t) { return Value(t.isCdna()); },
     "on gfx90a, gfx942, gfx950"},
    {"is_navi() is_rdna()",
     [](const HostTarget &t) { return Value(t.isHip() && !t.isCdna()); },
     "on gfx1100, gfx1201"},
    {"is_hip_cdna2() is_hip_mi200()",
     [](const HostTarget &t) { return Value(t.hip == "gfx90a"); }, "on gfx90a"},
    {"is_cdna3() is_hip_cdna3() is_hip_mi300() is_fp8_fnuz()",
     [](const HostTarget &t) { return Value(t.hip == "gfx942"); }, "on gfx942"},
    {"is_cdna4() is_hip_cdna4()",
     [](const HostTarget &t) { return Value(t.hip == "gfx950"); }, "on gfx950"},
    {"is_xpu is_npu is_intel "
     "is_xpu() is_npu() is_musa() is_mlu() is_hpu() is_cpu() is_tpu() "
     "is_mps() is_maca() is_intel() is_ascend() "
     "is_npu_available() is_torch_npu_available() is_musa_available() "
     "is_out_of_tree() is_interpreter()",
     [](const HostTarget &) { return Value(false); }, ""},
    {"torch.xpu.is_available() torch.npu.is_available() "
     "torch.mps.is_available() torch.backends.mps.is_available() "
     "torch.musa.is_available() torch.mtia.is_available() "
     "torch.compiler.is_compiling() torch._dynamo.is_compiling() "
     "torch.jit.is_scripting() torch.distributed.is_available() "
     "torch.distributed.is_initialized()",
     [](const HostTarget &) { return Value(false); }, ""},
    {"torch.version.hip torch.version.rocm",
     [](const HostTarget &t) { return t.isHip() ? Value("7.0") : Value(); },
     "\"7.0\" on gfx targets"},
    {"torch.version.xpu", [](const HostTarget &) { return Value(); }, ""},
    {"fp8_dtype() get_fp8_dtype()",
     [](const HostTarget &) { return Value(Opaque{"torch.float8_e4m3fn"}); },
     ""},
    {"torch.version.cuda",
     [](const HostTarget &t) { return t.isHip() ? Value() : Value("12.8"); },
     "None on gfx targets"},
    {"torch.__version__ torch.version.__version__",
     [](const HostTarget &) { return Value(answeredTorchVersion); }, ""},
    {"triton.knobs.runtime.interpret",
     [](const HostTarget &) { return Value(false); }, ""},
    {"typing.TYPE_CHECKING typing_extensions.TYPE_CHECKING",
     [](const HostTarget &) { return Value(false); }, ""},
    {"sys.version_info", [](const HostTarget &) { return pythonVersion(); },
     "Python 3.12"},
    {"sys.platform", [](const HostTarget &) { return Value("linux"); }, ""},
    {"sys.maxsize", [](const HostTarget &) { return Value(INT64_MAX); }, ""},
    {"os.name", [](const HostTarget &) { return Value("posix"); }, ""},
    {"platform.system()", [](const HostTarget &) { return Value("Linux"); },
     ""},
    {"platform.machine()", [](const HostTarget &) { return Value("x86_64"); },
     ""},
    {"platform.python_version()",
     [](const HostTarget &) { return Value("3.12.0"); }, ""},
    {"os.cpu_count()", [](const HostTarget &) { return Value(16); }, ""},
};

static const llvm::StringMap<const AnswerRow *> &answersByName() {
  static const auto table = [] {
    llvm::StringMap<const AnswerRow *> result;
    for (const AnswerRow &row : rows) {
      llvm::SmallVector<llvm::StringRef> names;
      llvm::SplitString(row.names, names, " ");
      for (llvm::StringRef name : names) {
        result[name] = &row;
      }
    }
    return result;
  }();
  return table;
}

/// has_device_capability(90), has_device_capability((9, 0)): at least so much.
static std::optional<Value> atLeast(const HostTarget &target,
                                    llvm::ArrayRef<Argument> arguments) {
  if (arguments.empty()) {
    return std::nullopt;
  }
  const Value &wanted = arguments[0].value;
  if (wanted.isInt()) {
    return Value(Int{target.capability()} >= wanted.integer());
  }
  if (wanted.isTuple() && wanted.items().size() == 2 &&
      wanted.items()[0].isInt() && wanted.items()[1].isInt()) {
    return Value(Int{target.capability()} >= wanted.items()[0].integer() * 10 +
                                                 wanted.items()[1].integer());
  }
  return std::nullopt;
}

std::optional<Value> hostAnswer(llvm::StringRef name, const HostTarget &target,
                                bool exact,
                                llvm::ArrayRef<Argument> arguments) {
  const auto &table = answersByName();
  auto row = table.find(name);
  if (row == table.end() && !exact) {
    llvm::StringRef last = name.rsplit('.').second;
    last = last.empty() ? name : last;
    if (last == "has_device_capability()" ||
        last == "is_device_capability_family()") {
      return atLeast(target, arguments);
    }
    // A constant of an unknown module: _IS_HIP, IS_NVIDIA_HOPPER.
    std::string plain = last.lower();
    row = table.find(llvm::StringRef(plain).ltrim('_'));
  }
  if (row == table.end()) {
    return std::nullopt;
  }
  return row->second->answer(target);
}

//===----------------------------------------------------------------------===//
// Modules
//===----------------------------------------------------------------------===//

bool hostLacks(llvm::StringRef name) {
  return llvm::StringSwitch<bool>(name)
      .Cases({"torch.npu", "torch.musa", "torch.mlu", "torch.hpu", "torch.gcu",
              "torch.ptpu", "torch.sdaa", "torch.txda", "torch.dipu",
              "torch.corex"},
             true)
      .Default(false);
}

std::optional<bool> hostHasCommand(llvm::StringRef name) {
  return llvm::StringSwitch<std::optional<bool>>(name)
      .Case("nvidia-smi", true)
      .Cases({"rocm-smi", "amd-smi", "rocminfo", "hipconfig", "hy-smi",
              "xpu-smi", "sycl-ls", "hl-smi", "npu-smi", "npu-smi info",
              "cnmon", "mx-smi", "ixsmi", "mthreads-gmi", "aipu",
              "cat /proc/cpuinfo"},
             false)
      .Default(std::nullopt);
}

Value finishedCommand() {
  static const auto type =
      hostAggregate("subprocess.run(...)", {"returncode"}, false);
  return Value(Aggregate{type, {0}});
}

bool hostHasModule(llvm::StringRef name) {
  return llvm::StringSwitch<bool>(name.split('.').first)
      .Cases({"torch", "triton", "numpy", "packaging", "typing_extensions",
              "__future__", "yaml"},
             true)
      .Cases({"abc", "argparse", "array", "ast", "asyncio", "atexit", "base64",
              "bisect", "builtins", "collections", "concurrent", "contextlib",
              "copy", "copyreg", "csv", "ctypes"},
             true)
      .Cases({"dataclasses", "datetime", "decimal", "dis", "enum", "errno",
              "fnmatch", "fractions", "functools", "gc", "getpass", "glob",
              "hashlib", "heapq", "html", "importlib"},
             true)
      .Cases({"inspect", "io", "itertools", "json", "keyword", "linecache",
              "locale", "logging", "math", "multiprocessing", "numbers",
              "operator", "os", "pathlib", "pickle", "pkgutil"},
             true)
      .Cases({"platform", "pprint", "queue", "random", "re", "secrets",
              "select", "shutil", "signal", "socket", "sqlite3", "statistics",
              "string", "struct", "subprocess", "sys"},
             true)
      .Cases({"sysconfig", "tempfile", "textwrap", "threading", "time",
              "timeit", "traceback", "types", "typing", "unittest", "urllib",
              "uuid", "warnings", "weakref", "xml", "zipfile"},
             true)
      .Default(false);
}

llvm::StringRef moduleByUse(llvm::StringRef name) {
  return llvm::StringSwitch<llvm::StringRef>(name)
      .Case("triton", "triton")
      .Case("tl", "triton.language")
      .Cases({"libdevice", "tldevice", "tl_extra_shim", "tl_extra"},
             "triton.language.extra.libdevice")
      .Case("tl_math", "triton.language.math")
      .Default("");
}

//===----------------------------------------------------------------------===//
// docs/HOST.md
//===----------------------------------------------------------------------===//

std::string hostAnswersMarkdown() {
  std::string out =
      "# What host code sees\n\n"
      "Made from the table of answers by `nereid builtins --host`; a test "
      "keeps it current.\n\n"
      "Host code around a kernel is evaluated as far as the kernel reaches it "
      "(docs/IRGen.md). Its questions about the machine are answered from this "
      "table: a GPU answers for itself, `cpu` and `interp` as an sm_90 does, "
      "so "
      "that a kernel means the same on every device. A name without a dot "
      "counts whatever module it comes from, where that module's file is not "
      "found. Everything else is said with `--bind NAME=VALUE`, or "
      "`Source::bindings`. A path describes another host, and goes before "
      "this table: `--bind 'torch.mlu.device_count()=1'`, with empty "
      "parentheses for each call.\n\n"
      "| asked | on an sm_90 | on an sm_80 | |\n|---|---|---|---|\n";
  for (const AnswerRow &row : rows) {
    llvm::SmallVector<llvm::StringRef> names;
    llvm::SplitString(row.names, names, " ");
    std::string asked;
    for (llvm::StringRef name : names) {
      asked += (asked.empty() ? "`" : ", `") + name.str() + "`";
    }
    std::string on90 = row.answer(HostTarget{9, 0}).repr();
    std::string on80 = row.answer(HostTarget{8, 0}).repr();
    out += "| " + asked + " | `" + on90 + "` | " +
           (on80 == on90 ? "the same" : "`" + on80 + "`") + " | " +
           row.meaning + " |\n";
  }
  out +=
      "| `has_device_capability(C)` | whether C is at most 90, or (9, 0) | "
      "80, or (8, 0) | |\n"
      "| `os.environ`, `os.getenv()` | the environment of this process | "
      "the same | part of the source's hash |\n"
      "| `subprocess.run()` | nothing runs: `nvidia-smi` returns 0, tools of "
      "other vendors are not found | the same | its output is not known |\n"
      "| `hasattr(torch, X)` | false for other vendors' parts: npu, musa, mlu, "
      "hpu, gcu, corex and the like | the same | |\n"
      "| `ArgumentParser.parse_args()` | defaults: the program was started "
      "without options | the same | |\n"
      "| `importlib.util.find_spec()` | a true value for what `import` finds, "
      "else None | the same | |\n"
      "| `'X' in sys.modules` | as if all of Python's library, torch, triton "
      "and numpy was imported, and what files of the program import | "
      "the same | |\n"
      "| `shutil.which()` | None: nothing runs here | the same | |\n"
      "| `importlib.metadata.version()` | of torch and triton; others are "
      "not installed | the same | |\n"
      "| `import X` | Python's library, torch, triton, numpy and packaging "
      "exist; in a `try`, any other module whose file is not found does "
      "not | the same | |\n"
      "| `from X import tl` | of a module that is not found: `triton`, `tl`, "
      "`libdevice`, `tldevice`, `tl_extra_shim` mean Triton's own | the "
      "same | |\n"
      "\n"
      "## What host code may do\n\n"
      "Objects (Objects.cpp): a class of the program makes objects with "
      "`__new__`, `__init__`, methods, `classmethod`, `staticmethod`, "
      "`property`, `cached_property`, `__getattr__`, `super`, several bases, "
      "attributes that are assigned and deleted, also of the class, and "
      "`__call__`, `__len__`, `__bool__`, `__getitem__`, `__setitem__`, "
      "`__contains__`, `__iter__`, `__enter__`, `__exit__`, `__str__`, "
      "comparisons and `+ - * / // % | &`. Members of an `Enum` are objects "
      "with `name` and `value`; in a kernel each is its value. Dataclasses "
      "and named tuples are immutable. An object whose class derives from "
      "one of the host, has a metaclass, or cannot be initialised is unknown, "
      "and a message that needs it says why.\n\n"
      "Exceptions: a failure that Python has too goes to the `except` that "
      "names it. \"Unknown on this host\" is no Python exception: no handler "
      "runs for it.\n\n"
      "State: what functions assign through `global` is seen by functions, "
      "not by constants and kernels. Globals are evaluated when they are "
      "read: a call at module level that only changes the state of functions "
      "is not made.\n\n"
      "Files, while tuning decorators, heuristics and hooks are evaluated: "
      "`open` for reading below the folder of the outermost package (of a "
      "file in none: its own folder), at most 4 MB; `os.path`; `json`; `yaml` "
      "as PyYAML's safe loader has it, without tags, merge keys, dates and "
      "numbers to base 60. A compilation reads source files only.\n\n"
      "Code: `exec` and `eval` of a text in `globals()`: imports, assignments "
      "and expressions, at most 64 KB. `importlib.import_module`. Of Python's "
      "library also `argparse`, `queue`, `threading` (a thread runs where it "
      "is started), `functools`, `itertools`, `operator`, `copy`.\n\n"
      "All of it counts against the limits of docs/IRGen.md. Programs are "
      "not run, nothing is written, and no file outside of the program's "
      "folder is read.\n";
  return out;
}

} // namespace nereid::irgen
