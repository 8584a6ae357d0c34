//===- ExternalProvider.cpp - Code of others, beside a kernel -------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ExternalProvider.h"

#include "nereid/Bench/provider.h"
#include "nereid/Runtime/Stream.h"
#include "nereid/Runtime/device/ThreadPool.h"
#include "nereid/Runtime/gpu/GpuDevice.h"
#include "nereid/Support/Files.h"

#include <csignal>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace nereid {

ExternalValues::ExternalValues(const BenchPlan &plan, PointArrays &of) {
  auto add = [&](const std::string &name,
                 const std::variant<std::string, StaticValue> &value) {
    if (auto *key = std::get_if<std::string>(&value)) {
      arrays.emplace(name, *key);
    } else {
      numbers.emplace(name, std::get<StaticValue>(value));
    }
  };
  for (const std::string &text : plan.arrays) {
    std::string name = splitArgument(text).name;
    add(name, name);
  }
  for (const std::string &text : plan.providers[0].launches[0].arguments) {
    NamedText argument = splitArgument(text);
    add(argument.name, of.argument(argument));
  }
  for (const auto &[name, value] : of.values) {
    if (std::optional<StaticValue> number = parseValue(value)) {
      numbers.emplace(name, *number);
    }
  }
}

//===----------------------------------------------------------------------===//
// A shared library
//===----------------------------------------------------------------------===//

LibraryProvider::LibraryProvider(const ExternalText &text,
                                 const ExternalValues &values,
                                 PointArrays &arrays)
    : what(text.what), values(values), arrays(arrays) {}

void LibraryProvider::load() {
  size_t colon = what.rfind(':');
  if (colon == std::string::npos) {
    raise({ErrorCode::InvalidArgument,
           "--against lib:" + what + ": expected lib:FILE:FUNCTION",
           {}});
  }
  std::string file = what.substr(0, colon), name = what.substr(colon + 1);
  // A plain name would be looked for in the system's folders.
  if (file.find('/') == std::string::npos) {
    file = "./" + file;
  }
  void *library = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  function = library ? ::dlsym(library, name.c_str()) : nullptr;
  if (!function) {
    const char *why = ::dlerror();
    raise({ErrorCode::NotFound,
           "--against lib:" + what + ": " + (why ? why : "no such function"),
           {}});
  }
}

static NereidType typeOf(DType type) {
  switch (type) {
  case f64:
    return NEREID_FP64;
  case f32:
    return NEREID_FP32;
  case f16:
    return NEREID_FP16;
  case bf16:
    return NEREID_BF16;
  case fp8e4nv:
    return NEREID_FP8E4NV;
  case fp8e5:
    return NEREID_FP8E5;
  case i64:
    return NEREID_INT64;
  case i32:
    return NEREID_INT32;
  case i16:
    return NEREID_INT16;
  case i8:
    return NEREID_INT8;
  case u8:
    return NEREID_UINT8;
  case i1:
    return NEREID_BOOL;
  default:
    return NEREID_OTHER;
  }
}

static std::optional<NereidNumber> numberOf(const std::string &name,
                                            const StaticValue &value) {
  if (auto *integer = std::get_if<int64_t>(&value.value)) {
    return NereidNumber{name.c_str(), *integer, double(*integer)};
  }
  if (auto *real = std::get_if<double>(&value.value)) {
    return NereidNumber{name.c_str(), int64_t(*real), *real};
  }
  if (auto *truth = std::get_if<bool>(&value.value)) {
    return NereidNumber{name.c_str(), *truth, double(*truth)};
  }
  return std::nullopt;
}

void LibraryProvider::run(size_t turn) {
  if (!function) {
    load();
  }
  size_t set = turn % arrays.sets();
  std::vector<Shape> shapes;
  std::vector<NereidArray> all;
  shapes.reserve(values.arrays.size());
  for (const auto &[name, key] : values.arrays) {
    const Tensor &tensor = arrays.get(key, set);
    shapes.push_back(tensor.shape());
    all.push_back({name.c_str(), const_cast<void *>(tensor.data()),
                   typeOf(tensor.dtype()), int(shapes.back().size()),
                   shapes.back().data()});
  }
  std::vector<NereidNumber> numbers;
  for (const auto &[name, value] : values.numbers) {
    if (auto number = numberOf(name, value)) {
      numbers.push_back(*number);
    }
  }
  bool isHost = arrays.device.isHost();
  NereidCall call{NEREID_PROVIDER_VERSION,
                  all.data(),
                  int(all.size()),
                  numbers.data(),
                  int(numbers.size()),
                  isHost ? -1 : int(arrays.device.index()),
                  isHost ? nullptr : Stream::current(arrays.device).handle()};
  int status = reinterpret_cast<NereidProvider>(function)(&call);
  if (status != 0) {
    raise({ErrorCode::KernelFault,
           "lib:" + what + " has returned status " + std::to_string(status) +
               "; expected 0",
           {}});
  }
}

//===----------------------------------------------------------------------===//
// Python
//===----------------------------------------------------------------------===//

static const char *script() {
  static const std::pair<const char *, const char *> sources[] = {
#include "ProviderSources.inc"
  };
  return sources[0].second;
}

