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

/// What a vendor's chips call it.
struct Words {
  const char *lane, *lanes, *units, *unit, *warps, *processor, *shared;
};
} // namespace

static const Words &wordsOf(const Chip &chip) {
  static constexpr Words ofAmd = {"lane",        "lanes", "half lines",
                                  "half a line", "waves", "processor",
                                  "LDS"},
                         ofOthers = {"thread",       "threads",
                                     "sectors",      "a sector",
                                     "warps",        "multiprocessor",
                                     "shared memory"};
  return chip.isAmd() ? ofAmd : ofOthers;
}

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
  constexpr double misaligned = 1.02, scattered = 1.9, inTwo = 2.01;
  const Words &words = wordsOf(report.chip);
  std::string counted = accessName(cost) + ": " +
                        number(cost.unitsPerRequest()) + " " + words.units +
                        " a request, " + number(cost.leastPerRequest()) +
                        " would do: ";
  // Neighbours whose run lies across the border of two units.
  bool isAcross = cost.insideUnit && cost.laneStride == cost.laneBytes &&
                  cost.excess() <= inTwo;
  // Each thread holds neighbours, and takes them one by one.
  constexpr int64_t widestAccess = 16;
  bool isSplit =
      cost.laneStride > cost.laneBytes && cost.laneStride <= widestAccess;
  if (cost.excess() >= scattered && isSplit) {
    return counted + "a " + words.lane + " takes its " +
           std::to_string(cost.laneStride) + " bytes one by one: " +
           (decision ? widerText(report, cost, *decision)
            : cost.remainder == 0u
                ? "the address is not known to be a multiple. Pass strides "
                  "that are divisible by 16, or tell with tl.multiple_of"
                : "the address is not known to be a multiple. Let rows begin "
                  "at multiples of 16 bytes");
  }
  if (cost.excess() >= scattered && cost.isOfData) {
    return counted + "the places are loaded values. Neighbouring " +
           words.lanes + " have neighbours where these are sorted; or a " +
           words.lane + " takes more of each place";
  }
  if (cost.excess() >= scattered && !isAcross) {
    if (cost.kind == AccessKind::Atomic) {
      return counted + "neighbouring " + words.lanes +
             " update places far apart; let the last dimension of the block "
             "run along memory, or add up within the block first";
    }
    return counted + "neighbouring " + words.lanes +
           " are not neighbours in memory; let the last "
           "dimension of the block run along memory (stride 1), or load a "
           "block that does and transpose it with tl.trans";
  }
  if (cost.excess() >= misaligned) {
    return counted + "accesses begin inside " + words.unit +
           "; begin rows at multiples of " +
           std::to_string(report.unitBytes()) +
           " bytes (pad their stride), or move the start";
  }
  return "";
}

/// Where values say which places threads meet, only other values help.
static std::string conflictText(const Report &report, const AccessCost &cost) {
  const Words &words = wordsOf(report.chip);
  std::string lanes = words.lanes, banks = std::to_string(report.chip.banks());
  if (cost.isOfData && cost.kind == AccessKind::Atomic) {
    return "they hang on the data: " + lanes + " whose values are equal, or " +
           banks +
           " words apart, take turns. Data in another order, or counts of "
           "parts that are added up, have fewer";
  }
  if (cost.isOfData) {
    return "they hang on the indices, which are loaded: " + lanes +
           " meet where these are multiples of " + banks + " words apart";
  }
  return std::string("another order of the block's dimensions, or another "
                     "number of ") +
         words.warps + ", spreads them over the banks";
}

