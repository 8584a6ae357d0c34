//===- EventFile.h - Curves for TensorBoard ---------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A file of records: their length (u64, little-endian), the masked CRC-32C of
// these eight bytes, the bytes, and their masked CRC-32C. Each is an Event as
// protocol buffers write it: wall_time (1, double), step (2, varint), and
// file_version (3, text) or summary (5), whose values (1) have a tag (1) and a
// simple_value (2, float).
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_APPS_GPT2_TRAIN_EVENTFILE_H
#define NEREID_APPS_GPT2_TRAIN_EVENTFILE_H

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace nereid::gpt2 {

class EventFile {
public:
  /// Begins a file of this name. `seconds`: since 1970. Throws IoError.
  EventFile(std::string path, double seconds);

  /// Throws IoError.
  void write(double seconds, int64_t step,
             const std::vector<std::pair<std::string, double>> &scalars);

private:
  struct Close {
    void operator()(std::FILE *file) const { std::fclose(file); }
  };
  void put(const std::string &event);
  std::string path;
  std::unique_ptr<std::FILE, Close> file;
};

/// "events.out.tfevents.SECONDS.HOST.PROCESS", as TensorBoard looks for.
std::string eventFileName(double seconds);

} // namespace nereid::gpt2

#endif // NEREID_APPS_GPT2_TRAIN_EVENTFILE_H
