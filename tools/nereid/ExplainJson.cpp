//===- ExplainJson.cpp - What nereid explain says, for machines -----------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ExplainJson.h"

namespace nereid {

static nlohmann::ordered_json jsonOf(const explain::AccessCost &cost,
                                     bool isAmd) {
  nlohmann::ordered_json json = {
      {"file", cost.file},
      {"line", cost.line},
      {"access", explain::name(cost.kind)},
      {"space", cost.isShared ? "shared" : "global"},
      {"array", cost.array},
      {"bytes_a_thread", cost.laneBytes},
      {"thread_stride", cost.laneStride},
      {"requests", cost.requests},
      {"threads_active", cost.lanesActive},
      {"bytes", cost.bytes},
  };
  if (cost.isShared) {
    json["passes"] = cost.units;
    json["least_passes"] = cost.leastUnits;
  } else if (isAmd) {
    json["requests_64"] = cost.units;
    json["least_requests_64"] = cost.leastUnits;
    json["requests_128"] = cost.lines;
    json["least_requests_128"] = cost.leastLines;
  } else {
    json["sectors"] = cost.units;
    json["least_sectors"] = cost.leastUnits;
  }
  return json;
}

nlohmann::ordered_json jsonOf(const explain::Report &report) {
  nlohmann::ordered_json accesses = nlohmann::ordered_json::array(),
                         lines = nlohmann::ordered_json::array(),
                         hints = nlohmann::ordered_json::array(),
                         decisions = nlohmann::ordered_json::array(),
                         limits = nlohmann::ordered_json::object();
  for (const explain::AccessCost &cost : report.accesses) {
    accesses.push_back(jsonOf(cost, report.chip.isAmd()));
  }
  for (const explain::LineCost &cost : report.lines) {
    lines.push_back({{"file", cost.file},
                     {"line", cost.line},
                     {"instructions", cost.instructions}});
  }
  for (const explain::Hint &hint : report.hints) {
    hints.push_back(
        {{"file", hint.file}, {"line", hint.line}, {"text", hint.text}});
  }
  for (const ToldDecision &one : report.decisions) {
    decisions.push_back({{"file", one.location.file},
                         {"line", one.location.line},
                         {"subject", one.subject},
                         {"chosen", one.chosen},
                         {"rejected", one.rejected},
                         {"reason", one.reason},
                         {"hint", one.hint}});
  }
  for (const auto &[bound, us] : report.limits) {
    limits[explain::name(bound)] = us;
  }
  nlohmann::ordered_json measured;
  if (report.measuredUs) {
    measured = *report.measuredUs;
  }
  nlohmann::ordered_json machineCode = nlohmann::ordered_json::array();
  for (const explain::MachineLine &one : report.machineCode) {
    machineCode.push_back(
        {{"file", one.file}, {"line", one.line}, {"text", one.text}});
  }
  const explain::Resources &r = report.resources;
  nlohmann::ordered_json json = {
      {"kernel", report.kernel},
      {"target", report.target},
      {"chip", report.chip.name},
      {"configuration", report.configuration},
      {"grid", report.grid},
      {"programs", report.blocks},
      {"simulated_programs", report.simulatedBlocks},
      {"threads", r.threads},
      {"registers", r.registers},
      {"spill_bytes", r.spillBytes},
      {"shared_bytes", r.sharedBytes},
      {"resident_warps", report.residentWarps()},
      {"theoretical_warps", r.warps},
      {"most_warps", r.mostWarps},
      {"occupancy_limit", r.limit},
      {"compulsory_bytes_read", report.compulsoryRead},
      {"compulsory_bytes_written", report.compulsoryWritten},
      {"moved_bytes_read", report.movedRead},
      {"moved_bytes_written", report.movedWritten},
      {"moved_bytes_read_again", report.movedAgain},
      {"requested_bytes_read", report.requestedRead},
      {"requested_bytes_written", report.requestedWritten},
      {"instructions", report.instructions},
      {"product_operations", report.productOperations},
      {"float_operations", report.floatOperations},
      {"asked_product_operations", report.askedProducts()},
      {"asked_float_operations", report.askedFloats()},
      {"atomic_turns", report.atomicTurns},
      {"cache_bytes", report.cacheBytes},
      {"passes", report.passes},
      {"block_cycles", report.blockCycles},
      {"limits_us", limits},
      {"predicted_us", report.predictedUs},
      {"measured_us", measured},
      {"bound", explain::name(report.bound)},
      {"accesses", accesses},
      {"lines", lines},
      {"decisions", decisions},
      {"hints", hints},
      {"machine_code", machineCode},
      {"no_machine_code", report.noMachineCode}};
  if (report.chip.isAmd()) {
    json["accumulation_registers"] = r.accumulationRegisters;
    json["scalar_registers"] = r.scalarRegisters;
    json["spilled_vector_registers"] = r.vectorSpills;
    json["spilled_scalar_registers"] = r.scalarSpills;
    json["scratch_bytes"] = r.scratchBytes;
  }
  // What is not known has no number.
  if (!report.noPrediction.empty()) {
    for (const char *unknown :
         {"predicted_us", "bound", "block_cycles", "cache_bytes",
          "moved_bytes_read_again", "atomic_turns", "float_operations"}) {
      json[unknown] = nullptr;
    }
    json["no_prediction"] = report.noPrediction;
  }
  return json;
}

} // namespace nereid
