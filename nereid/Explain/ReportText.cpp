//===- ReportText.cpp - A report to read ----------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Explain/Report.h"

#include <algorithm>
#include <cmath>
#include <cstdarg>

namespace nereid::explain {

[[gnu::format(printf, 2, 3)]] static void append(std::string &out,
                                                 const char *format, ...) {
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof(text), format, arguments);
  va_end(arguments);
  out += text;
}

std::string bytesText(double bytes) {
  static constexpr std::pair<double, const char *> units[] = {
      {1e9, "GB"}, {1e6, "MB"}, {1e3, "kB"}};
  char text[32];
  for (auto [unit, unitName] : units) {
    if (bytes >= unit) {
      std::snprintf(text, sizeof(text), "%.3g %s", bytes / unit, unitName);
      return text;
    }
  }
  std::snprintf(text, sizeof(text), "%.0f B", bytes);
  return text;
}

std::string timeText(double us) {
  char text[32];
  std::snprintf(text, sizeof(text), us < 1000 ? "%.3g us" : "%.3g ms",
                us < 1000 ? us : us / 1000);
  return text;
}

std::string countText(double count) {
  static constexpr std::pair<double, const char *> units[] = {
      {1e15, " P"}, {1e12, " T"}, {1e9, " G"}, {1e6, " M"}};
  char text[32];
  for (auto [unit, unitName] : units) {
    if (count >= unit) {
      std::snprintf(text, sizeof(text), "%.3g%s", count / unit, unitName);
      return text;
    }
  }
  std::snprintf(text, sizeof(text), "%.0f", count);
  return text;
}

std::string predictedText(double us) {
  double unit = std::pow(10, std::floor(std::log10(std::max(us, 1e-3))) - 1);
  return timeText(std::round(us / unit) * unit);
}

