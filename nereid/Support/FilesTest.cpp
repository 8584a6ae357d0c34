//===- FilesTest.cpp - Whole files, atomically ----------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Support/Files.h"

#include <csignal>
#include <filesystem>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace nereid;
namespace fs = std::filesystem;

namespace {
class Files : public testing::Test {
protected:
  void SetUp() override {
    char name[] = "/tmp/nereid-files-XXXXXX";
    root = ::mkdtemp(name);
  }
  void TearDown() override { fs::remove_all(root); }
  std::string root;
};
} // namespace

TEST_F(Files, RoundTripAndReplace) {
  std::string big(1 << 20, 'x');
  for (const std::string &content :
       {std::string("a\0b", 3), big, std::string()}) {
    ASSERT_TRUE(writeFileAtomically(root + "/f", content).ok());
    EXPECT_EQ(*readFile(root + "/f"), content);
  }
  EXPECT_EQ(std::distance(fs::directory_iterator(root), {}), 1);
}

TEST_F(Files, ErrorsNameThePath) {
  EXPECT_EQ(readFile(root + "/none").failure().code, ErrorCode::NotFound);
  EXPECT_NE(readFile(root + "/none").failure().message.find("/none"),
            std::string::npos);
  EXPECT_NE(readFile(root).failure().message.find("folder"), std::string::npos);
  EXPECT_FALSE(writeFileAtomically(root, "x").ok());
  EXPECT_FALSE(writeFileAtomically(root + "/no/such", "x").ok());
}

TEST_F(Files, ReadersSeeOldOrNewNeverAMixture) {
  std::string path = root + "/f";
  std::string a(100000, 'a'), b(70000, 'b');
  ASSERT_TRUE(writeFileAtomically(path, a).ok());
  std::thread writer([&] {
    for (int i = 0; i < 200; ++i) {
      ASSERT_TRUE(writeFileAtomically(path, i % 2 ? a : b).ok());
    }
  });
  for (int i = 0; i < 400; ++i) {
    std::string seen = *readFile(path);
    ASSERT_TRUE(seen == a || seen == b);
  }
  writer.join();
}

TEST_F(Files, ADiskThatRefusesLeavesNothingBehind) {
  // A write beyond RLIMIT_FSIZE fails as one to a full disk does.
  pid_t child = ::fork();
  if (child == 0) {
    ::signal(SIGXFSZ, SIG_IGN);
    rlimit limit = {1000, 1000};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    bool refused =
        !writeFileAtomically(root + "/f", std::string(5000, 'x')).ok();
    ::_exit(refused ? 0 : 1);
  }
  int state = 0;
  ::waitpid(child, &state, 0);
  EXPECT_EQ(state, 0);
  EXPECT_TRUE(fs::is_empty(root));
}

TEST_F(Files, PrivateFolder) {
  std::string folder = root + "/a/b/c";
  ASSERT_TRUE(makePrivateFolder(folder).ok());
  struct stat info;
  ASSERT_EQ(::stat(folder.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0700u);
  EXPECT_TRUE(makePrivateFolder(folder).ok());

  ::chmod(folder.c_str(), 0777);
  EXPECT_NE(makePrivateFolder(folder).failure().message.find("chmod 700"),
            std::string::npos);
  ASSERT_TRUE(writeFileAtomically(root + "/file", "x").ok());
  EXPECT_FALSE(makePrivateFolder(root + "/file").ok());
  EXPECT_FALSE(makePrivateFolder(root + "/file/sub").ok());
  // The superuser of a namespace or a container may be refused.
  ::chmod(folder.c_str(), 0700);
  if (::geteuid() == 0 && ::chown(folder.c_str(), 12345, 12345) == 0) {
    EXPECT_NE(makePrivateFolder(folder).failure().message.find("another user"),
              std::string::npos);
  }
}

TEST_F(Files, DevicesAreWrittenToDirectly) {
  EXPECT_TRUE(writeFileAtomically("/dev/null", "x").ok());
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
}
