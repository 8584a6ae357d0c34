#pragma once
#include "nereid/Syntax/PythonParser.h"
namespace nereid::syntax {
class Explainer {
public:
  explicit Explainer(PythonParser &p) : p(p) {}
  void explain(Start) {
    if (!p.raised) {
      p.raise(p.tokens.back().span, "invalid syntax");
    }
  }
  PythonParser &p;
};
} // namespace nereid::syntax
