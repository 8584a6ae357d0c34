//===- Profiler.cpp - What a program did, as a trace ----------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Prof/Profiler.h"

#include "nereid/Prof/Recording.h"
#include "nereid/Runtime/Error.h"
#include "nereid/Support/Files.h"

#include <cstdio>

namespace nereid {

Profiler::Profiler(ProfilerOptions options)
    : recording(std::make_shared<prof::Recording>(std::move(options))) {}

Profiler::~Profiler() { recording->stop(); }

void Profiler::start() { recording->start(nullptr); }

void Profiler::start(Context &context) { recording->start(&context); }

void Profiler::stop() { recording->stop(); }

bool Profiler::isRecording() const { return recording->isOn(); }

std::string Profiler::json() { return prof::jsonText(recording->trace()); }

void Profiler::write(const std::string &path) {
  throwIfFailed(writeFileAtomically(path, json()));
}

std::vector<std::string> Profiler::notes() const { return recording->notes(); }

TraceFile::TraceFile(std::string file, ProfilerOptions options)
    : path(std::move(file)), recorder(std::move(options)) {
  OutputFiles outputs;
  throwIfFailed(outputs.add("the trace", path));
  recorder.start();
}

TraceFile::~TraceFile() {
  try {
    finish();
  } catch (const std::exception &error) {
    std::fprintf(stderr, "nereid: %s\n", error.what());
  }
}

void TraceFile::finish() {
  if (!path.empty()) {
    recorder.stop();
    recorder.write(std::exchange(path, ""));
  }
}

} // namespace nereid
