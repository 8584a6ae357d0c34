//===- Svg.cpp - What all pictures of numbers share -----------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Bench/Svg.h"

#include "nereid/Support/Markup.h"

#include <cstdio>

namespace nereid::bench {

std::string svgBegin(int height, const std::string &title) {
  std::string size = std::to_string(svgWidth), high = std::to_string(height);
  return "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + size +
         "\" height=\"" + high + "\" viewBox=\"0 0 " + size + " " + high +
         "\" role=\"img\">\n<title>" + escapedMarkup(title) + "</title>\n" +
         R"(<style>
svg{background:#fff;font:12px system-ui,sans-serif}text{fill:#1c2024}.title{font-weight:600;font-size:14px}
.grid{stroke:#d7dce0;fill:none}.line{fill:none;stroke-width:2}
.s0{stroke:#0072b2}.s1{stroke:#d55e00}.s2{stroke:#009e73}.s3{stroke:#aa4499}.s4{stroke:#b8860b}.s5{stroke:#56a0d3}.s6{stroke:#7f3b08}.s7{stroke:#666}
.bar{stroke:none}.bar.s0{fill:#0072b2}.bar.s1{fill:#d55e00}.bar.s2{fill:#009e73}.bar.s3{fill:#aa4499}.bar.s4{fill:#b8860b}.bar.s5{fill:#56a0d3}.bar.s6{fill:#7f3b08}.bar.s7{fill:#666}
.mark{fill:#fff;stroke-width:2}
@media(prefers-color-scheme:dark){svg{background:#15181b}text{fill:#e6e9ec}.grid{stroke:#343b42}.mark{fill:#15181b}
.s0{stroke:#4da6e0}.s1{stroke:#f08a4b}.s2{stroke:#3cc79d}.s3{stroke:#d17fc4}.s4{stroke:#e0b040}.s5{stroke:#9fd0f0}.s6{stroke:#c98a5a}.s7{stroke:#aaa}
.bar.s0{fill:#4da6e0}.bar.s1{fill:#f08a4b}.bar.s2{fill:#3cc79d}.bar.s3{fill:#d17fc4}.bar.s4{fill:#e0b040}.bar.s5{fill:#9fd0f0}.bar.s6{fill:#c98a5a}.bar.s7{fill:#aaa}}
</style>
)";
}

std::string svgNumber(double value, int digits) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.*g", digits, value);
  return text;
}

std::string svgLabel(double x, double y, const char *anchor,
                     const std::string &text, const char *more) {
  return "<text x=\"" + svgNumber(x) + "\" y=\"" + svgNumber(y) +
         "\" text-anchor=\"" + anchor + "\"" + more + ">" +
         escapedMarkup(text) + "</text>\n";
}

} // namespace nereid::bench
