//===- Files.h - Reading and writing whole files ----------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_SUPPORT_FILES_H
#define NEREID_SUPPORT_FILES_H

#include "nereid/ABI/Status.h"

#include <string>
#include <string_view>

namespace nereid {

/// The whole file. NotFound when there is none, IoError otherwise; messages
/// name the path and the system's reason.
Expected<std::string> readFile(const std::string &path);

/// Writes to a temporary name in the same folder and renames it: a reader
/// sees the old content or all of the new one, never a part, also when the
/// process is killed. Not flushed to the disk: a power failure may leave an
/// empty file. What exists and is no regular file (/dev/stdout) is written to
/// directly.
Status writeFileAtomically(const std::string &path, std::string_view content);

/// The folder and its parents. A folder it makes has mode 0700; one that
/// exists must be a folder of this user that nobody else may write to, else
/// IoError.
Status makePrivateFolder(const std::string &path);

/// Names of temporary files start with this; what a killed process leaves
/// behind can be found by it.
inline constexpr std::string_view temporaryPrefix = ".tmp-";

} // namespace nereid

#endif // NEREID_SUPPORT_FILES_H
