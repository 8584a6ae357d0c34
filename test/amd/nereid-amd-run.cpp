//===- nereid-amd-run.cpp - A code object on the simulated GPU ------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   nereid-amd-run decode FILE
//       every instruction: address, bytes, text
//   nereid-amd-run run FILE KERNEL GRID THREADS [OPTION...] ARGUMENT...
//       GRID and THREADS are up to three numbers with commas between.
//       An argument is i32:7, i64:7, f32:0.5 or file:PATH, an array that is
//       read from PATH and written back. Options: --seed N, --most N
//       (instructions of a wave), --no-races, --workers N, --trace PATH: what
//       is executed, a line each: "g" (a workgroup begins), "i WAVE ADDRESS",
//       "s" (LDS) or "m" (memory) with "WAVE ADDRESS BYTES r|w|a"; --counts
//       prints what each instruction that touched memory did, as JSON.
//
// Exit status 0; 1 for a fault, with its text; 2 for a wrong command line or
// file.
//
//===----------------------------------------------------------------------===//

#include "nereid/Sim/AMD/Counts/Profile.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>

using namespace nereid;
using namespace nereid::sim;

static std::optional<std::vector<uint8_t>> readFile(const std::string &path) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream) {
    return std::nullopt;
  }
  return std::vector<uint8_t>(std::istreambuf_iterator<char>(stream), {});
}

static int complain(const std::string &text) {
  std::fprintf(stderr, "nereid-amd-run: %s\n", text.c_str());
  return 2;
}

static std::array<uint32_t, 3> readSizes(const char *text) {
  std::array<uint32_t, 3> sizes = {1, 1, 1};
  for (uint32_t &size : sizes) {
    char *end;
    size = uint32_t(std::strtoul(text, &end, 10));
    if (*end != ',') {
      break;
    }
    text = end + 1;
  }
  return sizes;
}

namespace {
/// The arguments, and the arrays that they point to.
struct Arguments {
  std::vector<unsigned char> bytes;
  struct FreeArray {
    void operator()(void *array) const { std::free(array); }
  };
  struct Array {
    std::string path;
    size_t bytes;
    std::unique_ptr<uint8_t, FreeArray> data;
  };
  std::vector<Array> arrays;
  Allocations memory;

  void add(const void *value, size_t size) {
    bytes.resize((bytes.size() + size - 1) / size * size);
    const auto *from = static_cast<const unsigned char *>(value);
    bytes.insert(bytes.end(), from, from + size);
  }

  bool add(const std::string &text) {
    std::string kind = text.substr(0, text.find(':')),
                value = text.substr(std::min(text.size(), kind.size() + 1));
    if (kind == "i32") {
      auto number = int32_t(std::strtoll(value.c_str(), nullptr, 0));
      add(&number, sizeof(number));
    } else if (kind == "i64") {
      auto number = int64_t(std::strtoll(value.c_str(), nullptr, 0));
      add(&number, sizeof(number));
    } else if (kind == "f32") {
      float number = std::strtof(value.c_str(), nullptr);
      add(&number, sizeof(number));
    } else if (kind == "file") {
      auto content = readFile(value);
      if (!content) {
        return false;
      }
      // Where arrays of a device begin, so that requests are the same.
      constexpr size_t alignment = 512;
      size_t whole = (content->size() / alignment + 1) * alignment;
      auto *data = static_cast<uint8_t *>(std::aligned_alloc(alignment, whole));
      std::memcpy(data, content->data(), content->size());
      arrays.push_back(
          {value, content->size(), std::unique_ptr<uint8_t, FreeArray>(data)});
      auto address = reinterpret_cast<uint64_t>(data);
      memory.add(address, content->size());
      add(&address, sizeof(address));
    } else {
      return false;
    }
    return true;
  }
};

/// To a file.
class WrittenTrace : public amd::Trace {
public:
  explicit WrittenTrace(const std::string &path) : stream(path) {}
  void begin() override { stream << "g\n"; }
  void executes(unsigned wave, uint64_t address) override {
    stream << "i " << wave << ' ' << address << '\n';
  }
  void accesses(unsigned wave, bool isShared, uint64_t address, uint32_t bytes,
                amd::Access access) override {
    stream << (isShared ? "s " : "m ") << wave << ' ' << address << ' ' << bytes
           << ' ' << "rwa"[unsigned(access)] << '\n';
  }

private:
  std::ofstream stream;
};
} // namespace

