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

StageRecorder::StageRecorder(std::string folder, std::string emit)
    : folder(std::move(folder)), emit(std::move(emit)) {}

bool StageRecorder::wants(const Stage &stage) const {
  return emit == stage.name || (!stage.isOnDemand && !knobs().dump.empty());
}

void StageRecorder::record(const Stage &stage, const std::string &stageText) {
  if (emit == stage.name) {
    text = stageText;
    done = true;
  }
  const std::string &dump = knobs().dump;
  if (dump.empty()) {
    return;
  }
  Status status = makePrivateFolder(dump);
  std::string own = dump + "/" + folder;
  if (status.ok()) {
    status = makePrivateFolder(own);
  }
  if (status.ok()) {
    status = writeFileAtomically(own + "/" + stage.file, stageText);
  }
  if (!status.ok()) {
    warnOnce("NEREID_DUMP: " + status.failure().message);
  }
}

Expected<std::optional<EditedStage>>
StageRecorder::takeEdited(const Stage &stage,
                          llvm::function_ref<std::string()> own) {
  std::optional<EditedStage> none;
  const std::string &from = knobs().overrideFrom;
  if (from.empty() || isRestarted) {
    return none;
  }
  std::error_code ignored; // a name that is too long, say
  if (!std::filesystem::is_directory(from, ignored)) {
    return {ErrorCode::NotFound,
            "NEREID_OVERRIDE: expected a folder of stage files, got '" + from +
                "'"};
  }
  std::string path = from + "/" + folder + "/" + stage.file;
  Expected<std::string> file = readFile(path);
  if (!file.ok()) {
    if (file.failure().code == ErrorCode::NotFound) {
      return none;
    }
    return {file.failure().code, "NEREID_OVERRIDE: " + file.failure().message};
  }
  if (*file == own()) {
    return none;
  }
  isRestarted = true;
  return std::optional(EditedStage{std::move(path), std::move(*file)});
}

} // namespace nereid