namespace {

/// Files that a child reads and writes, gone with it. A lock on one of them
/// says that the folder is in use: where a process was killed, the next one
/// finds it without, and removes it.
class ExchangeFolder {
public:
  /// In memory, where twice `bytes` fit there.
  explicit ExchangeFolder(uint64_t bytes) {
    namespace fs = std::filesystem;
    std::error_code error;
    std::string other = fs::temp_directory_path(error).string();
    for (const std::string &base : {std::string("/dev/shm"), other}) {
      removeStale(base);
    }
    auto space = fs::space("/dev/shm", error);
    bool fits = !error && space.available / 2 > bytes;
    for (const std::string &base :
         {std::string(fits ? "/dev/shm" : ""), other}) {
      // Before it is locked, another process may take it for a stale one.
      for (int attempt = 0; !base.empty() && attempt < 100; ++attempt) {
        path = base + "/" + prefix + "XXXXXX";
        if (!::mkdtemp(path.data())) {
          break;
        }
        lock =
            ::open(file(lockName).c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600);
        if (isOwn()) {
          return;
        }
        if (lock >= 0) {
          ::close(lock);
        }
        fs::remove_all(path, error);
      }
    }
    raise({ErrorCode::IoError,
           "cannot make a folder in /dev/shm or the temporary folder; TMPDIR "
           "names another",
           {}});
  }
  ~ExchangeFolder() {
    std::error_code error;
    std::filesystem::remove_all(path, error);
    ::close(lock);
  }
  ExchangeFolder(const ExchangeFolder &) = delete;
  std::string file(const std::string &name) const { return path + "/" + name; }

private:
  /// The lock is held, and still the folder's file.
  bool isOwn() const {
    struct stat held = {}, there = {};
    return lock >= 0 && ::flock(lock, LOCK_EX | LOCK_NB) == 0 &&
           ::fstat(lock, &held) == 0 &&
           ::stat(file(lockName).c_str(), &there) == 0 &&
           held.st_dev == there.st_dev && held.st_ino == there.st_ino;
  }

  static constexpr const char *prefix = "nereid-provider-", *lockName = "lock";

  /// This user's folders with a lock that no process holds.
  static void removeStale(const std::string &base) {
    namespace fs = std::filesystem;
    std::error_code error;
    if (base.empty()) {
      return;
    }
    std::vector<fs::path> found;
    for (fs::directory_iterator at(base, error), end; !error && at != end;
         at.increment(error)) {
      if (at->path().filename().string().starts_with(prefix)) {
        found.push_back(at->path());
      }
    }
    for (const fs::path &folder : found) {
      struct stat of = {};
      bool isOurs = ::lstat(folder.c_str(), &of) == 0 && S_ISDIR(of.st_mode) &&
                    of.st_uid == ::geteuid();
      int held = isOurs ? ::open((folder / lockName).c_str(),
                                 O_RDWR | O_CLOEXEC | O_NOFOLLOW)
                        : -1;
      if (held >= 0 && ::flock(held, LOCK_EX | LOCK_NB) == 0) {
        fs::remove_all(folder, error);
      }
      if (held >= 0) {
        ::close(held);
      }
    }
  }

  std::string path;
  int lock = -1;
};

} // namespace

/// As PyTorch calls it.
static std::string torchName(DType type) {
  switch (type) {
  case f64:
    return "float64";
  case f32:
    return "float32";
  case f16:
    return "float16";
  case bf16:
    return "bfloat16";
  case fp8e4nv:
    return "float8_e4m3fn";
  case fp8e5:
    return "float8_e5m2";
  case i1:
    return "bool";
  default:
    return (isSigned(type) ? "int" : "uint") +
           std::to_string(8 * byteSize(type));
  }
}

static nlohmann::json jsonOf(const StaticValue &value) {
  return std::visit(
      []<typename T>(const T &v) -> nlohmann::json {
        constexpr bool isPlain =
            std::is_same_v<T, bool> || std::is_same_v<T, int64_t> ||
            std::is_same_v<T, uint64_t> || std::is_same_v<T, double> ||
            std::is_same_v<T, std::string>;
        if constexpr (isPlain) {
          return v;
        } else {
          return nullptr;
        }
      },
      value.value);
}

PythonProcess::PythonProcess(const std::string &python) : python(python) {
  int in[2], out[2];
  if (::pipe2(in, O_CLOEXEC) != 0) {
    raise({ErrorCode::IoError, "cannot make a pipe", {}});
  }
  if (::pipe2(out, O_CLOEXEC) != 0) {
    ::close(in[0]);
    ::close(in[1]);
    raise({ErrorCode::IoError, "cannot make a pipe", {}});
  }
  pid_t parent = ::getpid();
  child = ::fork();
  if (child == 0) {
    // It ends with this process, however that ends.
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) {
      ::_exit(0);
    }
    ::dup2(in[0], 0);
    ::dup2(out[1], 1);
    ::execlp(python.c_str(), python.c_str(), "-c", script(), nullptr);
    ::_exit(127);
  }
  ::close(in[0]);
  ::close(out[1]);
  to = in[1];
  from = out[0];
  if (child < 0) {
    ::close(to);
    ::close(from);
    raise({ErrorCode::IoError, "cannot start a process", {}});
  }
}

