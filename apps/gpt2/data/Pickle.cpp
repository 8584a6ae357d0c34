//===- Pickle.cpp - Python's pickles, read as data ------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "apps/gpt2/data/Pickle.h"

#include "apps/gpt2/data/Utf8.h"

#include "nereid/Runtime/Error.h"
#include "nereid/Support/Log.h"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstring>
#include <unordered_map>

namespace nereid::gpt2 {

using Kind = PickleValue::Kind;

static constexpr size_t mostValues = size_t{1} << 22;
static constexpr uint64_t mostParts = uint64_t{1} << 24;
static constexpr uint32_t mostDepth = 64;

const PickleValue *PickleValue::find(std::string_view key) const {
  for (size_t i = kind == Kind::Dict ? items.size() : 0; i >= 2; i -= 2) {
    const PickleValue &one = *items[i - 2];
    if (one.is(Kind::Text) && one.text == key) {
      return items[i - 1];
    }
  }
  return nullptr;
}

std::optional<double> PickleValue::asNumber() const {
  if (kind == Kind::Integer) {
    return static_cast<double>(integer);
  }
  return kind == Kind::Float ? std::optional(number) : std::nullopt;
}

std::string describe(const PickleValue &value) {
  switch (value.kind) {
  case Kind::None:
    return "None";
  case Kind::Bool:
    return value.integer ? "True" : "False";
  case Kind::Integer:
    return "the integer " + std::to_string(value.integer);
  case Kind::Float:
    return "the number " + std::to_string(value.number);
  case Kind::Text:
    return "the text '" + printable(value.text.substr(0, 60)) + "'";
  case Kind::Bytes:
    return "bytes";
  case Kind::List:
    return "a list";
  case Kind::Tuple:
    return "a tuple";
  case Kind::Set:
    return "a set";
  case Kind::Dict:
    return "a dictionary";
  case Kind::Global:
    return "'" + printable(value.text) + "'";
  case Kind::Call:
    return "an object of '" + printable(value.text) + "'";
  case Kind::Persistent:
    return "a thing outside of the pickle";
  }
  return "nothing";
}

namespace {

/// The machine, without what would run anything.
class Machine {
public:
  Machine(std::string_view bytes, const std::string &name,
          std::span<const std::string_view> globals,
          std::deque<PickleValue> &values)
      : bytes(bytes), name(name), globals(globals), values(values) {}

  const PickleValue *run() {
    if (!bytes.starts_with('\x80')) {
      fail("expected a pickle of protocol 2 or later, whose first byte is 128, "
           "got another file");
    }
    while (true) {
      start = at;
      auto code = static_cast<uint8_t>(take(1)[0]);
      if (code == '.') {
        break;
      }
      if (!readStructure(code) && !readPlain(code) && !readNames(code)) {
        char text[8];
        std::snprintf(text, sizeof(text), "0x%02x", code);
        fail("expected an instruction of plain data, got " + std::string(text));
      }
    }
    const PickleValue *root = pop();
    if (!stack.empty() || !marks.empty()) {
      fail("expected one value at its end, got several");
    }
    if (at != bytes.size()) {
      fail("expected its end, got " + std::to_string(bytes.size() - at) +
           " more bytes");
    }
    return root;
  }

  [[noreturn]] void fail(const std::string &why,
                         ErrorCode code = ErrorCode::IoError) const {
    raise({code,
           "'" + name + "': byte " + std::to_string(start) + " of the pickle" +
               ": " + why,
           {}});
  }

private:
  //===--------------------------------------------------------------------===//
  // Bytes
  //===--------------------------------------------------------------------===//

  std::string_view take(uint64_t count) {
    if (count > bytes.size() - at) {
      fail("the pickle is cut off: expected " + std::to_string(count) +
           " more bytes, got " + std::to_string(bytes.size() - at));
    }
    std::string_view part = bytes.substr(at, count);
    at += count;
    return part;
  }
  uint64_t unsignedOf(int count) {
    uint64_t number = 0;
    std::string_view part = take(static_cast<uint64_t>(count));
    for (int i = 0; i < count; ++i) {
      number |= uint64_t{static_cast<uint8_t>(part[static_cast<size_t>(i)])}
                << 8 * i;
    }
    return number;
  }
  int64_t signedOf(uint64_t count) {
    if (count > 8) {
      take(count);
      fail("expected an integer of at most 8 bytes, got one of " +
           std::to_string(count));
    }
    if (count == 0) {
      return 0;
    }
    int shift = 64 - 8 * static_cast<int>(count);
    return static_cast<int64_t>(unsignedOf(static_cast<int>(count)) << shift) >>
           shift;
  }
  std::string_view line() {
    size_t end = bytes.find('\n', at);
    if (end == std::string_view::npos) {
      fail("the pickle is cut off: expected the end of a line");
    }
    size_t length = end - at;
    return take(length + 1).substr(0, length);
  }

