//===- LaunchMemo.cpp - A launch like an earlier one ----------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "python/native/LaunchMemo.h"

#include "python/native/Core.h"

#include <algorithm>

namespace nereid::python {

/// Names of a call are interned: those of another place in the program are
/// another tuple of the same objects.
static bool areSameNames(PyObject *a, PyObject *b) {
  if (a == b) {
    return true;
  }
  Py_ssize_t count = a ? PyTuple_Size(a) : 0;
  if (count != (b ? PyTuple_Size(b) : 0)) {
    return false;
  }
  for (Py_ssize_t i = 0; i < count; ++i) {
    if (PyTuple_GetItem(a, i) != PyTuple_GetItem(b, i)) {
      return false;
    }
  }
  return true;
}

bool LaunchMemo::match(const Call &call, Held &held,
                       LaunchArguments &found) const {
  if (call.positional != positional || !areSameNames(call.names, names.get())) {
    return false;
  }
  found.assign(arguments);
  held.asAddresses = asAddresses;
  for (const ArgumentRule &rule : rules) {
    if (!readLike(rule, call.arguments[rule.given], held,
                  found[rule.argument])) {
      return false;
    }
  }
  return true;
}

void LaunchMemos::toFront(size_t i) {
  std::rotate(latest.begin(), latest.begin() + static_cast<std::ptrdiff_t>(i),
              latest.begin() + static_cast<std::ptrdiff_t>(i) + 1);
}

void LaunchMemos::throwOut(LaunchMemo *memo) {
  memo->isThrownOut = true;
  if (!memo->pins) {
    delete memo;
  }
}

void LaunchMemos::add(std::unique_ptr<LaunchMemo> memo) {
  LaunchMemo *oldest = nullptr;
  if (count == most) {
    oldest = latest[most - 1];
  } else {
    ++count;
  }
  latest[count - 1] = memo.release();
  toFront(count - 1);
  if (oldest) {
    throwOut(oldest); // last: it may run Python
  }
}

void LaunchMemos::clear() {
  std::array<LaunchMemo *, most> old = std::exchange(latest, {});
  size_t n = std::exchange(count, 0);
  for (size_t i = 0; i < n; ++i) {
    throwOut(old[i]);
  }
}

int LaunchMemos::traverse(visitproc visit, void *arg) const {
  for (size_t i = 0; i < count; ++i) {
    Py_VISIT(latest[i]->names.get());
    Py_VISIT(latest[i]->form.get());
    Py_VISIT(latest[i]->meta.get());
    for (const Ref &object : latest[i]->kept) {
      Py_VISIT(object.get());
    }
  }
  return 0;
}

} // namespace nereid::python
