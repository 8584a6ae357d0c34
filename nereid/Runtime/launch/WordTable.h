//===- WordTable.h - A look-up that readers never wait for ------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Launches look things up by what their arguments are: types, flags, and the
// values of constants. A WordKey is that list as 64-bit words, built on the
// stack; a WordTable maps it to an object that lives as long as the table.
//
// Reading takes no lock: the slots are atomic pointers in an open-addressed
// array. Writers hold a mutex, fill a free slot, or publish an array of twice
// the size; old arrays are kept until the end, since a reader may be in one
// (their sizes add up to less than the current one's).
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_RUNTIME_LAUNCH_WORDTABLE_H
#define NEREID_RUNTIME_LAUNCH_WORDTABLE_H

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <span>
#include <string_view>
#include <vector>

namespace nereid {

class WordKey {
public:
  void add(uint64_t word) {
    if (count < capacity) [[likely]] {
      inlined[count++] = word;
    } else {
      spill(word);
    }
  }
  /// The length, then the bytes.
  void add(std::string_view bytes) {
    add(bytes.size());
    for (size_t i = 0; i < bytes.size(); i += 8) {
      uint64_t word = 0;
      std::memcpy(&word, bytes.data() + i,
                  std::min<size_t>(8, bytes.size() - i));
      add(word);
    }
  }

  std::span<const uint64_t> words() const {
    return heap.empty() ? std::span<const uint64_t>(inlined, count)
                        : std::span<const uint64_t>(heap);
  }
  uint64_t hash() const {
    uint64_t h = 0x243f6a8885a308d3; // pi
    for (uint64_t word : words()) {
      auto product =
          static_cast<unsigned __int128>(h ^ word) * 0x9e3779b97f4a7c15u;
      h = static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
      h += 0x13198a2e03707344;
    }
    return h;
  }

private:
  void spill(uint64_t word) {
    if (heap.empty()) {
      heap.assign(inlined, inlined + count);
    }
    heap.push_back(word);
  }

  static constexpr size_t capacity = 96;
  size_t count = 0;
  uint64_t inlined[capacity];
  std::vector<uint64_t> heap;
};

template <typename T>
class WordTable {
public:
  ~WordTable() = default;

  /// Null when there is none.
  T *find(const WordKey &key) const {
    Array *array = current.load(std::memory_order_acquire);
    return array ? find(*array, key.words(), key.hash()) : nullptr;
  }

  /// The object of `key`: the one that is there already, or `value`.
  T *insert(const WordKey &key, std::unique_ptr<T> value) {
    std::lock_guard lock(mutex);
    uint64_t hash = key.hash();
    Array *array = current.load(std::memory_order_relaxed);
    if (array) {
      if (T *found = find(*array, key.words(), hash)) {
        return found;
      }
    }
    auto words = key.words();
    entries.push_back(std::make_unique<Entry>(
        Entry{hash, {words.begin(), words.end()}, std::move(value)}));
    if (!array || 2 * entries.size() > array->slots.size()) {
      grow();
    } else {
      place(*array, entries.back().get());
    }
    return entries.back()->value.get();
  }

  size_t size() const {
    std::lock_guard lock(mutex);
    return entries.size();
  }

private:
  struct Entry {
    uint64_t hash;
    std::vector<uint64_t> words;
    std::unique_ptr<T> value;
  };
  struct Array {
    explicit Array(size_t size) : slots(size) {}
    std::vector<std::atomic<Entry *>> slots; // a power of two, half empty
  };

  static T *find(const Array &array, std::span<const uint64_t> words,
                 uint64_t hash) {
    size_t mask = array.slots.size() - 1;
    for (size_t i = hash & mask;; i = (i + 1) & mask) {
      Entry *entry = array.slots[i].load(std::memory_order_acquire);
      if (!entry) {
        return nullptr;
      }
      if (entry->hash == hash && entry->words.size() == words.size() &&
          std::equal(words.begin(), words.end(), entry->words.begin())) {
        return entry->value.get();
      }
    }
  }

  static void place(Array &array, Entry *entry) {
    size_t mask = array.slots.size() - 1;
    size_t i = entry->hash & mask;
    while (array.slots[i].load(std::memory_order_relaxed)) {
      i = (i + 1) & mask;
    }
    array.slots[i].store(entry, std::memory_order_release);
  }

  void grow() {
    size_t size = arrays.empty() ? 8 : 2 * arrays.back()->slots.size();
    arrays.push_back(std::make_unique<Array>(size));
    for (const auto &entry : entries) {
      place(*arrays.back(), entry.get());
    }
    current.store(arrays.back().get(), std::memory_order_release);
  }

  std::atomic<Array *> current = nullptr;
  mutable std::mutex mutex;
  std::vector<std::unique_ptr<Entry>> entries;
  std::vector<std::unique_ptr<Array>> arrays;
};

} // namespace nereid

#endif // NEREID_RUNTIME_LAUNCH_WORDTABLE_H