  //===--------------------------------------------------------------------===//
  // Values and the stack
  //===--------------------------------------------------------------------===//

  PickleValue *make(Kind kind) {
    if (values.size() >= mostValues) {
      fail("expected at most " + std::to_string(mostValues) +
           " values, got more");
    }
    PickleValue &value = values.emplace_back();
    value.kind = kind;
    value.index = static_cast<uint32_t>(values.size() - 1);
    return &value;
  }
  void push(PickleValue *value) { stack.push_back(value); }
  size_t bottom() const { return marks.empty() ? 0 : marks.back(); }
  PickleValue *pop() {
    if (stack.size() <= bottom()) {
      fail("expected a value on the stack, got none");
    }
    PickleValue *value = stack.back();
    stack.pop_back();
    return value;
  }
  PickleValue *top(Kind kind, const char *what) {
    PickleValue *value = pop();
    push(value);
    if (!value->is(kind)) {
      fail(std::string("expected ") + what + ", got " + describe(*value));
    }
    return value;
  }
  /// What stands above the last mark.
  std::vector<PickleValue *> popToMark() {
    if (marks.empty()) {
      fail("expected a mark on the stack, got none");
    }
    auto first = stack.begin() + static_cast<ptrdiff_t>(marks.back());
    std::vector<PickleValue *> result(first, stack.end());
    stack.erase(first, stack.end());
    marks.pop_back();
    return result;
  }
  PickleValue *makeOf(Kind kind, const std::vector<PickleValue *> &parts) {
    PickleValue *value = make(kind);
    value->items.assign(parts.begin(), parts.end());
    return value;
  }
  void append(Kind kind, const char *what,
              const std::vector<PickleValue *> &parts) {
    PickleValue *value = top(kind, what);
    if (kind == Kind::Dict) {
      if (parts.size() % 2 != 0) {
        fail("expected keys and values by turns, got a key without a value");
      }
      for (size_t i = 0; i < parts.size(); i += 2) {
        if (!isKey(*parts[i])) {
          fail("expected a key that is a number, a text or a tuple, got " +
               describe(*parts[i]));
        }
      }
    }
    value->items.insert(value->items.end(), parts.begin(), parts.end());
  }
  static bool isKey(const PickleValue &value) {
    switch (value.kind) {
    case Kind::None:
    case Kind::Bool:
    case Kind::Integer:
    case Kind::Float:
    case Kind::Text:
    case Kind::Bytes:
    case Kind::Tuple:
      return true;
    default:
      return false;
    }
  }

  //===--------------------------------------------------------------------===//
  // Instructions
  //===--------------------------------------------------------------------===//

  void pushInteger(int64_t number, Kind kind = Kind::Integer) {
    PickleValue *value = make(kind);
    value->integer = number;
    push(value);
  }
  void pushText(Kind kind, std::string_view text) {
    if (kind == Kind::Text && countCharacters(text).invalid != 0) {
      fail("expected a text of UTF-8, got bytes that are none");
    }
    PickleValue *value = make(kind);
    value->text = text;
    push(value);
  }