static void printCounts(const amd::Program &program, const amd::Kernel &kernel,
                        const amd::Profile &profile) {
  std::printf("{\"vgprs\": %u, \"agprs\": %u, \"sgprs\": %u, \"lds\": %u, "
              "\"scratch\": %u, \"accesses\": [",
              kernel.vectorRegisters, kernel.accumulationRegisters,
              kernel.scalarRegisters, kernel.sharedBytes, kernel.privateBytes);
  std::vector<amd::Line> lines = amd::disassemble(program);
  const char *between = "";
  for (size_t i = 0; i < lines.size(); ++i) {
    const amd::Counts &one = profile.counts[i];
    auto number = [](uint64_t of) {
      return static_cast<unsigned long long>(of);
    };
    if (one.requests || one.sharedRequests) {
      std::printf("%s\n{\"text\": \"%s\", \"requests\": %llu, "
                  "\"shared_requests\": %llu, \"bytes\": %llu, "
                  "\"requests_64\": %llu, \"requests_128\": %llu, "
                  "\"passes\": %llu, \"least_passes\": %llu}",
                  between, lines[i].text.c_str(), number(one.requests),
                  number(one.sharedRequests), number(one.bytes),
                  number(one.halfLines), number(one.lines), number(one.passes),
                  number(one.leastPasses));
      between = ",";
    }
  }
  std::printf("]}\n");
}

static int run(const amd::Program &program, int count, char **words) {
  constexpr int needed = 3;
  if (count < needed) {
    return complain("expected KERNEL GRID THREADS");
  }
  const amd::Kernel *kernel = amd::findKernel(program, words[0]);
  if (!kernel) {
    return complain(std::string("no kernel ") + words[0]);
  }
  Arguments arguments;
  amd::LaunchRequest request{program, *kernel, arguments.memory,
                             readSizes(words[1]), readSizes(words[2])};
  std::optional<WrittenTrace> trace;
  amd::Profile profile;
  for (int i = needed; i < count; ++i) {
    std::string word = words[i];
    auto number = [&] {
      return i + 1 < count ? std::strtoull(words[++i], nullptr, 10) : 0;
    };
    if (word == "--seed") {
      request.seed = number();
    } else if (word == "--most") {
      request.mostInstructions = number();
    } else if (word == "--workers") {
      request.workers = unsigned(number());
    } else if (word == "--trace" && i + 1 < count) {
      trace.emplace(words[++i]);
      request.trace = &*trace;
    } else if (word == "--counts") {
      request.profile = &profile;
    } else if (word == "--no-races") {
      request.checksRaces = false;
    } else if (!arguments.add(word)) {
      return complain("expected i32:N, i64:N, f32:X or file:PATH, got " + word);
    }
  }
  if (trace) {
    request.workers = 1;
  }
  request.arguments = arguments.bytes;
  Status status = amd::launch(request);
  if (!status.ok()) {
    std::fprintf(stderr, "%s\n", status.failure().message.c_str());
    return 1;
  }
  if (request.profile) {
    printCounts(program, *kernel, profile);
  }
  for (const Arguments::Array &array : arguments.arrays) {
    std::ofstream stream(array.path, std::ios::binary);
    stream.write(reinterpret_cast<const char *>(array.data.get()),
                 std::streamsize(array.bytes));
  }
  return 0;
}

int main(int argc, char **argv) {
  constexpr int needed = 3;
  if (argc < needed) {
    return complain("expected decode FILE or run FILE KERNEL GRID THREADS ...");
  }
  auto object = readFile(argv[2]);
  if (!object) {
    return complain(std::string("cannot read ") + argv[2]);
  }
  auto program = amd::load(*object);
  if (!program.ok()) {
    return complain(program.failure().message);
  }
  if (std::strcmp(argv[1], "run") == 0) {
    return run(**program, argc - needed, argv + needed);
  }
  for (const amd::Line &line : amd::disassemble(**program)) {
    std::printf("%llx %u %s\n", static_cast<unsigned long long>(line.address),
                line.bytes, line.text.c_str());
  }
  return 0;
}
