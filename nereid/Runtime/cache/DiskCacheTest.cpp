//===- DiskCacheTest.cpp - What the cache keeps, and what it ignores ------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Runtime/cache/DiskCache.h"

#include "nereid/ABI/Encoding.h"
#include "nereid/Runtime/cache/CacheTally.h"
#include "nereid/Runtime/testing/LaunchFixture.h"
#include "nereid/Support/Files.h"
#include "nereid/Support/Knobs.h"

#include <fcntl.h>
#include <filesystem>
#include <functional>
#include <sys/stat.h>

using namespace nereid;
using namespace nereid::literals;
using testing::HasSubstr;
namespace fs = std::filesystem;

namespace {
class Cache : public LaunchFixture {
protected:
  void SetUp() override {
    char name[] = "/tmp/nereid-cache-XXXXXX";
    root = ::mkdtemp(name);
    folder = root + "/cache";
  }
  void TearDown() override { fs::remove_all(root); }

  static KernelImage image(const std::string &name, size_t codeBytes = 1000) {
    KernelImage image;
    image.kernel = name;
    image.code.resize(codeBytes, std::byte{42});
    return image;
  }
  std::vector<std::string> files() {
    std::vector<std::string> names;
    for (const auto &entry : fs::directory_iterator(folder)) {
      if (entry.path().filename() != CacheTally::name) {
        names.push_back(entry.path());
      }
    }
    return names;
  }
  /// Runs `add` through a fresh context, as a new process would.
  CacheCounters runFresh(int64_t n = 1000, int warps = 4) {
    Context fresh(std::make_unique<FakeCompiler>(world),
                  ContextOptions{folder, uint64_t{1} << 20});
    Tensor x = arange({1000}, f32), out = zeros({1000}, f32);
    Kernel add = Kernel::fromSource(Source{"add.py", "", {}}, "add", fresh);
    add[cdiv(n, 64)](x, x, out, n, "num_warps"_a = warps);
    EXPECT_EQ(out.at({n - 1}), 2.0 * static_cast<double>(n - 1));
    return fresh.cacheCounters();
  }
  std::string root, folder;
};
} // namespace

