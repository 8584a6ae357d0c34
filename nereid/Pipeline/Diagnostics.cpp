//===- Diagnostics.cpp - What MLIR says, as Nereid's diagnostics ---===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Pipeline/Diagnostics.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Location.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace nereid {

std::string getSourceLine(const Source &source, unsigned line) {
  const std::string &text = source.text;
  size_t begin = 0;
  for (unsigned i = 1; i < line; ++i) {
    begin = text.find('\n', begin);
    if (begin == std::string::npos) {
      return {};
    }
    ++begin;
  }
  return text.substr(begin, text.find('\n', begin) - begin);
}

/// Positions from innermost to outermost: callee before caller.
static void collectPositions(Location location,
                             SmallVectorImpl<FileLineColRange> &positions) {
  llvm::TypeSwitch<LocationAttr>(location)
      .Case([&](FileLineColRange range) { positions.push_back(range); })
      .Case([&](CallSiteLoc call) {
        collectPositions(call.getCallee(), positions);
        collectPositions(call.getCaller(), positions);
      })
      .Case([&](NameLoc named) {
        collectPositions(named.getChildLoc(), positions);
      })
      .Case([&](FusedLoc fused) {
        if (!fused.getLocations().empty()) {
          collectPositions(fused.getLocations().front(), positions);
        }
      });
}

static void setPosition(Diagnostic &diagnostic, FileLineColRange range,
                        const Source &source) {
  SourceLocation &at = diagnostic.location;
  at.file = range.getFilename().str();
  at.line = range.getStartLine();
  at.column = range.getStartColumn();
  at.endLine = range.getEndLine();
  at.endColumn = range.getEndColumn();
  if (at.file == source.path) {
    diagnostic.sourceLine = getSourceLine(source, at.line);
  }
}

Diagnostic makeDiagnostic(Location location, Severity severity,
                          std::string message, const Source &source) {
  Diagnostic result;
  result.severity = severity;
  result.message = std::move(message);
  SmallVector<FileLineColRange> positions;
  collectPositions(location, positions);
  for (auto [i, position] : llvm::enumerate(positions)) {
    if (i == 0) {
      setPosition(result, position, source);
      continue;
    }
    Diagnostic note;
    note.severity = Severity::Note;
    note.message = "called from here";
    setPosition(note, position, source);
    result.notes.push_back(std::move(note));
  }
  if (positions.empty()) {
    result.location.file = source.path;
  }
  return result;
}

static Severity convertSeverity(DiagnosticSeverity severity) {
  switch (severity) {
  case DiagnosticSeverity::Note:
    return Severity::Note;
  case DiagnosticSeverity::Warning:
    return Severity::Warning;
  case DiagnosticSeverity::Error:
    return Severity::Error;
  case DiagnosticSeverity::Remark:
    return Severity::Remark;
  }
  return Severity::Error;
}

DiagnosticCollector::DiagnosticCollector(MLIRContext &context,
                                         const Source &source)
    : context(context), source(source) {
  handler =
      context.getDiagEngine().registerHandler([this](mlir::Diagnostic &said) {
        Diagnostic converted = makeDiagnostic(
            said.getLocation(), convertSeverity(said.getSeverity()), said.str(),
            this->source);
        for (mlir::Diagnostic &note : said.getNotes()) {
          converted.notes.push_back(makeDiagnostic(
              note.getLocation(), Severity::Note, note.str(), this->source));
        }
        diagnostics.push_back(std::move(converted));
        return success();
      });
}

DiagnosticCollector::~DiagnosticCollector() {
  context.getDiagEngine().eraseHandler(handler);
}

Failure DiagnosticCollector::failure(const std::string &stage) {
  bool hasError = llvm::any_of(diagnostics, [](const Diagnostic &d) {
    return d.severity == Severity::Error;
  });
  if (hasError) {
    return {ErrorCode::CompileError, "", diagnostics};
  }
  return {ErrorCode::Internal,
          "stage '" + stage +
              "' failed without saying why; NEREID_DUMP=<folder> keeps its "
              "input",
          diagnostics};
}

std::vector<Diagnostic> DiagnosticCollector::warnings() const {
  std::vector<Diagnostic> result;
  for (const Diagnostic &d : diagnostics) {
    if (d.severity != Severity::Error) {
      result.push_back(d);
    }
  }
  return result;
}

} // namespace nereid
