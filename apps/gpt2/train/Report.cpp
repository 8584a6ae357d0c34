//===- Report.cpp -----------------------------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "apps/gpt2/train/Report.h"

#include "nereid/Support/Log.h"

#include <cstdio>

using namespace nereid;
using namespace nereid::gpt2;

static std::string numberText(const char *format, double number) {
  char text[64];
  std::snprintf(text, sizeof(text), format, number);
  return text;
}

std::string gpt2::saidOfCheckpoint(int64_t step,
                                   std::optional<double> validation,
                                   std::optional<double> trained, bool isBest) {
  std::string text = "step " + std::to_string(step);
  if (validation) {
    text += ", validation loss " + numberText("%.4f", *validation);
  } else if (trained) {
    text += ", loss of the last batch " + numberText("%.4f", *trained);
  }
  return text + (isBest ? ", the best so far" : "");
}

std::string gpt2::durationText(double seconds) {
  auto whole = int64_t(seconds);
  if (whole >= 3600) {
    return std::to_string(whole / 3600) + " h " +
           std::to_string(whole % 3600 / 60) + " min";
  }
  if (whole >= 60) {
    return std::to_string(whole / 60) + " min " + std::to_string(whole % 60) +
           " s";
  }
  return numberText("%.1f s", seconds);
}

std::string gpt2::noteText(const std::string &note) {
  return "note: " + printable(note) + "\n";
}

std::string gpt2::settingsTable(const Options &options) {
  constexpr size_t indent = 11, width = 110;
  std::string text, line, group;
  auto flush = [&] {
    if (!line.empty()) {
      text += line + "\n";
    }
  };
  for (const OptionRow &row : optionRows()) {
    std::string value = printable(optionText(options, row.name));
    if (row.group == "sampling" || value.empty()) {
      continue;
    }
    std::string word = row.name + "=" + value;
    if (row.group != group) {
      flush();
      group = row.group;
      line = group + std::string(indent - group.size(), ' ') + word;
    } else if (line.size() + word.size() + 2 > width) {
      text += line + ",\n";
      line = std::string(indent, ' ') + word;
    } else {
      line += ", " + word;
    }
  }
  flush();
  return text;
}

std::string gpt2::summaryOf(const RunEnd &end) {
  std::string text = std::to_string(end.step - end.first) + " steps, to step " +
                     std::to_string(end.step) + ", in " +
                     durationText(end.seconds);
  if (end.bestLoss) {
    text += "; best validation loss " + numberText("%.4f", *end.bestLoss) +
            ", at step " + std::to_string(end.bestStep);
  }
  if (end.skipped) {
    text += "; outliers skipped: " + std::to_string(end.skipped);
  }
  text += "\n";
  if (end.hasCheckpoint) {
    text +=
        "checkpoints in " + end.outDir +
        "; texts: nereid-gpt2 sample --out_dir=" + end.outDir +
        "; on: nereid-gpt2 train --init_from=resume --out_dir=" + end.outDir +
        " --max_iters=N\n";
  }
  return text;
}
