//===- MeetingFile.cpp - Where processes of one machine meet --------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "apps/gpt2/distributed/MeetingFile.h"

#include "apps/gpt2/distributed/Socket.h"

#include "nereid/Runtime/Error.h"

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace nereid;
using namespace nereid::gpt2;

MeetingFile::~MeetingFile() {
  if (isOurs) {
    unlink(name.c_str());
  }
}

void MeetingFile::write(int port, const std::string &secret) {
  std::string beside = name + "." + std::to_string(getpid()),
              text = std::to_string(port) + " " + secret + "\n";
  unlink(beside.c_str());
  constexpr mode_t ofOwner = 0600;
  Socket file(open(beside.c_str(),
                   O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                   ofOwner));
  if (!file.isOpen() ||
      ::write(file.get(), text.data(), text.size()) != ssize_t(text.size()) ||
      std::rename(beside.c_str(), name.c_str()) != 0) {
    std::string why = std::strerror(errno);
    unlink(beside.c_str());
    raise({ErrorCode::IoError,
           "cannot write " + name +
               ", by which the processes find each other: " + why +
               "; hint: set TMPDIR or MASTER_ADDR",
           {}});
  }
  isOurs = true;
}

int MeetingFile::read(std::string &secret) const {
  Socket file(
      open(name.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
  struct stat status = {};
  char text[256];
  if (!file.isOpen() || fstat(file.get(), &status) != 0 ||
      !S_ISREG(status.st_mode) || status.st_uid != geteuid()) {
    return 0;
  }
  ssize_t got = ::read(file.get(), text, sizeof(text));
  int port = 0;
  if (got <= 0 || text[got - 1] != '\n') {
    return 0;
  }
  const char *end = text + got - 1;
  auto [at, error] = std::from_chars(text, end, port);
  constexpr int mostPort = 65535;
  if (error != std::errc() || at == end || *at != ' ' || port < 1 ||
      port > mostPort) {
    return 0;
  }
  secret.assign(at + 1, end);
  return port;
}
