//===- WordTableTest.cpp - The lock-free look-up --------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Runtime/launch/WordTable.h"

#include <gtest/gtest.h>
#include <map>
#include <random>
#include <thread>

using namespace nereid;

static WordKey keyOf(const std::vector<uint64_t> &words) {
  WordKey key;
  for (uint64_t word : words) {
    key.add(word);
  }
  return key;
}

TEST(WordTable, MatchesAMap) {
  WordTable<int> table;
  std::map<std::vector<uint64_t>, int> model;
  std::mt19937 random(1);
  for (int i = 0; i < 3000; ++i) {
    // Short words make shared prefixes; long keys leave the inline array.
    std::vector<uint64_t> words(random() % (i % 100 == 0 ? 300 : 4));
    for (uint64_t &word : words) {
      word = random() % 5;
    }
    int *found = table.find(keyOf(words));
    auto known = model.find(words);
    ASSERT_EQ(found != nullptr, known != model.end());
    if (found) {
      ASSERT_EQ(*found, known->second);
    }
    int *inserted = table.insert(keyOf(words), std::make_unique<int>(i));
    model.emplace(words, i);
    ASSERT_EQ(*inserted, model.at(words));
  }
  EXPECT_EQ(table.size(), model.size());
}

TEST(WordTable, StringsOfOneKeyKeepTheirBorders) {
  WordKey a, b;
  a.add(std::string_view("ab"));
  a.add(std::string_view("c"));
  b.add(std::string_view("a"));
  b.add(std::string_view("bc"));
  EXPECT_FALSE(std::ranges::equal(a.words(), b.words()));
}

TEST(WordTable, ReadersAndWritersAtOnce) {
  WordTable<uint64_t> table;
  constexpr uint64_t count = 4000;
  std::atomic<uint64_t> written = 0;
  std::thread writer([&] {
    for (uint64_t i = 0; i < count; ++i) {
      table.insert(keyOf({i, i * i}), std::make_unique<uint64_t>(i));
      written.store(i + 1, std::memory_order_release);
    }
  });
  std::vector<std::thread> readers;
  for (int t = 0; t < 3; ++t) {
    readers.emplace_back([&, t] {
      std::mt19937_64 random(t);
      while (true) {
        uint64_t n = written.load(std::memory_order_acquire);
        if (n) {
          uint64_t i = random() % n;
          uint64_t *found = table.find(keyOf({i, i * i}));
          ASSERT_NE(found, nullptr);
          ASSERT_EQ(*found, i);
        }
        if (n == count) {
          break;
        }
      }
    });
  }
  writer.join();
  for (std::thread &reader : readers) {
    reader.join();
  }
}
