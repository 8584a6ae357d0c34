//===- Hints.cpp - What would make a launch cheaper -----------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Explain/Hints.h"

#include <algorithm>
#include <cmath>

namespace nereid::explain {

namespace {
/// A hint with what it is about costs, to put the costliest first.
struct Weighed {
  double share;
  Hint hint;
};
} // namespace

static std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof(text), value < 10 ? "%.1f" : "%.0f", value);
  std::string out = text;
  if (out.ends_with(".0")) {
    out.resize(out.size() - 2);
  }
  return out;
}

static std::string accessName(const AccessCost &cost) {
  std::string what = name(cost.kind);
  return cost.array.empty() ? what : what + " of " + cost.array;
}

/// What the compiler says of the access: why it is as narrow as it is, and what
/// to write. Null where it says nothing to write.
static const ToldDecision *decisionOf(const Report &report,
                                      const AccessCost &cost) {
  for (const ToldDecision &one : report.decisions) {
    bool isAccess = one.subject == "load" || one.subject == "store" ||
                    one.subject == "copy ahead";
    if (isAccess && one.location.line == cost.line &&
        one.rejected.ends_with(" bytes") && !one.hint.empty()) {
      return &one;
    }
  }
  return nullptr;
}

/// Would the source's promise of multiples of 16 be false in this launch?
static bool isRefuted(const Report &report, const AccessCost &cost,
                      const ToldDecision &decision) {
  if (decision.reason.starts_with("the address is known to be divisible")) {
    return cost.remainder != 0u;
  }
  bool isOfMask = decision.reason.starts_with("the mask may change");
  return isOfMask && std::any_of(report.integers.begin(), report.integers.end(),
                                 [](int64_t value) { return value % 16 != 0; });
}

/// What would make the access wider, and is true of this launch.
static std::string widerText(const Report &report, const AccessCost &cost,
                             const ToldDecision &decision) {
  if (!isRefuted(report, cost, decision)) {
    return decision.reason + ". To mend it: " + decision.hint;
  }
  if (decision.reason.starts_with("the mask may change")) {
    return decision.reason + ". A bound that is a multiple of 16 would do: pad "
                             "the array to one";
  }
  if (cost.remainder) {
    return "in this launch they begin " + std::to_string(*cost.remainder) +
           (*cost.remainder == 1 ? " byte" : " bytes") +
           " past a multiple of 16. Load from the multiple in front and "
           "shift, or let the array begin elsewhere";
  }
  return "in this launch rows begin at no multiples of 16 bytes. Pad their "
         "stride";
}

/// Of a global access, or nothing.
static std::string globalHint(const Report &report, const AccessCost &cost,
                              const ToldDecision *decision) {
  constexpr double misaligned = 1.02, scattered = 1.9;
  std::string counted =
      accessName(cost) + ": " + number(cost.unitsPerRequest()) +
      " sectors a request, " + number(cost.leastPerRequest()) + " would do: ";
  // Each thread holds neighbours, and takes them one by one.
  constexpr int64_t widestAccess = 16;
  bool isSplit =
      cost.laneStride > cost.laneBytes && cost.laneStride <= widestAccess;
  if (cost.excess() >= scattered && isSplit) {
    return counted + "a thread takes its " + std::to_string(cost.laneStride) +
           " bytes one by one: " +
           (decision ? widerText(report, cost, *decision)
            : cost.remainder == 0u
                ? "the address is not known to be a multiple. Pass strides "
                  "that are divisible by 16, or tell with tl.multiple_of"
                : "the address is not known to be a multiple. Let rows begin "
                  "at multiples of 16 bytes");
  }
  if (cost.excess() >= scattered && cost.isOfData) {
    return counted + "the places are loaded values. Neighbouring threads have "
                     "neighbours where these are sorted; or a thread takes "
                     "more of each place";
  }
  if (cost.excess() >= scattered) {
    if (cost.kind == AccessKind::Atomic) {
      return counted + "neighbouring threads update places far apart; let the "
                       "last dimension of the block run along memory, or add "
                       "up within the block first";
    }
    return counted +
           "neighbouring threads are not neighbours in memory; let the last "
           "dimension of the block run along memory (stride 1), or load a "
           "block that does and transpose it with tl.trans";
  }
  if (cost.excess() >= misaligned) {
    return counted + "accesses begin inside a sector; begin rows at multiples "
                     "of 32 bytes (pad their stride), or move the start";
  }
  return "";
}

/// Where values say which places threads meet, only other values help.
static std::string conflictText(const AccessCost &cost) {
  if (cost.isOfData && cost.kind == AccessKind::Atomic) {
    return "they hang on the data: threads whose values are equal, or 32 "
           "words apart, take turns. Data in another order, or counts of parts "
           "that are added up, have fewer";
  }
  if (cost.isOfData) {
    return "they hang on the indices, which are loaded: threads meet where "
           "these are multiples of 32 words apart";
  }
  return "another order of the block's dimensions, or another number of "
         "warps, spreads them over the banks";
}

