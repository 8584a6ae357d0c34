//===- CacheProcessesTest.cpp - One cache folder, many processes ----------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Starts worker processes (CacheWorker.cpp; the path comes in
// NEREID_TEST_CACHE_WORKER at compile time) on one folder: at once, with
// kill -9 when files have come and gone, on a full disk. Workers check every
// result; this test checks that no file was ever found damaged, which the
// workers' cache log would say.
//
//===----------------------------------------------------------------------===//

#include "KernelSet.h"

#include "nereid/Runtime/cache/CacheTally.h"
#include "nereid/Support/Files.h"

#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <gmock/gmock.h>
#include <random>
#include <set>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace nereid;
using testing::HasSubstr;
using testing::Not;
namespace fs = std::filesystem;

namespace {
constexpr int processes = 16;
constexpr int kills = 40;

class CacheProcesses : public testing::Test {
protected:
  void SetUp() override {
    char name[] = "/tmp/nereid-processes-XXXXXX";
    root = ::mkdtemp(name);
    folder = root + "/cache";
  }
  void TearDown() override { fs::remove_all(root); }

  /// Output of both streams goes to <root>/<name>, or, for a process that
  /// may not write files, through a pipe (which holds 64 KiB).
  pid_t start(const std::string &name, int rounds,
              std::vector<std::string> more = {}) {
    std::vector<std::string> words = {NEREID_TEST_CACHE_WORKER, folder,
                                      std::to_string(seed++),
                                      std::to_string(rounds)};
    words.insert(words.end(), more.begin(), more.end());
    std::vector<char *> argv;
    for (std::string &word : words) {
      argv.push_back(word.data());
    }
    argv.push_back(nullptr);
    std::string output = root + "/" + name;
    int ends[2] = {-1, -1};
    if (!more.empty()) {
      EXPECT_EQ(::pipe(ends), 0);
      pipes[name] = ends[0];
    }
    pid_t child = ::fork();
    if (child == 0) {
      int fd = more.empty()
                   ? ::open(output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600)
                   : ends[1];
      ::dup2(fd, 1);
      ::dup2(fd, 2);
      ::setenv("NEREID_LOG", "cache", 1);
      ::setenv("NEREID_NUM_THREADS", "1", 1);
      ::execv(argv[0], argv.data());
      ::_exit(127);
    }
    if (ends[1] >= 0) {
      ::close(ends[1]);
    }
    return child;
  }
  static int wait(pid_t child) {
    int state = 0;
    ::waitpid(child, &state, 0);
    return WIFEXITED(state) ? WEXITSTATUS(state) : 128 + WTERMSIG(state);
  }
  std::string output(const std::string &name) {
    if (pipes.count(name)) {
      std::string text(1 << 16, '\0');
      ssize_t got = ::read(pipes[name], text.data(), text.size());
      return text.substr(0, static_cast<size_t>(std::max<ssize_t>(got, 0)));
    }
    // A process may be killed before it opens the file.
    Expected<std::string> text = readFile(root + "/" + name);
    return text.ok() ? *text : "";
  }
  /// A last process finds everything it needs.
  void expectComplete() {
    ASSERT_EQ(wait(start("last", 1)), 0) << output("last");
    EXPECT_THAT(output("last"), HasSubstr("compiled 0 hits 20"));
    EXPECT_THAT(output("last"), Not(HasSubstr("damaged")));
  }

  std::string root, folder;
  int seed = 1;
  std::map<std::string, int> pipes;
};
} // namespace