/// The end of its input is the end of the script.
PythonProcess::~PythonProcess() {
  ::close(to);
  ::close(from);
  while (child > 0 && ::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
}

std::string PythonProcess::ask(const std::string &request) {
  std::string line = request + "\n", reply;
  (void)writeDescriptor(to, line, "the provider's script").ok();
  char buffer[4096];
  // Processes that the function started may keep the pipe open.
  while (reply.find('\n') == std::string::npos) {
    ssize_t count = ::read(from, buffer, sizeof(buffer));
    if (count > 0) {
      reply.append(buffer, size_t(count));
    } else if (count == 0 || errno != EINTR) {
      int status = 0;
      while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
      }
      child = -1;
      if (WIFEXITED(status) && WEXITSTATUS(status) == 127) {
        raise({ErrorCode::NotFound,
               "--python: '" + python + "' is no program that can be run",
               {}});
      }
      break;
    }
  }
  return reply;
}

PythonProvider::PythonProvider(const ExternalText &text,
                               const BenchOptions &options,
                               std::unique_ptr<PythonProcess> &process)
    : text(text), options(options), process(process) {}

PythonProvider::Answer
PythonProvider::measure(const std::string &name, const ExternalValues &values,
                        const PointArrays &arrays,
                        const std::vector<std::string> &written,
                        int64_t mostCompared) const {
  using Json = nlohmann::json;
  uint64_t bytes = 0;
  for (const auto &[called, key] : values.arrays) {
    bytes += uint64_t(arrays.get(key).bytes());
  }
  ExchangeFolder folder(bytes);
  std::map<std::string, std::string> files; // by key
  Json given = Json::array();
  for (const auto &[called, key] : values.arrays) {
    const Tensor &tensor = arrays.get(key);
    auto [file, isNew] =
        files.try_emplace(key, folder.file(std::to_string(files.size())));
    if (isNew) {
      Tensor here = tensor.to(Device::cpu());
      throwIfFailed(writeFileAtomically(
          file->second,
          {static_cast<const char *>(here.data()), size_t(here.bytes())}));
    }
    given.push_back({{"name", called},
                     {"file", file->second},
                     {"dtype", torchName(tensor.dtype())},
                     {"shape", std::vector<int64_t>(tensor.shape().begin(),
                                                    tensor.shape().end())}});
  }
  Json numbers = Json::object(), arguments = Json::array(),
       names = Json::array(), results = Json::array();
  for (const auto &[called, value] : values.numbers) {
    numbers[called] = jsonOf(value);
  }
  for (const NamedText &argument : text.arguments) {
    arguments.push_back(
        {argument.name, substitute(argument.value, arrays.values)});
  }
  for (const std::string &key : written) {
    for (const auto &[called, own] : values.arrays) {
      if (own == key) {
        names.push_back(called);
        results.push_back(folder.file("r" + std::to_string(results.size())));
        break;
      }
    }
  }
  Device device = arrays.device;
  bench::MeasureOptions usual;
  Json request = {{"kind", text.kind},
                  {"what", text.what},
                  {"device", device.isHost() ? "cpu" : device.str()},
                  {"arrays", given},
                  {"numbers", numbers},
                  {"arguments", arguments},
                  {"options", Json::object()},
                  {"grid", substitute(text.grid, arrays.values)},
                  {"written", names},
                  {"results", results},
                  {"most_compared", mostCompared},
                  {"seconds", options.seconds},
                  {"least_samples", usual.leastSamples},
                  {"most_samples", usual.mostSamples},
                  {"cold", !options.isWarm},
                  {"flush_bytes", bench::flushedBytes(device, usual.machine)},
                  {"threads", numThreads()}};
  Answer answer;
  answer.times.name = name;
  answer.times.isCold = !options.isWarm;
  std::unique_ptr<PythonProcess> used = std::move(process);
  if (!used) {
    used = std::make_unique<PythonProcess>(options.python);
  }
  Json reply = Json::parse(
      used->ask(request.dump(-1, ' ', false, Json::error_handler_t::replace)),
      nullptr, false);
  if (!reply.is_object() || reply.contains("failure")) {
    answer.times.failure = Failure{
        ErrorCode::KernelFault,
        text.kind + ":" + text.what + ": " +
            (reply.is_object() ? reply["failure"].get<std::string>()
                               : "its process has ended without an answer"),
        {}};
    return answer;
  }
  process = std::move(used);
  answer.times.ms =
      bench::summarize(reply["samples"].get<std::vector<double>>());
  answer.times.runs = reply["runs"];
  for (const Json &file : results) {
    Expected<std::string> bytes = readFile(file.get<std::string>(), UINT64_MAX);
    throwIfFailed(bytes.status());
    std::vector<double> some(bytes->size() / sizeof(double));
    std::memcpy(some.data(), bytes->data(), some.size() * sizeof(double));
    answer.results.insert(answer.results.end(), some.begin(), some.end());
  }
  return answer;
}

} // namespace nereid