  bool readPlain(uint8_t code) {
    switch (code) {
    case 0x80: // PROTO
      if (uint64_t protocol = unsignedOf(1); protocol < 2 || protocol > 5) {
        fail("expected a pickle of protocol 2 to 5, got " +
             std::to_string(protocol));
      }
      return true;
    case 0x95: // FRAME: a hint for buffers
      take(8);
      return true;
    case 'N':
      push(make(Kind::None));
      return true;
    case 0x88:
    case 0x89:
      pushInteger(code == 0x88, Kind::Bool);
      return true;
    case 'K':
      pushInteger(static_cast<int64_t>(unsignedOf(1)));
      return true;
    case 'M':
      pushInteger(static_cast<int64_t>(unsignedOf(2)));
      return true;
    case 'J':
      pushInteger(signedOf(4));
      return true;
    case 0x8a: // LONG1
      pushInteger(signedOf(unsignedOf(1)));
      return true;
    case 0x8b: // LONG4
      pushInteger(signedOf(unsignedOf(4)));
      return true;
    case 'G': {
      PickleValue *value = make(Kind::Float);
      value->number = std::bit_cast<double>(__builtin_bswap64(unsignedOf(8)));
      push(value);
      return true;
    }
    case 0x8c:
      pushText(Kind::Text, take(unsignedOf(1)));
      return true;
    case 'X':
      pushText(Kind::Text, take(unsignedOf(4)));
      return true;
    case 0x8d:
      pushText(Kind::Text, take(unsignedOf(8)));
      return true;
    case 'U': // SHORT_BINSTRING and BINSTRING of Python 2
    case 'C':
      pushText(Kind::Bytes, take(unsignedOf(1)));
      return true;
    case 'T':
    case 'B':
      pushText(Kind::Bytes, take(unsignedOf(4)));
      return true;
    case 0x8e: // BINBYTES8
    case 0x96: // BYTEARRAY8
      pushText(Kind::Bytes, take(unsignedOf(8)));
      return true;
    default:
      return false;
    }
  }

  bool readStructure(uint8_t code) {
    switch (code) {
    case '(':
      marks.push_back(stack.size());
      return true;
    case '0': // POP; of a mark, where that is on top
      if (!marks.empty() && marks.back() == stack.size()) {
        marks.pop_back();
      } else {
        pop();
      }
      return true;
    case '1':
      popToMark();
      return true;
    case '2': { // DUP
      PickleValue *value = pop();
      push(value);
      push(value);
      return true;
    }
    case ']':
      push(make(Kind::List));
      return true;
    case '}':
      push(make(Kind::Dict));
      return true;
    case ')':
      push(make(Kind::Tuple));
      return true;
    case 0x8f:
      push(make(Kind::Set));
      return true;
    case 't':
      push(makeOf(Kind::Tuple, popToMark()));
      return true;
    case 'l':
      push(makeOf(Kind::List, popToMark()));
      return true;
    case 0x91:
      push(makeOf(Kind::Set, popToMark()));
      return true;
    case 0x85:
    case 0x86:
    case 0x87: {
      std::vector<PickleValue *> parts(code - size_t{0x84});
      for (size_t i = parts.size(); i-- > 0;) {
        parts[i] = pop();
      }
      push(makeOf(Kind::Tuple, parts));
      return true;
    }
    case 'd': {
      std::vector<PickleValue *> parts = popToMark();
      push(make(Kind::Dict));
      append(Kind::Dict, "a dictionary", parts);
      return true;
    }
    case 'a': {
      PickleValue *value = pop();
      append(Kind::List, "a list", {value});
      return true;
    }
    case 'e':
      append(Kind::List, "a list", popToMark());
      return true;
    case 0x90:
      append(Kind::Set, "a set", popToMark());
      return true;
    case 's': {
      PickleValue *value = pop(), *key = pop();
      append(Kind::Dict, "a dictionary", {key, value});
      return true;
    }
    case 'u':
      append(Kind::Dict, "a dictionary", popToMark());
      return true;
    default:
      return readMemo(code);
    }
  }

  bool readMemo(uint8_t code) {
    auto put = [&](uint64_t number) {
      PickleValue *value = pop();
      push(value);
      memo[number] = value;
    };
    auto get = [&](uint64_t number) {
      auto found = memo.find(number);
      if (found == memo.end()) {
        fail("expected a value that was noted as number " +
             std::to_string(number) + ", got none");
      }
      push(found->second);
    };
    switch (code) {
    case 'q':
      put(unsignedOf(1));
      return true;
    case 'r':
      put(unsignedOf(4));
      return true;
    case 0x94: // MEMOIZE
      put(memo.size());
      return true;
    case 'h':
      get(unsignedOf(1));
      return true;
    case 'j':
      get(unsignedOf(4));
      return true;
    default:
      return false;
    }
  }

