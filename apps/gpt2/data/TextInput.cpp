//===- TextInput.cpp - Texts that prepare reads ---------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "apps/gpt2/data/TextInput.h"

#include "apps/gpt2/data/Utf8.h"

#include "nereid/Runtime/Error.h"
#include "nereid/Support/Files.h"
#include "nereid/Support/Log.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

namespace nereid::gpt2 {

struct TextInput::Storage {
  std::string read; ///< of a pipe
  void *mapped = nullptr;
  size_t bytes = 0;

  Storage() = default;
  Storage(const Storage &) = delete;
  ~Storage() {
    if (mapped) {
      ::munmap(mapped, bytes);
    }
  }
};

namespace {
/// Removed with the scope.
struct TemporaryFile {
  std::string path;
  ~TemporaryFile() { ::unlink(path.c_str()); }
};
} // namespace

static bool isUrl(const std::string &name) {
  return name.starts_with("http://") || name.starts_with("https://");
}

/// "ftp" of ftp://host/file.
static std::string schemeOf(const std::string &name) {
  size_t colon = name.find("://");
  bool isScheme =
      colon != std::string::npos && colon > 0 &&
      std::all_of(
          name.begin(), name.begin() + static_cast<ptrdiff_t>(colon),
          [](char c) { return std::isalpha(static_cast<unsigned char>(c)); });
  return isScheme ? name.substr(0, colon) : "";
}

static void fetch(const std::string &url, const std::string &to) {
  TemporaryFile log{to + ".log"};
  std::string words[] = {"curl",
                         "--fail",
                         "--location",
                         "--silent",
                         "--show-error",
                         "--proto-redir",
                         "=http,https",
                         "--stderr",
                         log.path,
                         "--output",
                         to,
                         "--",
                         url};
  std::vector<char *> arguments;
  for (std::string &word : words) {
    arguments.push_back(word.data());
  }
  arguments.push_back(nullptr);
  pid_t child;
  int reason = ::posix_spawnp(&child, "curl", nullptr, nullptr,
                              arguments.data(), environ);
  if (reason != 0) {
    raise({reason == ENOENT ? ErrorCode::NotFound : ErrorCode::IoError,
           "cannot fetch " + url + ": expected the program curl in PATH, got " +
               std::strerror(reason) +
               "; fetch the file with another program and give its path",
           {}});
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    Expected<std::string> said = readFile(log.path);
    std::string text = said.ok() ? *said : "";
    text.erase(text.find_last_not_of(" \n") + 1);
    raise({ErrorCode::IoError,
           "cannot fetch " + url + ": " +
               (text.empty() ? std::string("curl was ended by a signal")
                             : printable(text)),
           {}});
  }
}

static std::string readAll(const std::string &name) {
  InputFile file =
      valueOrThrow(InputFile::open(name == "-" ? "/dev/stdin" : name));
  std::string text;
  size_t used = 0;
  while (true) {
    text.resize(std::max<size_t>(used * 2, size_t{1} << 20));
    size_t got = valueOrThrow(file.read(&text[used], text.size() - used));
    used += got;
    if (used < text.size()) {
      text.resize(used);
      return text;
    }
  }
}

TextInput::TextInput(std::string name, const std::string &folder)
    : name_(std::move(name)), storage(std::make_unique<Storage>()) {
  std::optional<TemporaryFile> fetched;
  std::string path = name_;
  if (isUrl(name_)) {
    path = folder + "/fetched.partial";
    fetched.emplace(TemporaryFile{path});
    fetch(name_, path);
  }
  struct stat status;
  bool isThere = ::stat(path.c_str(), &status) == 0;
  if (std::string scheme = schemeOf(path); !scheme.empty() && !isThere) {
    raise({ErrorCode::InvalidArgument,
           name_ +
               ": expected a path, or an address of http:// or https://, got " +
               scheme + "://",
           {}});
  }
  if (path == "-" || (isThere && !S_ISREG(status.st_mode))) {
    storage->read = readAll(path);
  } else {
    int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    bool isOpen = fd >= 0 && ::fstat(fd, &status) == 0;
    if (isOpen && status.st_size > 0) {
      storage->bytes = static_cast<size_t>(status.st_size);
      void *at = ::mmap(nullptr, storage->bytes, PROT_READ, MAP_PRIVATE, fd, 0);
      storage->mapped = at == MAP_FAILED ? nullptr : at;
      isOpen = at != MAP_FAILED;
    }
    int reason = errno;
    if (fd >= 0) {
      ::close(fd);
    }
    if (!isOpen) {
      raise({reason == ENOENT ? ErrorCode::NotFound : ErrorCode::IoError,
             "cannot read " + name_ + ": " + std::strerror(reason),
             {}});
    }
  }
  if (text().empty()) {
    raise(
        {ErrorCode::IoError, name_ + ": expected text, got an empty file", {}});
  }
}

TextInput::TextInput(TextInput &&) noexcept = default;
TextInput::~TextInput() = default;

std::string_view TextInput::text() const {
  return storage->mapped
             ? std::string_view(static_cast<const char *>(storage->mapped),
                                storage->bytes)
             : std::string_view(storage->read);
}

std::string TextInput::placeOf(size_t offset) const {
  return placeInText(name_, text(), offset);
}

} // namespace nereid::gpt2
