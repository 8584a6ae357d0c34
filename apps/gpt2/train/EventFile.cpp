//===- EventFile.cpp --------------------------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "apps/gpt2/train/EventFile.h"

#include "nereid/Runtime/Error.h"

#include <bit>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <unistd.h>

using namespace nereid;
using namespace nereid::gpt2;

/// Of Castagnoli's polynomial, reflected.
static uint32_t crc32c(std::string_view bytes) {
  constexpr uint32_t polynomial = 0x82f63b78;
  uint32_t crc = ~uint32_t{0};
  for (char byte : bytes) {
    crc ^= uint8_t(byte);
    for (int bit = 0; bit < 8; ++bit) {
      crc = crc >> 1 ^ (crc & 1 ? polynomial : 0);
    }
  }
  return ~crc;
}

static uint32_t masked(uint32_t crc) {
  constexpr int turn = 17;
  constexpr uint32_t delta = 0xa282ead8;
  return std::rotl(crc, turn) + delta;
}

template <typename T>
static std::string bytesOf(T value) {
  return {reinterpret_cast<const char *>(&value), sizeof(T)};
}

static std::string varint(uint64_t value) {
  constexpr uint64_t more = 0x80;
  std::string text;
  for (; value >= more; value >>= 7) {
    text += char(value | more);
  }
  return text + char(value);
}

namespace {
/// What a field's number is shifted beside.
enum class Wire : uint64_t { Varint = 0, Double = 1, Bytes = 2, Float = 5 };
} // namespace

static std::string key(uint64_t field, Wire wire) {
  return varint(field << 3 | uint64_t(wire));
}

static std::string bytesField(uint64_t field, const std::string &bytes) {
  return key(field, Wire::Bytes) + varint(bytes.size()) + bytes;
}

static std::string eventOf(double seconds, int64_t step) {
  return key(1, Wire::Double) + bytesOf(seconds) + key(2, Wire::Varint) +
         varint(uint64_t(step));
}

EventFile::EventFile(std::string path, double seconds)
    : path(std::move(path)), file(std::fopen(this->path.c_str(), "w")) {
  if (!file) {
    raise({ErrorCode::IoError,
           "cannot write to " + this->path + ": " + std::strerror(errno),
           {}});
  }
  put(eventOf(seconds, 0) + bytesField(3, "brain.Event:2"));
}

void EventFile::write(
    double seconds, int64_t step,
    const std::vector<std::pair<std::string, double>> &scalars) {
  std::string summary;
  for (const auto &[tag, value] : scalars) {
    summary += bytesField(1, bytesField(1, tag) + key(2, Wire::Float) +
                                 bytesOf(float(value)));
  }
  put(eventOf(seconds, step) + bytesField(5, summary));
}

void EventFile::put(const std::string &event) {
  std::string length = bytesOf(uint64_t(event.size()));
  std::string record = length + bytesOf(masked(crc32c(length))) + event +
                       bytesOf(masked(crc32c(event)));
  if (std::fwrite(record.data(), 1, record.size(), file.get()) !=
          record.size() ||
      std::fflush(file.get()) != 0) {
    raise({ErrorCode::IoError,
           "cannot write to " + path + ": " + std::strerror(errno),
           {}});
  }
}

std::string gpt2::eventFileName(double seconds) {
  char host[256] = "host";
  ::gethostname(host, sizeof(host) - 1);
  return "events.out.tfevents." + std::to_string(int64_t(seconds)) + "." +
         host + "." + std::to_string(::getpid());
}
