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

std::optional<std::string> StageRecorder::overridden(const Stage &stage) const {
  const std::string &folder = knobs().overrideFrom;
  if (folder.empty()) {
    return std::nullopt;
  }
  Expected<std::string> file = readFile(pathIn(folder, stage));
  if (!file.ok()) {
    return std::nullopt;
  }
  return *file;
}

} // namespace nereid
