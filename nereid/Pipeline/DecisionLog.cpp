//===- DecisionLog.cpp - The decisions of one compilation -----------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Pipeline/DecisionLog.h"

#include "nereid/Pipeline/Diagnostics.h"

#include "mlir/IR/Remarks.h"

#include <set>
#include <tuple>

using namespace mlir;

namespace nereid {

/// Turns remarks back into decisions. The context owns it.
class DecisionLog::Streamer : public remark::detail::MLIRRemarkStreamerBase {
public:
  explicit Streamer(DecisionLog &log) : log(log) {}

  void streamOptimizationRemark(const remark::detail::Remark &said) override {
    LocatedDecision found;
    found.decision.subject = said.getRemarkName().str();
    for (const remark::detail::Remark::Arg &arg : said.getArgs()) {
      Decision &d = found.decision;
      for (auto [key, text] : {std::pair(decision::chosen, &d.chosen),
                               std::pair(decision::rejected, &d.rejected),
                               std::pair(decision::reason, &d.reason),
                               std::pair(decision::hint, &d.hint)}) {
        if (key == arg.key) {
          *text = arg.val;
        }
      }
    }
    log.add(said.getLocation(), std::move(found));
  }

private:
  DecisionLog &log;
};

DecisionLog::DecisionLog(MLIRContext &context, const Source &source)
    : context(context), source(source) {
  remark::RemarkCategories every;
  every.passed = every.missed = ".*";
  // Fails only where a streamer does.
  (void)remark::enableOptimizationRemarks(
      context, std::make_unique<Streamer>(*this),
      std::make_unique<remark::RemarkEmittingPolicyAll>(), every);
}

DecisionLog::~DecisionLog() { context.setRemarkEngine(nullptr); }

static std::string positionOf(const SourceLocation &at) {
  return at.file + ":" + std::to_string(at.line) + ":" +
         std::to_string(at.column);
}

void DecisionLog::add(Location location, LocatedDecision decision) {
  // Innermost first; the notes are its callers.
  Diagnostic at = makeDiagnostic(location, Severity::Remark, "", source);
  SmallVector<SourceLocation> chain = {at.location};
  for (const Diagnostic &caller : at.notes) {
    chain.push_back(caller.location);
  }
  auto own = llvm::find_if(
      chain, [&](const SourceLocation &l) { return l.file == source.path; });
  own = own == chain.end() ? chain.begin() : own;
  if (!own->line) {
    return; // of no operation of the source
  }
  decision.location = *own;
  if (std::next(own) != chain.end()) {
    decision.calledFrom = positionOf(*std::next(own));
  }
  decisions.push_back(std::move(decision));
}

std::vector<LocatedDecision> DecisionLog::take() {
  std::vector<LocatedDecision> result;
  std::set<std::tuple<std::string, std::string, std::string>> known;
  for (LocatedDecision &one : decisions) {
    if (known
            .insert({positionOf(one.location), one.calledFrom,
                     sentenceOf(one.decision)})
            .second) {
      result.push_back(std::move(one));
    }
  }
  decisions.clear();
  std::stable_sort(result.begin(), result.end(),
                   [](const LocatedDecision &x, const LocatedDecision &y) {
                     const SourceLocation &a = x.location, &b = y.location;
                     return std::tie(a.file, a.line, a.column) <
                            std::tie(b.file, b.line, b.column);
                   });
  return result;
}

std::string render(const std::vector<LocatedDecision> &decisions) {
  std::string text;
  for (const LocatedDecision &one : decisions) {
    text += positionOf(one.location) + ": remark: " + sentenceOf(one.decision);
    if (!one.calledFrom.empty()) {
      text += " (called from " + one.calledFrom + ")";
    }
    text += "\n";
  }
  return text;
}

} // namespace nereid
