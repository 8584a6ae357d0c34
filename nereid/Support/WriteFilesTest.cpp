//===- WriteFilesTest.cpp - What is written, and what is left -------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Support/Files.h"

#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace nereid;
using testing::HasSubstr;
namespace fs = std::filesystem;

namespace {
class WriteFiles : public testing::Test {
protected:
  void SetUp() override {
    char name[] = "/tmp/nereid-write-XXXXXX";
    root = ::mkdtemp(name);
    path = root + "/f";
  }
  void TearDown() override { fs::remove_all(root); }

  static mode_t modeOf(const std::string &file) {
    struct stat info;
    return ::stat(file.c_str(), &info) == 0 ? info.st_mode & 07777 : 0;
  }
  /// In a process of its own, for what cannot be taken back; true when `body`
  /// is.
  template <typename Body>
  static bool inChild(Body body) {
    pid_t child = ::fork();
    if (child == 0) {
      ::_exit(body() ? 0 : 1);
    }
    int state = 0;
    ::waitpid(child, &state, 0);
    return WIFEXITED(state) && WEXITSTATUS(state) == 0;
  }
  size_t entries() const {
    return static_cast<size_t>(std::distance(fs::directory_iterator(root), {}));
  }

  std::string root, path;
};
} // namespace

TEST_F(WriteFiles, TheModeStays) {
  for (mode_t mode : {0600, 0640, 0755}) {
    ASSERT_TRUE(writeFileAtomically(path, "old").ok());
    ::chmod(path.c_str(), mode);
    ASSERT_TRUE(writeFileAtomically(path, "new").ok());
    EXPECT_EQ(modeOf(path), mode);
    EXPECT_EQ(*readFile(path), "new");
  }
}

TEST_F(WriteFiles, NewFilesHaveTheUsersMode) {
  mode_t before = ::umask(027);
  ASSERT_TRUE(writeFileAtomically(path, "x").ok());
  ::umask(before);
  EXPECT_EQ(modeOf(path), 0640u);
}

TEST_F(WriteFiles, LinksAreFollowed) {
  fs::create_directory(root + "/d");
  fs::create_symlink("d/real", path);
  ASSERT_TRUE(writeFileAtomically(path, "a").ok()) << "to a file yet to come";
  EXPECT_TRUE(fs::is_symlink(path));
  EXPECT_EQ(*readFile(root + "/d/real"), "a");
  ASSERT_TRUE(writeFileAtomically(path, "b").ok());
  EXPECT_TRUE(fs::is_symlink(path));
  EXPECT_EQ(*readFile(root + "/d/real"), "b");

  fs::create_symlink("loop", root + "/loop");
  EXPECT_THAT(writeFileAtomically(root + "/loop", "x").failure().message,
              HasSubstr("loop"));
}

TEST_F(WriteFiles, ReadOnlyFilesAreRefused) {
  ASSERT_TRUE(writeFileAtomically(path, "old").ok());
  ::chmod(path.c_str(), 0444);
  EXPECT_THAT(writeFileAtomically(path, "new").failure().message,
              HasSubstr("read-only"));
  EXPECT_EQ(*readFile(path), "old");
  EXPECT_EQ(entries(), 1u);
}

TEST_F(WriteFiles, ALimitOnFileSizesIsAnErrorAndLeavesTheOldFile) {
  ASSERT_TRUE(writeFileAtomically(path, "old").ok());
  EXPECT_TRUE(inChild([&] {
    // Its default action would end the process.
    ::signal(SIGXFSZ, SIG_DFL);
    rlimit limit = {1000, 1000};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    Status status = writeFileAtomically(path, std::string(5000, 'x'));
    return !status.ok() &&
           status.failure().message.find("File too large") != std::string::npos;
  }));
  EXPECT_EQ(*readFile(path), "old");
  EXPECT_EQ(entries(), 1u);
}

TEST_F(WriteFiles, AReaderThatWentIsAnError) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  ::close(ends[0]);
  EXPECT_TRUE(inChild([&] {
    ::signal(SIGPIPE, SIG_DFL);
    std::string name = "/dev/fd/" + std::to_string(ends[1]);
    Status status = writeFileAtomically(name, "x");
    return !status.ok() &&
           status.failure().message.find("Broken pipe") != std::string::npos;
  }));
  ::close(ends[1]);
}

TEST_F(WriteFiles, DescriptorsKeepTheirPosition) {
  int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  ASSERT_EQ(::write(fd, "before ", 7), 7);
  ASSERT_TRUE(
      writeFileAtomically("/proc/self/fd/" + std::to_string(fd), "after").ok());
  ::close(fd);
  EXPECT_EQ(*readFile(path), "before after");
}

