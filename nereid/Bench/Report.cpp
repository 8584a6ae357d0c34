//===- Report.cpp - Times of several sizes and providers ------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Bench/Report.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

namespace nereid::bench {

//===----------------------------------------------------------------------===//
// Columns
//===----------------------------------------------------------------------===//

/// Whose time it is compared with: of the same point.
static const Row *baselineOf(const Report &report, const Row &row) {
  for (const Row &other : report.rows) {
    if (other.point == row.point && other.times.name == report.baseline) {
      return &other;
    }
  }
  return nullptr;
}

std::vector<Column> columnsOf(const Report &report) {
  using Value = std::optional<double>;
  std::vector<Column> columns;
  auto add = [&](const char *name, const char *unit, auto valueOf) {
    Column column{name, unit, {}};
    for (const Row &row : report.rows) {
      bool isMeasured = row.times.ms.samples > 0;
      column.values.push_back(isMeasured ? Value(valueOf(row)) : std::nullopt);
    }
    if (std::any_of(column.values.begin(), column.values.end(),
                    [](const Value &value) { return value.has_value(); })) {
      columns.push_back(std::move(column));
    }
  };
  add("time", "ms",
      [](const Row &row) -> Value { return row.times.ms.median; });
  add("spread", "%", [](const Row &row) -> Value {
    return row.times.ms.samples > 1 ? Value(100 * row.times.ms.spread())
                                    : std::nullopt;
  });
  add("bandwidth", "GB/s", [](const Row &row) -> Value {
    return row.work && row.work->bytes
               ? Value(row.work->bytes / row.times.ms.median / 1e6)
               : std::nullopt;
  });
  add("rate", "TFLOP/s", [](const Row &row) -> Value {
    return row.work && row.work->operations()
               ? Value(row.work->operations() / row.times.ms.median / 1e9)
               : std::nullopt;
  });
  add("roofline", "%", [&](const Row &row) -> Value {
    return report.roofline && row.work
               ? Value(100 * report.roofline->leastMs(*row.work) /
                       row.times.ms.median)
               : std::nullopt;
  });
  add("speed-up", "x", [&](const Row &row) -> Value {
    const Row *base = baselineOf(report, row);
    return base && base != &row && base->times.ms.samples
               ? Value(base->times.ms.median / row.times.ms.median)
               : std::nullopt;
  });
  add("max diff", "",
      [](const Row &row) -> Value { return row.maxDifference; });
  return columns;
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

static std::string heading(const Column &column) {
  return column.unit.empty() ? column.name
                             : column.name + " [" + column.unit + "]";
}

/// Beyond this spread a time has two digits and a mark.
static constexpr double certainSpread = 0.1;

static bool isUncertain(const Row &row) {
  return row.times.ms.samples > 1 && row.times.ms.spread() > certainSpread;
}

/// Two digits of what varies much, after a "~".
static std::string roughText(double value) {
  int digits = value > 0 ? 1 - int(std::floor(std::log10(value))) : 0;
  double unit = std::pow(10.0, -digits);
  char text[64];
  std::snprintf(text, sizeof(text), "~%.*f", std::clamp(digits, 0, 6),
                std::round(value / unit) * unit);
  return text;
}

/// Four digits, or three of small ones: what a median is worth.
static std::string shortText(const Column &column, double value) {
  char text[64];
  if (column.name == "max diff") {
    std::snprintf(text, sizeof(text), "%.1e", value);
  } else if (column.unit == "%") {
    std::snprintf(text, sizeof(text), "%.1f", value);
  } else if (column.unit == "x") {
    std::snprintf(text, sizeof(text), "%.2f", value);
  } else {
    int decimals = value <= 0 ? 0 : 3 - int(std::floor(std::log10(value)));
    std::snprintf(text, sizeof(text), "%.*f", std::clamp(decimals, 0, 6),
                  value);
  }
  return text;
}

static std::string fullText(double value) {
  char text[64];
  auto [end, error] = std::to_chars(text, text + sizeof(text), value);
  return std::string(text, end);
}

/// What stands in a cell of the table, with its mark.
static std::string cellText(const Report &report, const Column &column,
                            size_t at) {
  constexpr double most = 100.5;
  const Row &row = report.rows[at];
  double value = *column.values[at];
  if (column.name == "roofline" && value > most) {
    return shortText(column, value) + "!";
  }
  if (column.name == "max diff" && row.differs) {
    return shortText(column, value) + "!";
  }
  bool isOfTime = column.name == "time" || column.name == "speed-up";
  const Row *base =
      column.name == "speed-up" ? baselineOf(report, row) : nullptr;
  if (isOfTime && (isUncertain(row) || (base && isUncertain(*base)))) {
    return roughText(value);
  }
  return shortText(column, value);
}

/// Rates that are all small have a smaller unit, for people.
static void useFittingUnit(Column &column) {
  double most = 0;
  for (const std::optional<double> &value : column.values) {
    most = std::max(most, value.value_or(0));
  }
  constexpr double small = 0.1;
  if (column.name != "rate" || most >= small) {
    return;
  }
  column.unit = "GFLOP/s";
  for (std::optional<double> &value : column.values) {
    value = value ? std::optional(*value * 1e3) : value;
  }
}

/// "all: BLOCK=64 num_warps=4 ...", or a line for each point and provider.
static std::string configurationText(const Report &report) {
  std::map<std::string, std::map<std::string, std::string>> of;
  for (const Row &row : report.rows) {
    if (row.configuration.empty()) {
      continue;
    }
    std::string &where = of[row.times.name][row.configuration];
    for (size_t v = 0; v < row.point.size(); ++v) {
      where += (v               ? " "
                : where.empty() ? ""
                                : "; ") +
               report.variables[v] + "=" + row.point[v];
    }
  }
  std::string text;
  for (const auto &[provider, configurations] : of) {
    for (const auto &[configuration, where] : configurations) {
      bool isOfAll = configurations.size() == 1 || where.empty();
      text += provider + (isOfAll ? "" : " at " + where) + ": " +
              configuration + "\n";
    }
  }
  return text;
}

std::string tableText(const Report &report) {
  std::vector<Column> columns = columnsOf(report);
  for (Column &column : columns) {
    useFittingUnit(column);
  }
  std::vector<std::vector<std::string>> cells(1, report.variables);
  cells[0].push_back("provider");
  for (const Column &column : columns) {
    cells[0].push_back(heading(column));
  }
  std::string failures;
  for (size_t i = 0; i < report.rows.size(); ++i) {
    const Row &row = report.rows[i];
    std::vector<std::string> &line = cells.emplace_back(row.point);
    line.push_back(row.times.name);
    for (const Column &column : columns) {
      const std::optional<double> &value = column.values[i];
      line.push_back(value ? cellText(report, column, i) : "-");
    }
    if (row.times.failure) {
      std::string where;
      for (size_t v = 0; v < row.point.size(); ++v) {
        where += " " + report.variables[v] + "=" + row.point[v];
      }
      failures += row.times.name + where +
                  ": failed: " + row.times.failure->str() + "\n";
    }
  }
  std::vector<size_t> widths(cells[0].size());
  for (const auto &line : cells) {
    for (size_t i = 0; i < line.size(); ++i) {
      widths[i] = std::max(widths[i], line[i].size());
    }
  }
  size_t provider = report.variables.size();
  std::string text = report.title + " on " + report.device + "\n\n";
  for (const auto &line : cells) {
    for (size_t i = 0; i < line.size(); ++i) {
      std::string pad(widths[i] - line[i].size(), ' ');
      text += i ? "  " : "";
      text += i == provider ? line[i] + pad : pad + line[i];
    }
    text.erase(text.find_last_not_of(' ') + 1);
    text += "\n";
  }
  text += "\n";
  text += configurationText(report);
  for (const std::string &note : report.notes) {
    text += note + "\n";
  }
  if (!report.command.empty()) {
    text += report.program + ", " + report.date + ": " + report.command + "\n";
  }
  return text + failures;
}

static std::string quoted(const std::string &cell) {
  if (cell.find_first_of(",\"\n\r") == std::string::npos) {
    return cell;
  }
  std::string text = "\"";
  for (char c : cell) {
    text += c == '"' ? "\"\"" : std::string(1, c);
  }
  return text + "\"";
}

std::string csvText(const Report &report) {
  std::vector<Column> columns = columnsOf(report);
  std::string text;
  for (const std::string &variable : report.variables) {
    text += quoted(variable) + ",";
  }
  text += "provider";
  for (const Column &column : columns) {
    text += "," + quoted(heading(column));
  }
  text += ",least [ms],lower quartile [ms],upper quartile [ms],samples,"
          "failure\r\n";
  for (size_t i = 0; i < report.rows.size(); ++i) {
    const Row &row = report.rows[i];
    for (const std::string &value : row.point) {
      text += quoted(value) + ",";
    }
    text += quoted(row.times.name);
    for (const Column &column : columns) {
      text += "," + (column.values[i] ? fullText(*column.values[i]) : "");
    }
    const Summary &ms = row.times.ms;
    for (double value : {ms.least, ms.lowerQuartile, ms.upperQuartile}) {
      text += "," + (ms.samples ? fullText(value) : "");
    }
    text += "," + std::to_string(ms.samples) + "," +
            quoted(row.times.failure ? row.times.failure->message : "") +
            "\r\n";
  }
  return text;
}

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

std::string jsonText(const Report &report) {
  using Json = nlohmann::ordered_json;
  std::vector<Column> columns = columnsOf(report);
  Json rows = Json::array();
  for (size_t i = 0; i < report.rows.size(); ++i) {
    const Row &row = report.rows[i];
    const Summary &ms = row.times.ms;
    Json point = Json::object(), one;
    for (size_t v = 0; v < row.point.size(); ++v) {
      point[report.variables[v]] = row.point[v];
    }
    one["point"] = point;
    one["provider"] = row.times.name;
    for (const Column &column : columns) {
      one[heading(column)] =
          column.values[i] ? Json(*column.values[i]) : Json();
    }
    one["least [ms]"] = ms.least;
    one["lower quartile [ms]"] = ms.lowerQuartile;
    one["upper quartile [ms]"] = ms.upperQuartile;
    one["samples"] = ms.samples;
    one["runs a sample"] = row.times.runs;
    one["cold"] = row.times.isCold;
    if (row.work) {
      one["bytes"] = row.work->bytes;
      one["float operations"] = row.work->floatOperations;
      one["product operations"] = row.work->products;
      one["counted from a sample"] = row.work->isSample;
    }
    if (!row.configuration.empty()) {
      one["configuration"] = row.configuration;
    }
    if (row.maxDifference) {
      one["differs"] = row.differs;
    }
    if (row.times.failure) {
      one["failure"] = row.times.failure->str();
    }
    rows.push_back(one);
  }
  Json all = {{"made",
               {{"date", report.date},
                {"program", report.program},
                {"command", report.command}}},
              {"title", report.title},
              {"device", report.device},
              {"variables", report.variables},
              {"baseline", report.baseline},
              {"reference", report.reference}};
  if (report.roofline) {
    all["roofline"] = Json::parse(textOf(*report.roofline));
  }
  all["notes"] = report.notes;
  all["rows"] = rows;
  return all.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

} // namespace nereid::bench
