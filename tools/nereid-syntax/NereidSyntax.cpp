//===- NereidSyntax.cpp - Looks at what the parser makes of a file --------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   nereid-syntax FILE...          the trees, as text; or the diagnostics
//   nereid-syntax --batch < LIST   one line for each file: what became of it
//   nereid-syntax --time FILE...   how long parsing takes, reading excluded
//
//===----------------------------------------------------------------------===//

#include "nereid/Syntax/Dump.h"
#include "nereid/Syntax/Parser.h"

#include <CLI/CLI.hpp>

#include <array>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <iterator>

using namespace nereid;

static bool readFile(const std::string &path, std::string &out) {
  std::ifstream file(path, std::ios::binary);
  out.assign(std::istreambuf_iterator<char>(file), {});
  return file.good() || file.eof();
}

/// As zlib.crc32, so that a script can compare without seeing the text.
static uint32_t crc32(const std::string &text) {
  static const std::array<uint32_t, 256> table = [] {
    std::array<uint32_t, 256> out;
    for (uint32_t i = 0; i < 256; ++i) {
      uint32_t value = i;
      for (int bit = 0; bit < 8; ++bit) {
        value = value & 1 ? value >> 1 ^ 0xedb88320 : value >> 1;
      }
      out[i] = value;
    }
    return out;
  }();
  uint32_t crc = 0xffffffff;
  for (unsigned char byte : text) {
    crc = crc >> 8 ^ table[(crc ^ byte) & 0xff];
  }
  return ~crc;
}

/// "ok CRC LENGTH" of the tree's text, or "error LINE COLUMN MESSAGE".
static void batch() {
  std::string path, text;
  while (std::getline(std::cin, path)) {
    if (!readFile(path, text)) {
      std::cout << "unreadable\n";
      continue;
    }
    auto parsed = parseModule(path, text);
    if (parsed.ok()) {
      std::string tree = ast::dump((*parsed)->module);
      std::cout << "ok " << crc32(tree) << ' ' << tree.size() << '\n';
    } else {
      const Diagnostic &d = parsed.failure().diagnostics.at(0);
      std::cout << "error " << d.location.line << ' ' << d.location.column
                << ' ' << d.message << '\n';
    }
    std::cout.flush();
  }
}

static int show(const std::vector<std::string> &files) {
  int result = 0;
  std::string text;
  for (const std::string &path : files) {
    if (!readFile(path, text)) {
      std::cerr << "nereid-syntax: cannot read " << path << '\n';
      result = 1;
      continue;
    }
    auto parsed = parseModule(path, text);
    if (parsed.ok()) {
      std::cout << ast::dump((*parsed)->module);
    } else {
      std::cerr << parsed.failure().str();
      result = 1;
    }
  }
  return result;
}

static int measure(const std::vector<std::string> &files) {
  std::vector<std::string> texts(files.size());
  size_t bytes = 0, lines = 0, rejected = 0;
  for (size_t i = 0; i < files.size(); ++i) {
    readFile(files[i], texts[i]);
    bytes += texts[i].size();
  }
  auto start = std::chrono::steady_clock::now();
  for (size_t i = 0; i < files.size(); ++i) {
    auto parsed = parseModule(files[i], std::move(texts[i]));
    rejected += !parsed.ok();
    lines += parsed.ok() ? (*parsed)->source.lineCount() : 0;
  }
  std::chrono::duration<double> seconds =
      std::chrono::steady_clock::now() - start;
  std::printf(
      "%zu files, %zu lines, %.1f MB in %.3f s: %.1f MB/s; %zu rejected\n",
      files.size(), lines, bytes / 1e6, seconds.count(),
      bytes / 1e6 / seconds.count(), rejected);
  return 0;
}

int main(int argc, char **argv) {
  CLI::App app{"Shows the syntax trees of Python files.", "nereid-syntax"};
  std::vector<std::string> files;
  bool isBatch = false, isTimed = false;
  app.add_option("FILE", files, "Python files");
  app.add_flag("--batch", isBatch,
               "read file names from standard input; one line of result each");
  app.add_flag("--time", isTimed, "print how long parsing took");
  CLI11_PARSE(app, argc, argv);
  if (isBatch) {
    batch();
    return 0;
  }
  return isTimed ? measure(files) : show(files);
}