TEST_F(WriteFiles, APipeWithoutAReaderIsNotWaitedFor) {
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  EXPECT_THAT(writeFileAtomically(path, "x").failure().message,
              HasSubstr("no process reads"));
}

TEST_F(WriteFiles, ReplaceReplacesWhateverIsThere) {
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  ASSERT_TRUE(replaceFile(path, "a").ok());
  EXPECT_EQ(*readFile(path), "a");
  fs::create_symlink("f", root + "/link");
  ASSERT_TRUE(replaceFile(root + "/link", "b").ok());
  EXPECT_FALSE(fs::is_symlink(root + "/link"));
  EXPECT_EQ(*readFile(path), "a");
}

TEST_F(WriteFiles, StagedFilesAppearTogetherOrNotAtAll) {
  std::string_view text = "x";
  {
    Expected<StagedFile> staged = StagedFile::stage(path, std::span(&text, 1));
    ASSERT_TRUE(staged.ok());
    EXPECT_FALSE(fs::exists(path));
  }
  EXPECT_EQ(entries(), 0u);
  Expected<StagedFile> staged = StagedFile::stage(path, std::span(&text, 1));
  ASSERT_TRUE(staged.ok());
  ASSERT_TRUE(staged->commit().ok());
  EXPECT_EQ(*readFile(path), "x");
  EXPECT_EQ(entries(), 1u);
}

TEST_F(WriteFiles, OutputsOfOneCommandAreDifferentFiles) {
  ASSERT_TRUE(writeFileAtomically(path, "x").ok());
  fs::create_symlink("f", root + "/link");
  OutputFiles outputs;
  EXPECT_TRUE(outputs.add("-o", path).ok());
  EXPECT_THAT(outputs.add("--object", root + "/link").failure().message,
              HasSubstr("that of -o too"));
  EXPECT_TRUE(outputs.add("--object", root + "/new").ok());
  EXPECT_FALSE(outputs.add("--other", root + "/./new").ok());
  EXPECT_TRUE(outputs.add("--a", "/dev/null").ok());
  EXPECT_TRUE(outputs.add("--b", "/dev/null").ok());
  EXPECT_THAT(outputs.add("-o", root + "/none/f").failure().message,
              HasSubstr("there is no folder"));
  EXPECT_THAT(outputs.add("-o", root).failure().message,
              HasSubstr("got a folder"));
  EXPECT_THAT(outputs.add("-o", "").failure().message,
              HasSubstr("got nothing"));
  EXPECT_THAT(outputs.add("-o", std::string("a\0b", 3)).failure().message,
              HasSubstr("zero byte"));
}

TEST_F(WriteFiles, ProtectedInputsAreNotWrittenTo) {
  ASSERT_TRUE(writeFileAtomically(path, "x").ok());
  fs::create_symlink("f", root + "/link");
  EXPECT_TRUE(inChild([&] {
    protectInputs();
    return readFile(path).ok() && isProtectedInput(root + "/link") &&
           !writeFileAtomically(root + "/link", "y").ok() &&
           !OutputFiles().add("-o", path).ok() &&
           writeFileAtomically(root + "/other", "y").ok();
  }));
  EXPECT_EQ(*readFile(path), "x");
}

//===----------------------------------------------------------------------===//
// Reading what is no file
//===----------------------------------------------------------------------===//

TEST_F(WriteFiles, DevicesAndFoldersAreNotRead) {
  EXPECT_THAT(readFile("/dev/zero").failure().message,
              HasSubstr("expected a file, got a device"));
  EXPECT_THAT(readFile(root).failure().message,
              HasSubstr("expected a file, got a folder"));
}

TEST_F(WriteFiles, PipesAreReadWhenSomebodyWrites) {
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  EXPECT_THAT(readFile(path).failure().message,
              HasSubstr("nothing is written to this pipe"));
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  std::thread writer([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    EXPECT_EQ(::write(ends[1], "abc", 3), 3);
    ::close(ends[1]);
  });
  EXPECT_EQ(*readFile("/dev/fd/" + std::to_string(ends[0])), "abc");
  writer.join();
  ::close(ends[0]);
}

TEST_F(WriteFiles, SizesAreCheckedBeforeReading) {
  int fd = ::open(path.c_str(), O_WRONLY | O_CREAT, 0600);
  ASSERT_EQ(::ftruncate(fd, off_t{3} << 30), 0);
  ::close(fd);
  EXPECT_THAT(readFile(path).failure().message,
              HasSubstr("expected at most 67108864 bytes, got 3221225472"));
  EXPECT_TRUE(readFile("/proc/self/status").ok()) << "has no size, but bytes";
}