static void addAccessHints(const Report &report,
                           std::vector<Weighed> &weighed) {
  double sectors = 0, passes = 0;
  for (const AccessCost &cost : report.accesses) {
    (cost.isShared ? passes : sectors) += cost.units;
  }
  for (const AccessCost &cost : report.accesses) {
    constexpr double matters = 0.01, conflicts = 1.5;
    double share = cost.units / (cost.isShared ? passes : sectors);
    if (share < matters) {
      continue;
    }
    if (cost.isShared) {
      if (cost.excess() >= conflicts) {
        weighed.push_back(
            {share * 0.3,
             {cost.file, cost.line,
              std::string(name(cost.kind)) +
                  " of shared memory: " + number(cost.unitsPerRequest()) +
                  " passes a request, " + number(cost.leastPerRequest()) +
                  " would do (bank conflicts): " + conflictText(cost)}});
      }
      continue;
    }
    double wasted = share * (1 - 1 / cost.excess());
    const ToldDecision *decision = decisionOf(report, cost);
    if (std::string text = globalHint(report, cost, decision); !text.empty()) {
      weighed.push_back({wasted, {cost.file, cost.line, text}});
    } else if (decision && cost.laneBytes < 4 && cost.lanesActive > 16) {
      weighed.push_back(
          {share * 0.1,
           {cost.file, cost.line,
            accessName(cost) + ": " + std::to_string(cost.laneBytes) +
                (cost.laneBytes == 1 ? " byte" : " bytes") +
                " a thread where 16 are possible: " +
                widerText(report, cost, *decision)}});
    }
    if (cost.lanesActive < 12 && cost.requests > 1 && share > 0.2) {
      weighed.push_back(
          {share * (1 - cost.lanesActive / 32),
           {cost.file, cost.line,
            accessName(cost) + ": " + number(cost.lanesActive) +
                " of 32 threads take part: masks leave most of the block out; "
                "a smaller block would do"}});
    }
  }
}

/// Products without matrix instructions, and loops that wait for their loads.
static void addDecisionHints(const Report &report,
                             std::vector<Weighed> &weighed) {
  for (const ToldDecision &one : report.decisions) {
    bool isLoop = one.subject == "loop" ||
                  (one.subject == "load" && one.rejected == "copied ahead" &&
                   report.bound == Bound::Latency);
    bool isProduct =
        one.subject == "dot" && one.rejected == "matrix instructions";
    if (one.hint.empty() || (!isLoop && !isProduct)) {
      continue;
    }
    double ofLine = 0;
    for (const LineCost &line : report.lines) {
      ofLine += line.line == one.location.line ? line.instructions : 0;
    }
    weighed.push_back({isLoop ? 0.4 : ofLine / report.instructions,
                       {one.location.file, one.location.line,
                        decisionText(report, one) + ": " + one.hint}});
  }
}

static void addKernelHints(const Report &report,
                           std::vector<Weighed> &weighed) {
  const Resources &resources = report.resources;
  if (resources.spillBytes) {
    weighed.push_back({0.5,
                       {report.location.file, report.location.line,
                        std::to_string(resources.spillBytes) +
                            " bytes of spilled registers are stored and "
                            "loaded: a smaller block, "
                            "or "
                            "more warps, holds less in a thread"}});
  }
  if (report.blocks < report.chip.multiprocessors) {
    weighed.push_back(
        {1 - double(report.blocks) / report.chip.multiprocessors,
         {report.location.file, report.location.line,
          countedText(report.blocks, "program") + " for " +
              std::to_string(report.chip.multiprocessors) +
              " multiprocessors: smaller blocks, or a split of the loop over "
              "several programs, keep more of them busy"}});
  }
  double again = report.movedAgain / (report.movedRead + report.movedWritten);
  constexpr double many = 0.25;
  if (again > many) {
    weighed.push_back(
        {again / 2,
         {report.location.file, report.location.line,
          bytesText(report.movedAgain) +
              " are read again: programs that run together read more than the "
              "second-level cache keeps (" +
              std::to_string(report.chip.cacheMegabytes) +
              " MB) for those that follow; where neighbours of both rows and "
              "columns run together (tl.swizzle2d), they read less"}});
  }
  double full =
      resources.mostWarps ? double(resources.warps) / resources.mostWarps : 1;
  bool isShort = full < 0.25 && report.bound != Bound::Products &&
                 report.residentWarps() == resources.warps;
  if (isShort &&
      (resources.limit == "registers" || resources.limit == "shared memory")) {
    weighed.push_back(
        {0.3,
         {report.location.file, report.location.line,
          std::to_string(resources.warps) + " of " +
              std::to_string(resources.mostWarps) +
              " warps fit a multiprocessor (" + resources.limit +
              "): smaller blocks" +
              (resources.limit == "registers" ? ", or maxnreg,"
                                              : ", or fewer stages,") +
              " let more wait for memory at once"}});
  }
}

void addHints(Report &report) {
  std::vector<Weighed> weighed;
  addAccessHints(report, weighed);
  addDecisionHints(report, weighed);
  addKernelHints(report, weighed);
  std::stable_sort(
      weighed.begin(), weighed.end(),
      [](const Weighed &a, const Weighed &b) { return a.share > b.share; });
  for (Weighed &one : weighed) {
    report.hints.push_back(std::move(one.hint));
  }
}

} // namespace nereid::explain
