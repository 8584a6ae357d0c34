//===- Enums.cpp - Members of enums -----------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A member of an Enum is an object with a name and a value, one for each value.
// Members of IntEnum and of other enums of numbers or texts are these values
// themselves. In a kernel every member is its value.
//
//===----------------------------------------------------------------------===//

#include "nereid/IRGen/Eval/Evaluator.h"
#include "nereid/IRGen/Host/Objects.h"

namespace nereid::irgen {

bool isEnumBase(llvm::StringRef name) {
  llvm::StringRef last = name.rsplit('.').second;
  last = last.empty() ? name : last;
  return last == "Enum" || last == "Flag" || isPlainEnumBase(last);
}

bool isPlainEnumBase(llvm::StringRef name) {
  llvm::StringRef last = name.rsplit('.').second;
  last = last.empty() ? name : last;
  return last == "IntEnum" || last == "IntFlag" || last == "StrEnum";
}

bool isEnumMember(const Value &value) {
  return value.isObject() && value.object().cls && value.object().cls->isEnum;
}

Value plainValue(const Value &value) {
  if (isEnumMember(value)) {
    if (const Value *plain = value.object().find("value")) {
      Value result = *plain;
      result.constexprGlobal = value.constexprGlobal;
      return result;
    }
  }
  return value;
}

std::vector<Value> enumMembers(const PythonClass &cls) {
  std::vector<Value> members;
  for (const std::string &name : cls.enumMembers) {
    if (const Value *member = cls.ownMember(name)) {
      // Of two names for one value, the first is the member.
      if (llvm::none_of(members, [&](const Value &other) {
            return equal(other, *member);
          })) {
        members.push_back(*member);
      }
    }
  }
  return members;
}

/// Color(1): the member of a value.
FailureOr<Value> enumMember(Diagnostics &diag, const PythonClass &cls,
                            const Value &value) {
  if (value.isOpaque()) {
    return diag.hostError("'" + cls.name + "' of " + value.describe());
  }
  for (const Value &member : enumMembers(cls)) {
    if (equal(member, value) || equal(plainValue(member), value)) {
      return member;
    }
  }
  return diag.raises("ValueError")
      .error(value.repr() + " is no value of '" + cls.name +
             "'; expected one of its members' values");
}

} // namespace nereid::irgen