TEST_F(Cache, FindsWhatWasStored) {
  DiskCache cache(folder, 1 << 20);
  EXPECT_FALSE(cache.find(hashText("a")));
  cache.store(hashText("a"), image("first"));
  cache.store(hashText("b"), image("second"));
  EXPECT_EQ(cache.find(hashText("a"))->kernel, "first");
  EXPECT_EQ(DiskCache(folder, 1 << 20).find(hashText("b"))->kernel, "second");
  EXPECT_EQ(cache.usage().files, 2u);
  struct stat info;
  ASSERT_EQ(::stat(folder.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0700u);
}

TEST_F(Cache, ASecondProcessDoesNotCompile) {
  EXPECT_EQ(runFresh().compiled, 1u);
  CacheCounters again = runFresh();
  EXPECT_EQ(again.compiled, 0u);
  EXPECT_EQ(again.diskHits, 1u);
  EXPECT_EQ(world->compiles, 1);
}

TEST_F(Cache, CodeForAGpuThatIsNotHereIsOnTheDiskAndNotLoaded) {
  world->hasAssembler = true;
  float x = 0;
  Pointer array(&x, f32);
  LaunchArgument arguments[] = {array, array, array, 1000};
  auto compileFresh = [&](const char *target) {
    Context fresh(std::make_unique<FakeCompiler>(world),
                  ContextOptions{folder, uint64_t{1} << 20});
    Kernel add = Kernel::fromSource(Source{"add.py", "", {}}, "add", fresh);
    return add.compileFor(target, arguments);
  };
  CompiledElsewhere first = compileFresh("sm_90a");
  EXPECT_EQ(first.request.target, "sm_90a");
  EXPECT_EQ(first.info.image.target, "sm_90a");
  EXPECT_EQ(first.info.origin, CompiledInfo::Origin::Compiler);
  EXPECT_GT(first.info.codeBytes, 0u);
  EXPECT_EQ(compileFresh("sm_90a").info.origin, CompiledInfo::Origin::Disk);
  EXPECT_EQ(compileFresh("sm_80").info.origin, CompiledInfo::Origin::Compiler);
  EXPECT_EQ(world->loads, 0);
  EXPECT_EQ(world->assembled, 2);
}

TEST_F(Cache, TheKeyHoldsEverythingThatCodeDependsOn) {
  runFresh();
  EXPECT_EQ(runFresh(1000, 8).compiled, 1u); // options
  EXPECT_EQ(runFresh(992).compiled, 1u);     // specialization
  auto &description = world->kernels["add"].description;
  description.sourceHash = "changed";
  EXPECT_EQ(runFresh().compiled, 1u);
  description.location.line = 40; // moved within its file
  EXPECT_EQ(runFresh().compiled, 1u);
  world->buildId = "fake-2";
  EXPECT_EQ(runFresh().compiled, 1u);
  EXPECT_EQ(runFresh().compiled, 0u);
}

TEST_F(Cache, DamagedFilesAreIgnoredAndReplaced) {
  runFresh();
  ASSERT_EQ(files().size(), 1u);
  std::string path = files()[0], good = *readFile(path);
  std::vector<std::string> damaged = {"",
                                      "x",
                                      good.substr(0, 79),
                                      good.substr(0, good.size() - 1),
                                      good + "x",
                                      std::string(10000, 'z')};
  for (size_t i = 0; i < good.size(); i += 3) {
    damaged.push_back(good);
    damaged.back()[i] ^= 1;
  }
  for (const std::string &content : damaged) {
    ASSERT_TRUE(writeFileAtomically(path, content).ok());
    ASSERT_EQ(runFresh().compiled, 1u);
    ASSERT_EQ(*readFile(path), good); // replaced by a whole one
  }
}

TEST_F(Cache, ForeignFilesAreIgnoredAndReplaced) {
  runFresh();
  std::string mine = files()[0], content = *readFile(mine);
  // A valid file under the name of another key.
  runFresh(992);
  for (const std::string &path : files()) {
    if (path != mine) {
      ASSERT_TRUE(writeFileAtomically(path, content).ok());
    }
  }
  EXPECT_EQ(runFresh(992).compiled, 1u);
  EXPECT_EQ(runFresh(992).compiled, 0u);
  // A folder, and a link to nowhere, in a file's place.
  fs::remove(mine);
  fs::create_symlink("/nonexistent/x", mine);
  EXPECT_EQ(runFresh().compiled, 1u);
  EXPECT_EQ(runFresh().compiled, 0u);
  fs::remove(mine);
  fs::create_directory(mine);
  EXPECT_EQ(runFresh().compiled, 1u);
}

TEST_F(Cache, AnImageThatVerifiesButDoesNotLoadIsCompiledAgain) {
  DiskCache cache(folder, 1 << 20);
  runFresh();
  std::string path = files()[0];
  Digest key;
  std::string hex = fs::path(path).stem();
  for (size_t i = 0; i < 32; ++i) {
    key.bytes[i] =
        static_cast<uint8_t>(std::stoi(hex.substr(2 * i, 2), nullptr, 16));
  }
  cache.store(key, image("stranger"));
  EXPECT_EQ(runFresh().compiled, 1u);
  EXPECT_EQ(runFresh().compiled, 0u);
}

TEST_F(Cache, TheLeastRecentlyUsedGoFirst) {
  DiskCache cache(folder, 100000);
  auto name = [](int i) { return hashText("kernel" + std::to_string(i)); };
  for (int i = 0; i < 8; ++i) {
    cache.store(name(i), image("k", 10000));
    // Hours apart, the first oldest.
    fs::last_write_time(folder + "/" + name(i).hex() + ".nki",
                        fs::file_time_type::clock::now() -
                            std::chrono::hours(20 - i));
  }
  EXPECT_TRUE(cache.find(name(0))); // used just now
  cache.evict(35000);
  EXPECT_TRUE(cache.find(name(0)));
  EXPECT_FALSE(cache.find(name(1)));
  EXPECT_FALSE(cache.find(name(5)));
  EXPECT_TRUE(cache.find(name(7)));
  EXPECT_LE(cache.usage().bytes, 35000u);
}

TEST_F(Cache, StoresStayUnderTheCap) {
  DiskCache cache(folder, 100000);
  for (int i = 0; i < 100; ++i) {
    cache.store(hashText(std::to_string(i)), image("k", 5000));
    ASSERT_LE(cache.usage().bytes, 100000u);
  }
  cache.store(hashText("huge"), image("k", 200000)); // larger than the cap
  EXPECT_FALSE(cache.find(hashText("huge")));
  EXPECT_GT(cache.usage().files, 15u);
}

/// What lies there unknown to the tally shows whether entries are counted.
TEST_F(Cache, EntriesAreCountedOnceForAllProcesses) {
  auto store = [&](const char *name) {
    DiskCache(folder, 100000).store(hashText(name), image("k", 5000));
  };
  store("first");
  std::string planted = folder + "/" + hashText("planted").hex() + ".nki";
  auto plant = [&] {
    ASSERT_TRUE(writeFileAtomically(planted, std::string(200000, 'x')).ok());
    const timespec longAgo[2] = {{1, 0}, {1, 0}};
    ASSERT_EQ(::utimensat(AT_FDCWD, planted.c_str(), longAgo, 0), 0);
  };
  plant();
  store("second");
  EXPECT_TRUE(fs::exists(planted));
  EXPECT_GE(CacheTally(folder).total(), 10000u);
  EXPECT_LT(CacheTally(folder).total(), 12000u);
  // What is no tally, and one of another time.
  std::string tally = folder + "/" + CacheTally::name;
  std::vector<std::function<void()>> damages = {
      [&] { fs::remove(tally); }, [&] { fs::resize_file(tally, 15); },
      [&] {
        fs::remove(tally);
        fs::create_symlink("/dev/zero", tally);
      },
      [&] { ASSERT_TRUE(replaceFile(tally, std::string(16, '\0')).ok()); },
      [&] { ASSERT_TRUE(replaceFile(tally, std::string(16, '\x7f')).ok()); }};
  for (size_t i = 0; i < damages.size(); ++i) {
    damages[i]();
    store("third");
    EXPECT_FALSE(fs::exists(planted)) << i;
    EXPECT_TRUE(DiskCache(folder, 100000).find(hashText("second"))) << i;
    plant();
    store("fourth");
    EXPECT_TRUE(fs::exists(planted)) << i;
  }
  // A process with a lower cap has its own idea of what is full.
  DiskCache(folder, 15000).store(hashText("fifth"), image("k", 5000));
  EXPECT_FALSE(fs::exists(planted));
  EXPECT_LE(DiskCache(folder, 15000).usage().bytes, 15000u);
}

TEST_F(Cache, OrphansOfKilledProcessesAreSwept) {
  DiskCache cache(folder, 1 << 20);
  cache.store(hashText("a"), image("k"));
  std::string old = folder + "/.tmp-1-2-3", young = folder + "/.tmp-4-5-6";
  ASSERT_TRUE(writeFileAtomically(old, "x").ok());
  ASSERT_TRUE(writeFileAtomically(young, "x").ok());
  fs::last_write_time(old,
                      fs::file_time_type::clock::now() - std::chrono::hours(2));
  cache.evict(1 << 20);
  EXPECT_FALSE(fs::exists(old));
  EXPECT_TRUE(fs::exists(young));
  EXPECT_TRUE(cache.find(hashText("a")));
}

TEST_F(Cache, ForeignFilesAreNotTrimmed) {
  DiskCache cache(folder, 1 << 20);
  cache.store(hashText("a"), image("k"));
  std::string digits(64, 'A'); // capitals: no key of ours
  std::vector<std::string> names = {"mine.nki", digits + ".nki", ".nki",
                                    ".tmp-notes", ".tmp-1-2"};
  for (std::string &name : names) {
    name = folder + "/" + name;
    ASSERT_TRUE(writeFileAtomically(name, "mine").ok());
    fs::last_write_time(name, fs::file_time_type::clock::now() -
                                  std::chrono::hours(200));
  }
  EXPECT_EQ(cache.usage().files, 1u);
  cache.evict(0);
  EXPECT_FALSE(cache.find(hashText("a")));
  for (const std::string &name : names) {
    EXPECT_TRUE(fs::exists(name)) << name;
  }
}

/// Whatever has an entry's name is a miss, at once, and then replaced.
TEST_F(Cache, EntriesThatAreNoFilesAreMisses) {
  runFresh();
  std::string path = files()[0], good = *readFile(path);
  auto isReplaced = [&](const char *what) {
    EXPECT_EQ(runFresh().compiled, 1u) << what;
    EXPECT_EQ(*readFile(path), good) << what;
  };
  fs::remove(path);
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  isReplaced("a pipe");
  fs::remove(path);
  fs::create_symlink("/dev/zero", path);
  isReplaced("an endless device");
  ASSERT_EQ(::truncate(path.c_str(), off_t{3} << 30), 0);
  isReplaced("three sparse GB");
  ASSERT_EQ(::truncate(path.c_str(), 80), 0);
  isReplaced("a header alone");
}

TEST_F(Cache, AFolderThatCannotBeUsedMeansNoCacheAndOneWarning) {
  ASSERT_TRUE(writeFileAtomically(folder, "a file").ok());
  testing::internal::CaptureStderr();
  EXPECT_EQ(runFresh().compiled, 1u);
  EXPECT_EQ(runFresh().compiled, 1u);
  std::string text = testing::internal::GetCapturedStderr();
  EXPECT_THAT(text, HasSubstr("warning: compiled kernels are not kept"));
  EXPECT_THAT(text, HasSubstr(folder));
  EXPECT_EQ(text.find("warning"), text.rfind("warning"));
}

TEST_F(Cache, AFolderOthersMayWriteToIsNotTrusted) {
  fs::create_directory(folder);
  ::chmod(folder.c_str(), 0777);
  testing::internal::CaptureStderr();
  EXPECT_EQ(runFresh().compiled, 1u);
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("chmod 700"));
  EXPECT_TRUE(fs::is_empty(folder));
}

TEST_F(Cache, ACapOfZeroTouchesNothing) {
  DiskCache cache(folder, 0);
  cache.store(hashText("a"), image("k"));
  EXPECT_FALSE(cache.find(hashText("a")));
  EXPECT_FALSE(fs::exists(folder));
}

TEST_F(Cache, WhatChangesACompilationBypassesIt) {
  runFresh();
  for (auto member : {&Knobs::dump, &Knobs::overrideFrom}) {
    Knobs settings = knobs();
    settings.*member = "/tmp/x";
    Knobs saved = exchangeKnobs(settings);
    EXPECT_EQ(runFresh().compiled, 1u);
    exchangeKnobs(saved);
  }
  Knobs settings = knobs();
  settings.disable = {"prefetch"};
  Knobs saved = exchangeKnobs(settings);
  EXPECT_EQ(runFresh().compiled, 1u);
  exchangeKnobs(saved);
  EXPECT_EQ(runFresh().compiled, 0u);
}
