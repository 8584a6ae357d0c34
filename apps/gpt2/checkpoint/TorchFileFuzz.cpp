//===- TorchFileFuzz.cpp - Any file of torch.save at all ------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A file gives plain values and tensors whose elements can all be looked at, or
// an error with a message. Input whose first byte is even stands for a whole
// zip; after an odd one comes a pickle, which is put into a zip with storages
// of 64 bytes, so that most of what is tried reaches the pickle's machine.
//
//===----------------------------------------------------------------------===//

#include "apps/gpt2/checkpoint/NanoGpt.h"
#include "apps/gpt2/checkpoint/TorchFile.h"
#include "apps/gpt2/checkpoint/TorchTesting.h"
#include "nereid/Weights/Testing.h"

#include <sys/mman.h>
#include <unistd.h>

using namespace nereid;
using namespace nereid::gpt2;

static void require(bool condition) {
  if (!condition) {
    std::abort();
  }
}

template <typename Call>
static void survive(Call call) {
  try {
    call();
  } catch (const Error &error) {
    require(error.code() != ErrorCode::Internal && *error.what());
  }
}

static void look(TorchFile &file, const PickleValue &value) {
  survive([&] {
    Tensor tensor = file.tensor(value);
    if (tensor.defined()) {
      tensor.toFloat64();
    }
  });
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string content(reinterpret_cast<const char *>(data), size);
  bool isPickle = size > 0 && content[0] % 2 != 0;
  content.erase(0, 1);
  if (isPickle) {
    content = torchZip(content, {{"0", std::string(64, '\x3f')},
                                 {"1", std::string(64, '\0')}});
  }
  int fd = ::memfd_create("fuzz", MFD_CLOEXEC);
  require(::write(fd, content.data(), content.size()) ==
          ssize_t(content.size()));
  std::string path = "/proc/self/fd/" + std::to_string(fd);
  survive([&] {
    TorchFile file(path);
    // Every value of a dictionary, and of those in it.
    for (const PickleValue *one : file.value().items) {
      for (const PickleValue *part : one->items) {
        look(file, *part);
      }
      look(file, *one);
    }
  });
  survive([&] { loadNanoGpt(path); });
  ::close(fd);
  return 0;
}
