//===- Objects.h - Objects of the host --------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_IRGEN_HOST_OBJECTS_H
#define NEREID_IRGEN_HOST_OBJECTS_H

#include "nereid/IRGen/Eval/Diagnostics.h"
#include "nereid/IRGen/Eval/Function.h"

namespace nereid::irgen {

struct Argument; // Builtins.h

/// Whether a base class, by its last name, makes an enum; and whether members
/// of that enum are plain numbers or texts.
bool isEnumBase(llvm::StringRef name);
bool isPlainEnumBase(llvm::StringRef name);

bool isEnumMember(const Value &value);
/// The value of a member of an enum; any other value itself.
Value plainValue(const Value &value);
/// In the order of the class, without second names.
std::vector<Value> enumMembers(const PythonClass &cls);

/// Color(1): the member of a value.
FailureOr<Value> enumMember(Diagnostics &diag, const PythonClass &cls,
                            const Value &value);

/// `@property`, `@cached_property`, `@classmethod`, `@staticmethod`, by syntax.
bool isDecoratedAs(const Value &member, llvm::StringRef what);

/// The module that globals() gave the names of; null: it is something else.
SourceModule *namespaceOf(const Value &value);

/// Whether a class is, or derives from, one of Python's exceptions.
bool isException(const PythonClass &cls);
/// Arguments without their names.
std::vector<Value> valuesOf(llvm::ArrayRef<Argument> arguments);

/// A class of Python's exceptions, by name.
bool isExceptionName(llvm::StringRef name);
/// Whether `except handler` catches an exception of class `raised`: the same,
/// or derived from it as in Python.
bool isCaughtBy(llvm::StringRef raised, llvm::StringRef handler);

} // namespace nereid::irgen

#endif // NEREID_IRGEN_HOST_OBJECTS_H
