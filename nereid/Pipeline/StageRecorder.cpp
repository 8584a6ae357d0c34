//===- StageRecorder.cpp - Times, dumps and overrides of stages ---===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Pipeline/StageRecorder.h"

#include "nereid/Support/Files.h"
#include "nereid/Support/Knobs.h"
#include "nereid/Support/Log.h"

#include <filesystem>

namespace nereid {

StageRecorder::StageRecorder(std::string kernel, std::string emit)
    : kernel(std::move(kernel)), emit(std::move(emit)) {}

std::string StageRecorder::pathIn(const std::string &folder,
                                  const Stage &stage) const {
  return folder + "/" + kernel + "." + stage.file;
}

bool StageRecorder::wants(const Stage &stage) const {
  return emit == stage.name || !knobs().dump.empty();
}

void StageRecorder::record(const Stage &stage, const std::string &stageText) {
  if (emit == stage.name) {
    text = stageText;
    done = true;
  }
  const std::string &folder = knobs().dump;
  if (folder.empty()) {
    return;
  }
  Status status = makePrivateFolder(folder);
  if (status.ok()) {
    status = writeFileAtomically(pathIn(folder, stage), stageText);
  }
  if (!status.ok()) {
    warnOnce("NEREID_DUMP: " + status.failure().message);
  }
}

Expected<std::optional<std::string>>
StageRecorder::overridden(const Stage &stage) const {
  const std::string &folder = knobs().overrideFrom;
  if (folder.empty()) {
    return std::optional<std::string>();
  }
  std::error_code ignored; // a name that is too long, say
  if (!std::filesystem::is_directory(folder, ignored)) {
    return {ErrorCode::NotFound,
            "NEREID_OVERRIDE: expected a folder of stage files, got '" +
                folder + "'"};
  }
  Expected<std::string> file = readFile(pathIn(folder, stage));
  if (!file.ok()) {
    if (file.failure().code == ErrorCode::NotFound) {
      return std::optional<std::string>();
    }
    return {file.failure().code, "NEREID_OVERRIDE: " + file.failure().message};
  }
  return std::optional(std::move(*file));
}

} // namespace nereid
