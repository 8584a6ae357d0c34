//===- MeetingFile.h - Where processes of one machine meet -----*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_APPS_GPT2_DISTRIBUTED_MEETINGFILE_H
#define NEREID_APPS_GPT2_DISTRIBUTED_MEETINGFILE_H

#include <string>

namespace nereid::gpt2 {

/// A file that only this user can read or could have written: the port at which
/// process 0 listens, and a secret.
class MeetingFile {
public:
  /// No name: there is no such file.
  explicit MeetingFile(std::string name) : name(std::move(name)) {}
  /// Removes what it has written.
  ~MeetingFile();
  MeetingFile(const MeetingFile &) = delete;
  MeetingFile &operator=(const MeetingFile &) = delete;

  bool isNamed() const { return !name.empty(); }
  /// Throws IoError.
  void write(int port, const std::string &secret);
  /// The port; 0 where there is no such file yet.
  int read(std::string &secret) const;

private:
  std::string name;
  bool isOurs = false;
};

} // namespace nereid::gpt2

#endif // NEREID_APPS_GPT2_DISTRIBUTED_MEETINGFILE_H
