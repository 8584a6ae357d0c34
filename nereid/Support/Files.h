//===- Files.h - Reading and writing whole files ----------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_SUPPORT_FILES_H
#define NEREID_SUPPORT_FILES_H

#include "nereid/ABI/Status.h"

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace nereid {

/// What a source or another text may hold: far above any that a person wrote,
/// and small enough to be taken apart.
inline constexpr uint64_t mostTextBytes = uint64_t{64} << 20;

/// A regular file or a pipe, open for reading. Folders, devices, and pipes
/// without a writer, are refused: a read of them fails, never ends, or waits
/// for ever.
class InputFile {
public:
  /// NotFound when there is none, IoError otherwise; messages name the path
  /// and the reason.
  static Expected<InputFile> open(const std::string &path);
  InputFile(InputFile &&other) noexcept;
  InputFile(const InputFile &) = delete;
  InputFile &operator=(const InputFile &) = delete;
  ~InputFile();

  /// Bytes of the file; nothing for a pipe, and for files of the system that
  /// are made while they are read.
  std::optional<uint64_t> size() const { return size_; }
  /// Reads up to `bytes`; fewer only at the end.
  Expected<size_t> read(void *to, size_t bytes);

private:
  InputFile(std::string path, int fd) : path(std::move(path)), fd(fd) {}

  std::string path;
  int fd;
  bool isPipe = false, begun = false;
  std::optional<uint64_t> size_;
};

/// The whole of an InputFile; IoError when it has more than `mostBytes`, before
/// any of it is read where its size is known.
Expected<std::string> readFile(const std::string &path,
                               uint64_t mostBytes = mostTextBytes);

/// From now on writeFileAtomically refuses what this process has read: for
/// commands, whose inputs and outputs are typed in one line.
void protectInputs();
/// The same for a file that is yet to be read, if there is one.
void protectInput(const std::string &path);
/// Whether the file was read since, or named.
bool isProtectedInput(const std::string &path);

/// Writes a file under a name that somebody chose. The content goes to a
/// temporary name in the same folder, which is then renamed: a reader sees the
/// old content or all of the new one, never a part, also when the process is
/// killed, and what cannot be written whole leaves the old content. A link is
/// followed, the mode is kept, a file without write permission is refused. Not
/// flushed to the disk: a power failure may leave an empty file. What is no
/// regular file (/dev/stdout, a pipe) is written to directly.
Status writeFileAtomically(const std::string &path,
                           std::span<const std::string_view> pieces);
Status writeFileAtomically(const std::string &path, std::string_view content);

/// The same for a name of our own: whatever has it is replaced, a link or a
/// pipe too.
Status replaceFile(const std::string &path, std::string_view content);

/// A file that is written in two steps, so that several appear together or not
/// at all.
class StagedFile {
public:
  /// Everything that can fail but the renaming.
  static Expected<StagedFile> stage(const std::string &path,
                                    std::span<const std::string_view> pieces);
  StagedFile(StagedFile &&other) noexcept;
  StagedFile(const StagedFile &) = delete;
  StagedFile &operator=(const StagedFile &) = delete;
  /// Removes what is not committed.
  ~StagedFile();
  Status commit();

private:
  StagedFile() = default;
  std::string path;      ///< as given: for messages
  std::string target;    ///< with links followed
  std::string temporary; ///< empty: none, or committed
  std::string direct;    ///< content of what is no regular file
};

/// What one command is going to write, known before it begins to work.
class OutputFiles {
public:
  /// Refused, with `option` in the message: an input, another output, a file
  /// or a folder that cannot be written to. Devices and pipes may be named
  /// twice.
  Status add(const std::string &option, const std::string &path);

private:
  std::map<std::string, std::string> options; ///< by identity
};

/// Writes to a descriptor, all of it. A reader that has gone and a limit on
/// file sizes are errors, not signals.
Status writeDescriptor(int fd, std::string_view content,
                       const std::string &name);

/// The folder and its parents. A folder it makes has mode 0700; one that
/// exists must be a folder of this user that no other user may write to, else
/// IoError.
Status makePrivateFolder(const std::string &path);

/// A new name in the folder of `path`, for what is renamed to `path` when it is
/// whole.
std::string temporaryNameFor(const std::string &path);

/// Is it such a name? The functions above begin files under one, and a killed
/// process leaves them behind.
bool isTemporaryName(std::string_view name);

} // namespace nereid

#endif // NEREID_SUPPORT_FILES_H