std::string countedText(uint64_t count, const std::string &what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

/// "limit: VGPRs"; where the grid has fewer than fit, that.
static std::string limitText(const Report &report) {
  const Resources &r = report.resources;
  bool isOfGrid = report.residentWarps() < r.warps;
  return (isOfGrid ? "limit: the grid; " + std::to_string(r.warps) + " by "
                   : "limit: ") +
         r.limit;
}

static std::string resourcesTextOfAmd(const Report &report) {
  const Resources &r = report.resources;
  auto text = [](unsigned number) { return std::to_string(number); };
  std::string accumulates =
      r.accumulationRegisters
          ? " (" + text(r.accumulationRegisters) + " to accumulate)"
          : "";
  return text(r.registers) + " VGPRs" + accumulates + ", " +
         text(r.scalarRegisters) + " SGPRs, " + text(r.vectorSpills) + " and " +
         text(r.scalarSpills) + " spilled, " + bytesText(r.sharedBytes) +
         " LDS, " + bytesText(r.scratchBytes) +
         " scratch a lane: " + text(report.residentWarps()) + " of " +
         text(r.mostWarps) + " waves resident (" + limitText(report) + ")";
}

std::string resourcesText(const Report &report) {
  const Resources &r = report.resources;
  if (report.chip.isAmd()) {
    return resourcesTextOfAmd(report);
  }
  if (!r.registers) {
    return bytesText(r.sharedBytes) +
           " shared; registers are not known without ptxas";
  }
  return std::to_string(r.registers) + " registers, " +
         std::to_string(r.spillBytes) +
         (r.spillBytes ? " bytes stored and loaded by spills, "
                       : " bytes spilled, ") +
         bytesText(r.sharedBytes) +
         " shared: " + std::to_string(report.residentWarps()) + " of " +
         std::to_string(r.mostWarps) + " warps resident (" + limitText(report) +
         ")";
}

std::string memoryText(const Report &report) {
  bool isSample = report.simulatedBlocks < report.blocks;
  constexpr double some = 0.05; // of what is read
  std::string again = report.movedAgain > some * report.movedRead
                          ? ", " + bytesText(report.movedAgain) + " read again"
                          : "";
  return bytesText(report.compulsoryRead) + " read, " +
         bytesText(report.compulsoryWritten) + " written " +
         (isSample ? "at least, by the sample" : "at least") + "; " +
         bytesText(report.movedRead) + " and " +
         bytesText(report.movedWritten) + " moved" + again + "; " +
         bytesText(report.requestedRead) + " and " +
         bytesText(report.requestedWritten) + " asked for";
}

std::string operationsText(const Report &report) {
  // What is asked for, and where the threads do more, how much that is.
  auto part = [](double asked, double done, const char *what, const char *by) {
    std::string made = countText(done), text = countText(asked);
    return text == made ? made + what + by
                        : text + what + " (" + made + by + ")";
  };
  std::string text;
  if (report.chip.isAmd() && !report.asked) {
    return countText(report.productOperations) +
           " by matrix instructions; floats are not counted";
  }
  if (report.chip.isAmd()) {
    return (report.productOperations > 0
                ? part(report.askedProducts(), report.productOperations, "",
                       " by matrix instructions") +
                      ", "
                : "") +
           countText(report.askedFloats()) + " of floats asked for";
  }
  if (report.productOperations > 0) {
    text = part(report.askedProducts(), report.productOperations, "",
                " by matrix instructions");
  }
  if (report.floatOperations > 0 || report.askedFloats() > 0 || text.empty()) {
    text += (text.empty() ? "" : ", ") + part(report.askedFloats(),
                                              report.floatOperations,
                                              " of floats", " by threads");
  }
  return text;
}

/// Of what a line does in shared memory.
static std::string priceOf(const Report &report, uint32_t line) {
  double passes = 0;
  for (const AccessCost &cost : report.accesses) {
    passes += cost.isShared && cost.line == line ? cost.units : 0;
  }
  if (passes == 0) {
    return "";
  }
  char text[32];
  std::snprintf(text, sizeof(text), "%.0f", passes);
  return std::string(" (") + text + " passes: " +
         timeText(passes / report.chip.multiprocessors /
                  (report.chip.gigahertz * 1e3)) +
         " of all " +
         (report.chip.isAmd() ? "processors)" : "multiprocessors)");
}

std::string decisionText(const Report &report, const ToldDecision &decision) {
  std::string text = decision.subject + ": " + decision.chosen;
  if (decision.subject == "layout") {
    text += priceOf(report, decision.location.line);
  }
  if (!decision.rejected.empty()) {
    text += "; not " + decision.rejected;
  }
  if (!decision.reason.empty()) {
    text += ": " + decision.reason;
  }
  return text;
}

static std::string timesText(const Report &report) {
  if (!report.noPrediction.empty()) {
    return "not predicted: " + report.noPrediction;
  }
  std::string text = "about " + predictedText(report.predictedUs) +
                     " predicted, bound by " + name(report.bound) + " (";
  const char *before = "";
  for (const auto &[limit, us] : report.limits) {
    text += before + std::string(name(limit)) + " " + timeText(us);
    before = ", ";
  }
  return text + ")";
}

static void addHead(std::string &out, const Report &report) {
  const Resources &r = report.resources;
  std::string warps =
      countedText(r.warpsOfBlock(), report.chip.isAmd() ? "wave" : "warp");
  append(out, "%s, %s as of an %s: %s of %s\n", report.kernel.c_str(),
         report.target.c_str(), std::string(report.chip.name).c_str(),
         countedText(report.blocks, "program").c_str(), warps.c_str());
  if (!report.configuration.empty()) {
    out += "  config      " + report.configuration + "\n";
  }
  if (report.simulatedBlocks < report.blocks) {
    out += "  from " + countedText(report.simulatedBlocks, "program") +
           ", spread over the grid\n";
  }
  out += "  resources   " + resourcesText(report) + "\n";
  out += "  memory      " + memoryText(report) + "\n";
  out += "  operations  " + operationsText(report) + "\n";
  out += "  time        " + timesText(report);
  if (report.measuredUs) {
    append(out, "; %s measured", timeText(*report.measuredUs).c_str());
  }
  out += "\n";
}

static void addAccessesOfAmd(std::string &out, const Report &report) {
  append(out, "\n  %5s  %-9s %-16s %5s %7s  %13s %14s  %s\n", "line", "access",
         "of", "bytes", "lanes", "64 B (least)", "128 B (least)", "in all");
  auto pair = [](double units, double least, double requests) {
    char text[48];
    std::snprintf(text, sizeof(text), "%.3g (%.3g)", units / requests,
                  least / requests);
    return std::string(text);
  };
  for (const AccessCost &cost : report.accesses) {
    std::string half =
        pair(cost.units, cost.leastUnits, std::max(cost.requests, 1.0));
    std::string whole = pair(cost.lines, cost.leastLines, cost.requests);
    append(out, "  %5u  %-9s %-16.16s %5u %7.3g  %13s %14s  %s\n", cost.line,
           name(cost.kind), cost.isShared ? "LDS" : cost.array.c_str(),
           cost.laneBytes, cost.lanesActive, cost.isShared ? "" : half.c_str(),
           cost.isShared ? "" : whole.c_str(),
           cost.isShared
               ? (countText(cost.units) + " passes, " +
                  countText(cost.units - cost.leastUnits) + " by conflicts")
                     .c_str()
               : bytesText(cost.units * report.unitBytes()).c_str());
  }
}

static void addAccesses(std::string &out, const Report &report) {
  if (report.accesses.empty()) {
    return;
  }
  if (report.chip.isAmd()) {
    addAccessesOfAmd(out, report);
    return;
  }
  append(out, "\n  %5s  %-9s %-16s %5s %7s  %9s %6s  %s\n", "line", "access",
         "of", "bytes", "threads", "a request", "least", "in all");
  for (const AccessCost &cost : report.accesses) {
    append(out, "  %5u  %-9s %-16.16s %5u %7.3g  %9.3g %6.3g  %s\n", cost.line,
           name(cost.kind),
           cost.isShared ? "shared memory" : cost.array.c_str(), cost.laneBytes,
           cost.lanesActive, cost.unitsPerRequest(), cost.leastPerRequest(),
           cost.isShared
               ? (std::to_string(uint64_t(cost.units)) + " passes").c_str()
               : bytesText(cost.units * report.unitBytes()).c_str());
  }
}

static void addLines(std::string &out, const Report &report,
                     const SourceText &source) {
  append(out, "\n  %12s  line\n", "instructions");
  size_t shown = 0;
  for (const LineCost &cost : report.lines) {
    if (!cost.line || ++shown > 12) {
      continue;
    }
    append(out, "  %11.1f%%  %5u  %.200s\n",
           100 * cost.instructions / report.instructions, cost.line,
           source(cost.file, cost.line).c_str());
  }
}

/// What the compiler chose, and of what is worth more: why not.
static void addDecisions(std::string &out, const Report &report) {
  if (!report.decisions.empty()) {
    append(out, "\n  %5s  decided\n", "line");
  }
  for (const ToldDecision &one : report.decisions) {
    append(out, "  %5u  ", one.location.line);
    out += decisionText(report, one) + "\n";
  }
}

std::string reportText(const Report &report, const SourceText &source) {
  std::string out;
  addHead(out, report);
  addAccesses(out, report);
  addLines(out, report, source);
  addDecisions(out, report);
  if (!report.hints.empty()) {
    out += "\n";
  }
  for (const Hint &hint : report.hints) {
    out += "  ";
    if (hint.line) {
      out += hint.file + ":" + std::to_string(hint.line) + ": ";
    }
    out += "hint: " + hint.text + "\n";
  }
  return out;
}

} // namespace nereid::explain
