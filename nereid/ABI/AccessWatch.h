//===- AccessWatch.h - What a reference run touches -------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// While a thread has a watch (AccessWatch::Scope), the reference executor's
// runs on that thread tell it of every element that they load and store, and do
// no more work than it allows: the whole grid where the first programs say that
// there is time, else a few programs at the grid's beginning, middle and end.
//
//   AccessWatch watch;
//   watch.add("x_ptr", address, elements, bytesOfAnElement);
//   AccessWatch::Scope scope(watch);
//   ... launch on Device::interp() ...
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_ABI_ACCESSWATCH_H
#define NEREID_ABI_ACCESSWATCH_H

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace nereid {

class AccessWatch {
public:
  enum class Kind { Read, Write, Update, UpdateRead };
  enum Use : uint8_t { WasRead = 1, WasWritten = 2, WasUpdated = 4 };

  struct Array {
    std::string name;
    uint64_t begin = 0, end = 0;
    unsigned bytes = 1;        ///< of an element
    std::vector<uint8_t> uses; ///< an element each
    /// Programs that read and wrote the element; -1: none.
    std::vector<int32_t> reader, writer;
  };

  void add(std::string name, uint64_t address, uint64_t elements,
           unsigned bytes) {
    arrays.push_back({std::move(name), address, address + elements * bytes,
                      bytes, std::vector<uint8_t>(elements),
                      std::vector<int32_t>(elements, -1),
                      std::vector<int32_t>(elements, -1)});
  }

  std::vector<Array> arrays;
  /// Elements that its operations may read and make.
  uint64_t budget = UINT64_MAX;
  bool isBackward = false; ///< the last program runs first

  // What was found.
  uint64_t spent = 0;
  bool isWhole = false; ///< every program ran to its end
  /// An element outside of all arrays: the run ended there.
  bool isOutside = false;
  /// A program stored to what another one had stored to, or loaded from; or
  /// loaded what another one had stored.
  bool storesMeet = false, loadsMeetStores = false;
  /// An atomic's old value was used, by which programs may take turns.
  bool takesTurns = false;

  /// False: outside of the arrays; it must not be made.
  bool access(Kind kind, int64_t program, uint64_t address, unsigned bytes) {
    takesTurns |= kind == Kind::UpdateRead;
    for (Array &array : arrays) {
      if (address >= array.begin && address + bytes <= array.end) {
        note(array, (address - array.begin) / array.bytes, kind,
             static_cast<int32_t>(program));
        return true;
      }
    }
    isOutside = true;
    return false;
  }
  /// False: the run has to end.
  bool spend(uint64_t elements) {
    spent += elements;
    return spent <= budget && !isOutside;
  }

  /// The watch of the calling thread; null: none.
  static AccessWatch *&current() {
    static thread_local AccessWatch *watch = nullptr;
    return watch;
  }
  class Scope {
  public:
    explicit Scope(AccessWatch &watch) : before(current()) {
      current() = &watch;
    }
    ~Scope() { current() = before; }
    Scope(const Scope &) = delete;

  private:
    AccessWatch *before;
  };

private:
  void note(Array &array, uint64_t i, Kind kind, int32_t program) {
    auto isOther = [&](int32_t who) { return who >= 0 && who != program; };
    if (kind == Kind::Read) {
      array.uses[i] |= WasRead;
      loadsMeetStores |= isOther(array.writer[i]);
      array.reader[i] = program;
    } else if (kind == Kind::Write) {
      array.uses[i] |= WasWritten;
      storesMeet |= isOther(array.writer[i]);
      loadsMeetStores |= isOther(array.reader[i]);
      array.writer[i] = program;
    } else {
      array.uses[i] |= WasUpdated;
    }
  }
};

} // namespace nereid

#endif // NEREID_ABI_ACCESSWATCH_H