  void pushGlobal(const std::string &module, const std::string &function) {
    std::string whole = module + "." + function;
    if (std::find(globals.begin(), globals.end(), whole) == globals.end()) {
      fail("it names '" + printable(whole) +
               "', which Python would load and might call; expected tensors "
               "and plain values",
           ErrorCode::Unsupported);
    }
    pushText(Kind::Global, whole);
  }

  bool readNames(uint8_t code) {
    switch (code) {
    case 'c': {
      std::string module(line());
      pushGlobal(module, std::string(line()));
      return true;
    }
    case 0x93: { // STACK_GLOBAL
      std::string function = top(Kind::Text, "a name")->text;
      pop();
      std::string module = top(Kind::Text, "a name")->text;
      pop();
      pushGlobal(module, function);
      return true;
    }
    case 'R':    // REDUCE
    case 0x81: { // NEWOBJ
      PickleValue *arguments = top(Kind::Tuple, "a tuple of arguments");
      pop();
      PickleValue *callee = top(Kind::Global, "a name that is called");
      pop();
      bool isDictionary = callee->text == "collections.OrderedDict";
      if (isDictionary && !arguments->items.empty()) {
        fail("expected an OrderedDict without arguments, got some");
      }
      PickleValue *value = make(isDictionary ? Kind::Dict : Kind::Call);
      if (!isDictionary) {
        value->text = callee->text;
        value->items = {arguments}; // not their copies: memory stays linear
      }
      push(value);
      return true;
    }
    case 'b': { // BUILD: attributes of an object; of dictionaries they are no
                // part of the data
      pop();
      top(Kind::Dict, "a dictionary, which has attributes");
      return true;
    }
    case 'Q': { // BINPERSID
      PickleValue *id = pop();
      push(makeOf(Kind::Persistent, {id}));
      return true;
    }
    default:
      return false;
    }
  }

  std::string_view bytes;
  const std::string &name;
  std::span<const std::string_view> globals;
  std::deque<PickleValue> &values;
  size_t at = 0, start = 0; ///< of the instruction
  std::vector<PickleValue *> stack;
  std::vector<size_t> marks; ///< places in the stack
  std::unordered_map<uint64_t, PickleValue *> memo;
};

/// Depth first, without recursion: who reads the value may recur.
class ShapeCheck {
public:
  ShapeCheck(const std::string &name, size_t values)
      : name(name), known(values) {}

  void run(const PickleValue &root) {
    enter(root);
    while (!path.empty()) {
      Place &place = path.back();
      if (place.next < place.value->items.size()) {
        const PickleValue &part = *place.value->items[place.next++];
        if (known[part.index].state == OnPath) {
          fail("a value that holds itself");
        }
        if (known[part.index].state == New) {
          enter(part);
        }
        continue;
      }
      leave(*place.value);
      path.pop_back();
    }
  }

private:
  enum State : uint8_t { New, OnPath, Done };
  struct Known {
    State state = New;
    uint32_t depth = 1;
    uint64_t parts = 1;
  };
  struct Place {
    const PickleValue *value;
    size_t next;
  };

  void enter(const PickleValue &value) {
    known[value.index].state = OnPath;
    path.push_back({&value, 0});
  }
  void leave(const PickleValue &value) {
    Known &own = known[value.index];
    own.state = Done;
    for (const PickleValue *part : value.items) {
      own.depth = std::max(own.depth, known[part->index].depth + 1);
      own.parts = std::min(own.parts + known[part->index].parts, mostParts + 1);
    }
    if (own.depth > mostDepth) {
      fail("values that are nested more than " + std::to_string(mostDepth) +
           " deep");
    }
    if (own.parts > mostParts) {
      fail("a value of more than " + std::to_string(mostParts) +
           " parts, in which the same one stands again and again");
    }
  }
  [[noreturn]] void fail(const std::string &what) const {
    raise({ErrorCode::IoError,
           "'" + name + "': expected plain data, got " + what,
           {}});
  }

  const std::string &name;
  std::vector<Known> known;
  std::vector<Place> path;
};

} // namespace

Pickle::Pickle(std::string_view bytes, const std::string &name,
               std::span<const std::string_view> globals) {
  root = Machine(bytes, name, globals, values).run();
  ShapeCheck(name, values.size()).run(*root);
}

} // namespace nereid::gpt2