TEST_F(CacheProcesses, SixteenAtOnceOnAnEmptyFolder) {
  std::vector<pid_t> children;
  for (int i = 0; i < processes; ++i) {
    children.push_back(start("out" + std::to_string(i), 1));
  }
  for (int i = 0; i < processes; ++i) {
    std::string name = "out" + std::to_string(i);
    EXPECT_EQ(wait(children[i]), 0) << output(name);
    EXPECT_THAT(output(name), Not(HasSubstr("damaged")));
    EXPECT_THAT(output(name), Not(HasSubstr("warning")));
  }
  // Nothing but the images and their tally is left.
  int files = 0;
  for (const auto &entry : fs::directory_iterator(folder)) {
    if (entry.path().filename() == CacheTally::name) {
      continue;
    }
    EXPECT_EQ(entry.path().extension(), ".nki") << entry.path();
    ++files;
  }
  EXPECT_EQ(files, kernelSetSize);
  struct stat info;
  ASSERT_EQ(::stat(folder.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0700u);
  expectComplete();
}

TEST_F(CacheProcesses, SixteenAtOnceWithKillNine) {
  std::mt19937 random(11);
  struct Child {
    pid_t pid;
    std::string name;
  };
  std::vector<Child> children;
  int started = 0, killed = 0, finished = 0;
  auto launch = [&] {
    std::string name = "out" + std::to_string(started++);
    children.push_back({start(name, 10), name});
  };
  for (int i = 0; i < processes; ++i) {
    launch();
  }
  auto namesOf = [&] {
    std::set<std::string> names;
    std::error_code gone; // a process may remove the folder's next entry
    for (fs::directory_iterator at(folder, gone), end; !gone && at != end;
         at.increment(gone)) {
      names.insert(at->path().filename());
    }
    return names;
  };
  while (killed < kills) {
    size_t victim = random() % children.size();
    int state = 0;
    // When entries, or their temporary files, have come or gone so many times.
    auto changes = random() % 6;
    bool isRunning = true;
    for (auto names = namesOf(); isRunning && changes > 0;) {
      isRunning = ::waitpid(children[victim].pid, &state, WNOHANG) == 0;
      auto now = namesOf();
      changes -= now != names;
      names = std::move(now);
      std::this_thread::yield();
    }
    if (isRunning && ::waitpid(children[victim].pid, &state, WNOHANG) == 0) {
      ::kill(children[victim].pid, SIGKILL);
      ::waitpid(children[victim].pid, &state, 0);
    }
    // It may have finished in between; what it said is checked either way.
    bool done = WIFEXITED(state);
    done ? ++finished : ++killed;
    const std::string &name = children[victim].name;
    if (done) {
      EXPECT_EQ(WEXITSTATUS(state), 0) << output(name);
    }
    EXPECT_THAT(output(name), Not(HasSubstr("damaged")));
    children.erase(children.begin() + static_cast<long>(victim));
    launch();
    // Entries disappear too, so that writing goes on to the end.
    if (started % 4 == 0 && fs::exists(folder)) {
      for (const auto &entry : fs::directory_iterator(folder)) {
        if (random() % 2 && entry.path().extension() == ".nki") {
          fs::remove(entry.path());
        }
      }
    }
  }
  for (const Child &child : children) {
    EXPECT_EQ(wait(child.pid), 0) << output(child.name);
    EXPECT_THAT(output(child.name), Not(HasSubstr("damaged")));
  }
  std::printf("%d processes started, %d killed\n", started, killed);
  ASSERT_EQ(wait(start("fill", 1)), 0);
  expectComplete();
}

TEST_F(CacheProcesses, FullDiskMeansNoCacheAndOneWarning) {
  int code = wait(start("out", 2, {"--file-limit", "200"}));
  std::string text = output("out");
  ASSERT_EQ(code, 0) << text;
  EXPECT_THAT(text, HasSubstr("warning: compiled kernels are not kept"));
  EXPECT_EQ(text.find("warning"), text.rfind("warning"));
  EXPECT_THAT(text, HasSubstr("compiled 40 hits 0"));
  EXPECT_TRUE(fs::is_empty(folder));
}

TEST_F(CacheProcesses, AFileSystemWithoutRoom) {
  fs::create_directory(folder);
  ::chmod(folder.c_str(), 0700);
  if (::mount("tmpfs", folder.c_str(), "tmpfs", 0, "size=16k,mode=700") != 0) {
    GTEST_SKIP() << "mounting a small file system needs privileges";
  }
  int code = wait(start("out", 1));
  ::umount(folder.c_str());
  EXPECT_EQ(code, 0) << output("out");
  EXPECT_THAT(output("out"), HasSubstr("not kept"));
}

TEST_F(CacheProcesses, ReadOnlyFolder) {
  ASSERT_EQ(wait(start("fill", 1)), 0);
  if (::geteuid() == 0 &&
      ::mount(folder.c_str(), folder.c_str(), nullptr, MS_BIND, nullptr) == 0) {
    ::mount(nullptr, folder.c_str(), nullptr, MS_REMOUNT | MS_BIND | MS_RDONLY,
            nullptr);
    int code = wait(start("out", 1));
    ::umount(folder.c_str());
    EXPECT_EQ(code, 0);
    EXPECT_THAT(output("out"), HasSubstr("compiled 0 hits 20"));
    return;
  }
  ::chmod(folder.c_str(), 0500);
  EXPECT_EQ(wait(start("out", 1)), 0);
  EXPECT_THAT(output("out"), HasSubstr("compiled 0 hits 20"));
  ::chmod(folder.c_str(), 0700);
}