static void addAccessHints(const Report &report,
                           std::vector<Weighed> &weighed) {
  const Words &words = wordsOf(report.chip);
  const double lanes = report.resources.lanes;
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
              std::string(name(cost.kind)) + " of " + words.shared + ": " +
                  number(cost.unitsPerRequest()) + " passes a request, " +
                  number(cost.leastPerRequest()) +
                  " would do (bank conflicts): " +
                  conflictText(report, cost)}});
      }
      continue;
    }
    double wasted = share * (1 - 1 / cost.excess());
    const ToldDecision *decision = decisionOf(report, cost);
    if (std::string text = globalHint(report, cost, decision); !text.empty()) {
      weighed.push_back({wasted, {cost.file, cost.line, text}});
    } else if (decision && cost.laneBytes < 4 && cost.lanesActive > lanes / 2) {
      weighed.push_back(
          {share * 0.1,
           {cost.file, cost.line,
            accessName(cost) + ": " + std::to_string(cost.laneBytes) +
                (cost.laneBytes == 1 ? " byte" : " bytes") + " a " +
                words.lane + " where 16 are possible: " +
                widerText(report, cost, *decision)}});
    }
    constexpr double few = 0.375; // of the lanes
    if (cost.lanesActive < few * lanes && cost.requests > 1 && share > 0.2) {
      weighed.push_back(
          {share * (1 - cost.lanesActive / lanes),
           {cost.file, cost.line,
            accessName(cost) + ": " + number(cost.lanesActive) + " of " +
                number(lanes) + " " + words.lanes +
                " take part: masks leave most of the block out; a smaller "
                "block would do"}});
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

/// What the registers of a thread did not hold; empty: they held all.
static std::string spillText(const Report &report) {
  const Resources &resources = report.resources;
  const Words &words = wordsOf(report.chip);
  std::string what =
      resources.spillBytes
          ? std::to_string(resources.spillBytes) + " bytes of spilled registers"
      : resources.vectorSpills
          ? countedText(resources.vectorSpills, "spilled register") +
                " of a lane"
          : "";
  return what.empty() ? ""
                      : what +
                            " are stored and loaded: a smaller block, or "
                            "more " +
                            words.warps + ", holds less in a " + words.lane;
}

/// What is read again from memory; empty: little.
static std::string againText(const Report &report) {
  constexpr double many = 0.25;
  double moved = report.movedRead + report.movedWritten;
  if (report.movedAgain <= many * moved) {
    return "";
  }
  return bytesText(report.movedAgain) +
         " are read again: programs that run together read more than the "
         "second-level cache keeps (" +
         std::to_string(report.chip.cacheMegabytes) +
         " MB) for those that follow; where neighbours of both rows and "
         "columns run together (tl.swizzle2d), they read less";
}

/// Where few warps fit a processor; empty: many do, or matrix instructions
/// keep it busy.
static std::string occupancyText(const Report &report) {
  const Resources &resources = report.resources;
  const Words &words = wordsOf(report.chip);
  double full =
      resources.mostWarps ? double(resources.warps) / resources.mostWarps : 1;
  bool isOfProducts = report.noPrediction.empty()
                          ? report.bound == Bound::Products
                          : report.productOperations > 0;
  bool isRegisters =
      resources.limit == "registers" || resources.limit == "VGPRs";
  bool isShort =
      full < 0.25 && !isOfProducts && report.residentWarps() == resources.warps;
  if (!isShort || (!isRegisters && resources.limit != words.shared)) {
    return "";
  }
  const char *other = !isRegisters          ? ", or fewer stages,"
                      : report.chip.isAmd() ? ", or waves_per_eu,"
                                            : ", or maxnreg,";
  return std::to_string(resources.warps) + " of " +
         std::to_string(resources.mostWarps) + " " + words.warps + " fit a " +
         words.processor + " (" + resources.limit + "): smaller blocks" +
         other + " let more wait for memory at once";
}

static void addKernelHints(const Report &report,
                           std::vector<Weighed> &weighed) {
  auto add = [&](double share, const std::string &text) {
    if (!text.empty()) {
      weighed.push_back(
          {share, {report.location.file, report.location.line, text}});
    }
  };
  add(0.5, spillText(report));
  const Chip &chip = report.chip;
  if (report.blocks < chip.multiprocessors) {
    add(1 - double(report.blocks) / chip.multiprocessors,
        countedText(report.blocks, "program") + " for " +
            countedText(chip.multiprocessors, wordsOf(chip).processor) +
            ": smaller blocks, or a split of the loop over several programs, "
            "keep more of them busy");
  }
  add(report.movedAgain / (report.movedRead + report.movedWritten) / 2,
      againText(report));
  add(0.3, occupancyText(report));
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
