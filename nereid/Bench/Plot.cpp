//===- Plot.cpp - Lines of a report, and their picture --------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Bench/Report.h"
#include "nereid/Bench/Svg.h"

#include "nereid/Support/Markup.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

namespace nereid::bench {

static std::optional<double> numberOf(const std::string &text) {
  double value = 0;
  const char *last = text.data() + text.size();
  auto [end, error] = std::from_chars(text.data(), last, value);
  return error == std::errc() && end == last ? std::optional(value)
                                             : std::nullopt;
}

namespace {

/// Where a report's rows lie on the x axis.
struct Axis {
  explicit Axis(const Report &report);
  double at(const Row &row) const;

  std::string name;
  bool isLog = false;
  std::vector<std::string> categories; ///< empty: numbers
};

} // namespace

Axis::Axis(const Report &report) {
  bool areNumbers = !report.variables.empty();
  double least = INFINITY, most = 0;
  name = areNumbers ? report.variables[0] : "";
  for (const Row &row : report.rows) {
    std::string value = row.point.empty() ? "" : row.point[0];
    std::optional<double> number = numberOf(value);
    areNumbers &= number.has_value();
    least = std::min(least, number.value_or(0));
    most = std::max(most, number.value_or(0));
    if (std::find(categories.begin(), categories.end(), value) ==
        categories.end()) {
      categories.push_back(value);
    }
  }
  isLog = areNumbers && least > 0 && most >= 16 * least;
  if (areNumbers) {
    categories.clear();
  }
}

double Axis::at(const Row &row) const {
  std::string value = row.point.empty() ? "" : row.point[0];
  if (categories.empty()) {
    return *numberOf(value);
  }
  return double(std::find(categories.begin(), categories.end(), value) -
                categories.begin());
}

static std::string lineOf(const Report &report, const Row &row) {
  std::string name = row.times.name;
  for (size_t i = 1; i < row.point.size(); ++i) {
    name += ", " + report.variables[i] + "=" + row.point[i];
  }
  return name;
}

std::vector<Plot> plotsOf(const Report &report) {
  Axis axis(report);
  std::vector<Column> columns = columnsOf(report);
  auto columnOf = [&](const char *name) -> const Column * {
    for (const Column &column : columns) {
      if (column.name == name) {
        return &column;
      }
    }
    return nullptr;
  };
  std::vector<Plot> plots;
  auto add = [&](const char *title, const Column *column, bool isLog) {
    if (!column) {
      return;
    }
    Plot plot{title,           axis.name, column->unit, axis.isLog, isLog,
              axis.categories, {}};
    for (size_t i = 0; i < report.rows.size(); ++i) {
      if (!column->values[i]) {
        continue;
      }
      const Row &row = report.rows[i];
      std::string name = lineOf(report, row);
      auto line = std::find_if(plot.lines.begin(), plot.lines.end(),
                               [&](const Line &l) { return l.name == name; });
      if (line == plot.lines.end()) {
        line = plot.lines.insert(line, {name, {}});
      }
      double y = *column->values[i];
      const Summary &ms = row.times.ms;
      bool isTime = column->name == "time";
      line->points.push_back({axis.at(row), y, isTime ? ms.lowerQuartile : y,
                              isTime ? ms.upperQuartile : y});
    }
    for (const Row &row : report.rows) {
      plot.places.push_back(axis.at(row));
    }
    std::sort(plot.places.begin(), plot.places.end());
    plots.push_back(std::move(plot));
  };
  bool multiplies =
      std::any_of(report.rows.begin(), report.rows.end(), [](const Row &row) {
        return row.work && !row.work->products.empty();
      });
  add("Time", columnOf("time"), true);
  add("Rate", columnOf(multiplies ? "rate" : "bandwidth"), false);
  add("Share of the roofline", columnOf("roofline"), false);
  return plots;
}

//===----------------------------------------------------------------------===//
// SVG
//===----------------------------------------------------------------------===//

namespace {

/// From values to the picture's pixels.
struct Scale {
  Scale(double low, double high, bool isLog, double from, double to)
      : isLog(isLog), low(low), high(high), from(from), to(to) {}
  double position(double value) const {
    return isLog ? std::log(value) : value;
  }
  double operator()(double value) const {
    double begin = position(low), end = position(high);
    return end > begin
               ? from + (to - from) * (position(value) - begin) / (end - begin)
               : (from + to) / 2;
  }
  /// 1, 2, 5 times powers of ten; of a linear axis multiples of one of them.
  std::vector<double> ticks() const;

  bool isLog;
  double low, high, from, to;
};

} // namespace

std::vector<double> Scale::ticks() const {
  std::vector<double> ticks;
  if (isLog) {
    bool isWide = high / low > 1e3;
    for (double power = std::pow(10, std::floor(std::log10(low)));
         power <= high; power *= 10) {
      for (double factor : {1, 2, 5}) {
        double value = factor * power;
        if (value >= low && value <= high && (factor == 1 || !isWide)) {
          ticks.push_back(value);
        }
      }
    }
    return ticks;
  }
  double rough = (high - low) / 5,
         power = std::pow(10, std::floor(std::log10(rough)));
  double step = power * (rough / power > 5   ? 10
                         : rough / power > 2 ? 5
                         : rough / power > 1 ? 2
                                             : 1);
  for (double i = std::ceil(low / step); i * step <= high * (1 + 1e-9); ++i) {
    ticks.push_back(i * step);
  }
  return ticks;
}

static constexpr int width = svgWidth, height = 300, left = 70, right = 20,
                     top = 40, bottom = 45, legendLine = 18;

static std::string straight(double x1, double y1, double x2, double y2) {
  return "<path class=\"grid\" d=\"M" + svgNumber(x1) + " " + svgNumber(y1) +
         "L" + svgNumber(x2) + " " + svgNumber(y2) + "\"/>\n";
}

/// What a picture can show of many points.
static std::vector<Point> thinned(const std::vector<Point> &points) {
  constexpr size_t most = 1000, parts = most / 2;
  if (points.size() <= most) {
    return points;
  }
  std::vector<Point> result;
  for (size_t part = 0; part < parts; ++part) {
    auto first = points.begin() + ptrdiff_t(part * points.size() / parts),
         last = points.begin() + ptrdiff_t((part + 1) * points.size() / parts);
    auto [low, high] = std::minmax_element(
        first, last, [](const Point &a, const Point &b) { return a.y < b.y; });
    result.push_back(low <= high ? *low : *high);
    if (low != high) {
      result.push_back(low <= high ? *high : *low);
    }
  }
  return result;
}

/// The y axis: from 0, or from near the data.
static Scale yScale(const Plot &plot, double low, double high, double y0) {
  bool isLog = plot.isLogY && low > 0;
  double from = isLog ? low / 1.2 : 0,
         to = high > 0 ? high * (isLog ? 1.2 : 1.08) : 1;
  if (plot.isNearData && !isLog && high > low) {
    double space = (high - low) * 0.08;
    from = low >= 0 ? std::max(low - space, 0.0) : low - space;
    to = high + space;
  }
  return {from, to, isLog, y0 + height - bottom, y0 + top};
}

/// Is there a place between the two, where the line has no point?
static bool isGap(const Plot &plot, double from, double to) {
  auto next = std::upper_bound(plot.places.begin(), plot.places.end(), from);
  return next != plot.places.end() && *next < to;
}

/// Of lines that share a colour.
static std::string dashesOf(size_t line) {
  static constexpr const char *dashes[] = {"", "8 4", "2 4", "8 4 2 4"};
  const char *own = dashes[line / 8 % std::size(dashes)];
  return *own ? std::string(" stroke-dasharray=\"") + own + "\"" : "";
}

static std::string panelText(const Plot &plot, double y0) {
  double xLow = INFINITY, xHigh = -INFINITY, yLow = INFINITY, yHigh = 0;
  std::vector<double> xs;
  for (const Line &line : plot.lines) {
    for (const Point &point : line.points) {
      xLow = std::min(xLow, point.x);
      xHigh = std::max(xHigh, point.x);
      yLow = std::min(yLow, point.low);
      yHigh = std::max(yHigh, point.high);
      xs.push_back(point.x);
    }
  }
  std::sort(xs.begin(), xs.end());
  xs.erase(std::unique(xs.begin(), xs.end()), xs.end());
  Scale x(xLow, xHigh, plot.isLogX, left + 15, width - right - 15);
  Scale y = yScale(plot, yLow, yHigh, y0);
  std::string text =
      svgLabel(left, y0 + 22, "start", plot.title + " [" + plot.yName + "]",
               " class=\"title\"");
  for (double tick : y.ticks()) {
    text += straight(left, y(tick), width - right, y(tick)) +
            svgLabel(left - 8, y(tick) + 4, "end", svgNumber(tick));
  }
  // The points themselves, if their names have room; else round numbers.
  bool areMany = xs.size() > 12 && plot.categories.empty();
  for (double tick : areMany ? x.ticks() : std::vector<double>()) {
    text += svgLabel(x(tick), y0 + height - bottom + 18, "middle",
                     svgNumber(tick, 12));
  }
  size_t every = xs.size() / 10 + 1;
  for (size_t i = 0; i < xs.size() && !areMany; i += every) {
    text += svgLabel(x(xs[i]), y0 + height - bottom + 18, "middle",
                     plot.categories.empty() ? svgNumber(xs[i], 12)
                                             : plot.categories[size_t(xs[i])]);
  }
  text += svgLabel((left + width - right) / 2.0, y0 + height - 6, "middle",
                   plot.xName);
  for (size_t i = 0; i < plot.lines.size(); ++i) {
    std::vector<Point> points = thinned(plot.lines[i].points);
    bool areMarked = points.size() <= 50;
    std::string path, marks, color = "s" + std::to_string(i % 8);
    for (size_t at = 0; at < points.size(); ++at) {
      const Point &point = points[at];
      std::string px = svgNumber(x(point.x)), py = svgNumber(y(point.y));
      bool begins = at == 0 || isGap(plot, points[at - 1].x, point.x);
      path += (begins ? "M" : "L") + px + " " + py;
      if (point.high > point.low) {
        marks += "<path class=\"line " + color + "\" d=\"M" + px + " " +
                 svgNumber(y(point.low)) + "V" + svgNumber(y(point.high)) +
                 "\"/>\n";
      }
      if (areMarked) {
        marks += "<circle class=\"mark " + color + "\" cx=\"" + px +
                 "\" cy=\"" + py + "\" r=\"3\"/>\n";
      }
    }
    text += "<path class=\"line " + color + "\"" + dashesOf(i) + " d=\"" +
            path + "\"/>\n" + marks;
  }
  return text;
}

std::string svgOf(const std::string &title, std::span<const Plot> plots) {
  auto legendOf = [](const Plot &plot) {
    return plot.lines.size() > 1 ? int(plot.lines.size()) : 0;
  };
  int total = 40;
  for (const Plot &plot : plots) {
    total += height + legendOf(plot) * legendLine;
  }
  std::string text = svgBegin(total, title) +
                     svgLabel(left, 24, "start", title, " class=\"title\"");
  double y = 40;
  for (const Plot &plot : plots) {
    text += panelText(plot, y);
    y += height;
    for (int i = 0; i < legendOf(plot); ++i, y += legendLine) {
      text += "<path class=\"line s" + std::to_string(i % 8) + "\"" +
              dashesOf(size_t(i)) + " d=\"M" + svgNumber(left) + " " +
              svgNumber(y) + "h24\"/>\n" +
              svgLabel(left + 32, y + 4, "start", plot.lines[size_t(i)].name);
    }
  }
  return text + "</svg>\n";
}

std::string svgText(const Report &report) {
  std::vector<Plot> plots = plotsOf(report);
  size_t names = plots.empty() ? 0 : plots[0].lines.size();
  int total = int(plots.size()) * height + int(names) * legendLine + 40;
  std::string title = report.title + " on " + report.device;
  std::string text = svgBegin(total, title) +
                     svgLabel(left, 24, "start", title, " class=\"title\"");
  double y = 40;
  for (size_t i = 0; i < names; ++i, y += legendLine) {
    text += "<path class=\"line s" + std::to_string(i % 8) + "\"" +
            dashesOf(i) + " d=\"M" + svgNumber(left) + " " + svgNumber(y) +
            "h24\"/>\n" +
            svgLabel(left + 32, y + 4, "start", plots[0].lines[i].name);
  }
  for (const Plot &plot : plots) {
    text += panelText(plot, y);
    y += height;
  }
  return text + "</svg>\n";
}

//===----------------------------------------------------------------------===//
// HTML
//===----------------------------------------------------------------------===//

static const char *pageTemplate() {
  static const std::pair<const char *, const char *> sources[] = {
#include "nereid/Bench/PageSources.inc"
  };
  return sources[0].second;
}

std::string htmlText(const Report &report) {
  using Json = nlohmann::ordered_json;
  Json plots = Json::array();
  for (const Plot &plot : plotsOf(report)) {
    Json lines = Json::array();
    for (const Line &line : plot.lines) {
      Json points = Json::array();
      for (const Point &p : line.points) {
        points.push_back({p.x, p.y, p.low, p.high});
      }
      lines.push_back({{"name", line.name}, {"points", points}});
    }
    plots.push_back({{"title", plot.title},
                     {"x", plot.xName},
                     {"y", plot.yName},
                     {"logX", plot.isLogX},
                     {"logY", plot.isLogY},
                     {"categories", plot.categories},
                     {"places", plot.places},
                     {"lines", lines}});
  }
  Json all = {{"report", Json::parse(jsonText(report))}, {"plots", plots}};
  std::string data = all.dump(-1, ' ', false, Json::error_handler_t::replace);
  // Nothing in the data may end the element that holds it.
  for (size_t at = 0; (at = data.find("</", at)) != std::string::npos;) {
    data.replace(at, 2, "<\\/");
  }
  std::string page = pageTemplate(), place = "@DATA@", name = "@TITLE@";
  page.replace(page.find(name), name.size(),
               escapedMarkup(report.title + " on " + report.device));
  return page.replace(page.find(place), place.size(), data);
}

} // namespace nereid::bench
