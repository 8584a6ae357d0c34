//===- MeetingTest.cpp ----------------------------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "apps/gpt2/distributed/Meeting.h"
#include "apps/gpt2/distributed/MeetingFile.h"
#include "apps/gpt2/distributed/Secret.h"
#include "apps/gpt2/distributed/testing/Ranks.h"
#include "apps/gpt2/distributed/testing/Strangers.h"

#include "nereid/Runtime/Error.h"

#include <gmock/gmock.h>

#include <fcntl.h>
#include <fstream>
#include <netinet/in.h>
#include <sodium.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>

using namespace nereid;
using namespace nereid::gpt2;
using ::testing::HasSubstr;

static const std::string secret = "of all that nobody knows";

static Processes placeOf(const MeetingPlace &place, int rank, int size) {
  Processes all = place.processes(rank, size);
  all.secret = secret;
  return all;
}

/// RFC 4231, test case 2, is of one part without a length: the parts here have
/// lengths, so that other parts have other tags.
TEST(Secret, tagsTellPartsApart) {
  std::string tag = tagOf("Jefe", {"ab", "c"});
  EXPECT_EQ(tag.size(), tagBytes);
  EXPECT_TRUE(isTagOf(tag, "Jefe", {"ab", "c"}));
  EXPECT_FALSE(isTagOf(tag, "Jefe", {"a", "bc"}));
  EXPECT_FALSE(isTagOf(tag, "jefe", {"ab", "c"}));
  EXPECT_FALSE(isTagOf(tag.substr(1), "Jefe", {"ab", "c"}));
  EXPECT_FALSE(isTagOf("", "Jefe", {"ab", "c"}));
}

TEST(Secret, theLibraryIsPrepared) {
  randomBytes();
  EXPECT_EQ(sodium_init(), 1); // was done
}

TEST(Secret, isDrawn) {
  EXPECT_EQ(makeSecret().size(), 2 * tagBytes);
  EXPECT_NE(makeSecret(), makeSecret());
  EXPECT_NE(randomBytes(), randomBytes());
}

TEST(Meeting, allKnowOneToken) {
  MeetingPlace place;
  std::vector<std::string> tokens(3);
  std::vector<std::thread> others;
  for (int rank : {1, 2}) {
    others.emplace_back([&, rank] {
      tokens[size_t(rank)] = meet(placeOf(place, rank, 3)).token;
    });
  }
  Met met = meet(placeOf(place, 0, 3));
  for (std::thread &other : others) {
    other.join();
  }
  EXPECT_EQ(met.token.size(), tagBytes);
  EXPECT_EQ(tokens[1], met.token);
  EXPECT_EQ(tokens[2], met.token);
  EXPECT_FALSE(met.sockets[0].isOpen());
  EXPECT_TRUE(met.sockets[1].isOpen());
}

/// More than are served at once, all of whom stay.
TEST(Meeting, strangersDelayNobody) {
  MeetingPlace place;
  MeetingLimits limits;
  limits.guests = 4;
  std::vector<Socket> strangers;
  for (int i = 0; i < 12; ++i) {
    strangers.push_back(strangerAt(place.port(), StrangerKind(i % 3)));
  }
  std::thread other([&] { meet(placeOf(place, 1, 2)); });
  EXPECT_TRUE(meet(placeOf(place, 0, 2), limits).sockets[1].isOpen());
  other.join();
}

/// However many come after a process of the run, it has time to answer.
TEST(Meeting, strangersPushNobodyOut) {
  MeetingPlace place;
  MeetingLimits limits;
  limits.guests = 4;
  limits.leastSeconds = limits.mostSeconds = forEver;
  Deadline end = secondsFromNow(forEver);
  Socket ours = strangerAt(place.port(), StrangerKind::Silent);
  std::vector<Socket> strangers;
  for (int i = 0; i < 12; ++i) {
    strangers.push_back(strangerAt(place.port(), StrangerKind::Silent));
  }
  std::thread zero([&] { meet(placeOf(place, 0, 2), limits); });
  // The last one to be let in has its random number: all others are inside.
  std::string random(tagBytes, '\0');
  strangers[2].receive(random.data(), random.size(), end);
  ours.receive(random.data(), random.size(), end);
  std::string own = randomBytes(), text = "nereid-gpt2 " NEREID_VERSION " 1 2";
  ours.sendText(own + tagOf(secret, {"join", random, own, text}) + text, end);
  EXPECT_EQ(ours.receiveText(end).substr(0, 1), "y");
  zero.join();
}

/// Nor does one that is full of connections of its own wait in vain.
TEST(Meeting, tooFewFilesAreTold) {
  MeetingPlace place;
  Processes zero = placeOf(place, 0, 2);
  Socket stranger = strangerAt(place.port(), StrangerKind::Silent);
  rlimit before = {};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit none = before;
  {
    Socket next(::dup(0)); // the lowest number that is free
    none.rlim_cur = rlim_t(next.get());
  }
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  std::string error = errorOf([&] { meet(zero); });
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_THAT(error, HasSubstr("process 0 of 2 cannot take a connection: Too "
                               "many open files; hint: ulimit -n"));
}

/// What process 0 has inherited goes to no program that it starts.
TEST(Meeting, theInheritedSocketIsNotPassedOn) {
  MeetingPlace place;
  Processes zero = placeOf(place, 0, 2);
  EXPECT_EQ(fcntl(zero.listeningSocket, F_GETFD) & FD_CLOEXEC, 0);
  std::thread first([&] { meet(zero); });
  Deadline end = secondsFromNow(forEver);
  Socket stranger = strangerAt(place.port(), StrangerKind::Silent);
  std::string random(tagBytes, '\0');
  stranger.receive(random.data(), random.size(), end);
  EXPECT_EQ(fcntl(zero.listeningSocket, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
  meet(placeOf(place, 1, 2));
  first.join();
}

TEST(Meeting, strangersAreToldNothing) {
  MeetingPlace place;
  Deadline end = secondsFromNow(forEver);
  std::thread others([&] {
    Socket silent = strangerAt(place.port(), StrangerKind::Silent);
    std::string random(tagBytes, '\0');
    silent.receive(random.data(), random.size(), end);
    std::string text = "nereid-gpt2 " NEREID_VERSION " 1 2",
                ours = randomBytes();
    silent.sendText(ours + tagOf("", {"join", random, ours, text}) + text, end);
    EXPECT_EQ(silent.receiveText(end), "s");
    char more = 0;
    EXPECT_THROW(silent.receive(&more, 1, end), Error);

    Socket rubbish = strangerAt(place.port(), StrangerKind::Rubbish);
    rubbish.receive(random.data(), random.size(), end);
    EXPECT_THROW(rubbish.receive(&more, 1, end), Error);
    meet(placeOf(place, 1, 2));
  });
  meet(placeOf(place, 0, 2));
  others.join();
}

/// What was overheard at one connection is no good at another.
TEST(Meeting, tagsAreOfOneConnection) {
  MeetingPlace place;
  Deadline end = secondsFromNow(forEver);
  std::thread others([&] {
    Socket first = strangerAt(place.port(), StrangerKind::Silent),
           second = strangerAt(place.port(), StrangerKind::Silent);
    std::string random(tagBytes, '\0'), ours = randomBytes();
    first.receive(random.data(), random.size(), end);
    std::string text = "nereid-gpt2 " NEREID_VERSION " 1 2";
    second.sendText(ours + tagOf(secret, {"join", random, ours, text}) + text,
                    end);
    second.receive(random.data(), random.size(), end);
    EXPECT_EQ(second.receiveText(end), "s");
    meet(placeOf(place, 1, 2));
  });
  meet(placeOf(place, 0, 2));
  others.join();
}

TEST(Meeting, oneWithAnotherSecretIsTold) {
  MeetingPlace place;
  std::thread others([&] {
    Processes wrong = placeOf(place, 1, 2);
    wrong.meetSeconds = 0; // one attempt
    MeetingLimits limits;
    limits.mostSeconds = forEver;
    auto tell = [&] {
      testing::internal::CaptureStderr();
      std::string error = errorOf([&] { meet(wrong, limits); });
      EXPECT_EQ(testing::internal::GetCapturedStderr(),
                "note: " + error + "; it goes on trying for 0 s\n");
      return error;
    };
    wrong.secret = "another that nobody knows";
    EXPECT_THAT(tell(), HasSubstr("process 1 of 2 was refused by process 0 at "
                                  "127.0.0.1:"));
    EXPECT_THAT(tell(),
                HasSubstr("expected the run's RENDEZVOUS_SECRET, got another"));
    wrong.secret = "";
    EXPECT_THAT(tell(),
                HasSubstr("expected the run's RENDEZVOUS_SECRET, got none"));
    meet(placeOf(place, 1, 2));
  });
  meet(placeOf(place, 0, 2));
  others.join();
}

TEST(Meeting, thoseOfAnotherRunAreRefused) {
  MeetingPlace place;
  std::thread others([&] {
    EXPECT_THAT(errorOf([&] { meet(placeOf(place, 1, 3)); }),
                HasSubstr("expected a run of 2 processes, got one of 3"));
    meet(placeOf(place, 1, 2));
  });
  meet(placeOf(place, 0, 2));
  others.join();
}

/// What one that knows the secret is answered: a verdict, a tag, and why.
static std::string answerTo(const MeetingPlace &place,
                            const std::string &text) {
  Deadline end = secondsFromNow(forEver);
  Socket socket = strangerAt(place.port(), StrangerKind::Silent);
  std::string random(tagBytes, '\0'), ours = randomBytes();
  socket.receive(random.data(), random.size(), end);
  socket.sendText(ours + tagOf(secret, {"join", random, ours, text}) + text,
                  end);
  std::string answer = socket.receiveText(end);
  std::string why = answer.substr(1 + tagBytes);
  EXPECT_TRUE(isTagOf(answer.substr(1, tagBytes), secret,
                      {"answer", random, ours, answer.substr(0, 1), why}));
  return answer.substr(0, 1) + " " + why;
}

TEST(Meeting, whatIsNoPlaceOfTheRunIsRefused) {
  MeetingPlace place;
  std::thread others([&] {
    std::string program = "nereid-gpt2 " NEREID_VERSION " ";
    for (const char *text :
         {"another program", "nereid-gpt2 0.0.0-0 1 3", ""}) {
      EXPECT_THAT(answerTo(place, text),
                  HasSubstr("n expected '" + program +
                            "', the same program, got '" +
                            std::string(text).substr(0, 3)));
    }
    for (const char *text : {"1", "1 ", "x 3", "1 x", "1 3 5", " 1 3",
                             "99999999999 3", "1 99999999999"}) {
      EXPECT_THAT(answerTo(place, program + text),
                  HasSubstr("the same program, got"))
          << text;
    }
    for (const char *text : {"0 3", "-1 3", "3 3"}) {
      EXPECT_THAT(answerTo(place, program + text), HasSubstr(", got two"))
          << text;
    }
    std::thread second([&] { meet(placeOf(place, 2, 3)); });
    second.join();
    EXPECT_THAT(answerTo(place, program + "2 3"),
                HasSubstr("n expected one process 2, got two"));
    meet(placeOf(place, 1, 3));
  });
  meet(placeOf(place, 0, 3));
  others.join();
}

/// A stranger that took process 0's port cannot say what it likes.
TEST(Meeting, anAnswerWithoutTheSecretIsNotBelieved) {
  MeetingPlace place;
  Deadline end = secondsFromNow(forEver);
  std::thread other([&] { meet(placeOf(place, 1, 2)); });
  for (const std::string &answer : std::vector<std::string>{
           "ok zzz", "y" + std::string(tagBytes, 'x') + "token",
           "n" + std::string(tagBytes, 'x') + "go away", "s", std::string()}) {
    Socket socket = place.accept();
    socket.send(randomBytes().data(), tagBytes, end);
    socket.receiveText(end);
    socket.sendText(answer, end);
  }
  meet(placeOf(place, 0, 2));
  other.join();
}

TEST(Meeting, nobodyComes) {
  Processes all = MeetingPlace().processes(0, 2);
  all.meetSeconds = 0.2;
  EXPECT_THAT(errorOf([&] { meet(all); }),
              HasSubstr("expected all, got none of 1;"));
}

TEST(Meeting, strangersAloneAreCounted) {
  MeetingPlace place;
  Processes all = placeOf(place, 0, 2);
  all.meetSeconds = 0.5;
  Socket stranger = strangerAt(place.port(), StrangerKind::Rubbish);
  EXPECT_THAT(errorOf([&] { meet(all); }),
              HasSubstr("expected all, got none of 1, and 1 that did not know "
                        "RENDEZVOUS_SECRET;"));
}

TEST(Meeting, nobodyIsThere) {
  // A port that this test has, and where it does not listen.
  Socket bound(::socket(AF_INET, SOCK_STREAM, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ASSERT_EQ(::bind(bound.get(), reinterpret_cast<sockaddr *>(&address),
                   sizeof(address)),
            0);
  Processes one = MeetingPlace().processes(1, 2);
  one.port = bound.localPort();
  one.meetSeconds = 0.2;
  EXPECT_THAT(errorOf([&] { meet(one); }),
              HasSubstr("process 1 of 2 cannot reach process 0 at 127.0.0.1:"));
}

TEST(Meeting, listensAtTheAddressAlone) {
  EXPECT_EQ(listenAt("127.0.0.1", 0).localAddress(), "127.0.0.1");
  EXPECT_EQ(listenAt("127.0.0.2", 0).localAddress(), "127.0.0.2");
  EXPECT_THAT(errorOf([&] { listenAt("192.0.2.1", 0); }),
              HasSubstr("process 0 listening at 192.0.2.1:0: expected a free "
                        "port of an address of its machine"));
  EXPECT_TRUE(isLoopback("127.0.1.1"));
  EXPECT_TRUE(isLoopback("::1"));
  EXPECT_FALSE(isLoopback("128.0.0.1"));
  EXPECT_EQ(placeText("::1", 7), "[::1]:7");
}

/// Where somebody else has the port, the others would ask there first.
TEST(Meeting, listensAtTheFirstAddressThatTheMachineHas) {
  Socket taken = listenAt("127.0.0.1", 0);
  int port = taken.localPort();
  auto listenAtBoth = [&](const std::string &first) {
    std::vector<Address> all = addressesOf(first, port),
                         second = addressesOf("127.0.0.2", port);
    all.insert(all.end(), second.begin(), second.end());
    return listenAt(all, "here");
  };
  EXPECT_THAT(errorOf([&] { listenAtBoth("127.0.0.1"); }),
              HasSubstr("process 0 listening at here: expected a free port of "
                        "an address of its machine: Address already in use"));
  EXPECT_EQ(listenAtBoth("192.0.2.1").localAddress(), "127.0.0.2");
}

/// A stranger listens at the first one, and no process at the second.
TEST(Meeting, allAddressesAreTried) {
  Socket stranger = listenAt("127.0.0.1", 0),
         ours = listenAt("127.0.0.3", stranger.localPort());
  std::vector<Address> all;
  for (const char *host : {"127.0.0.1", "127.0.0.2", "127.0.0.3"}) {
    std::vector<Address> one = addressesOf(host, stranger.localPort());
    all.insert(all.end(), one.begin(), one.end());
  }
  int tried = 0;
  EXPECT_TRUE(connectToAny(all, forEver,
                           [&](Socket &, Deadline) { return ++tried == 2; }));
  EXPECT_FALSE(
      connectToAny(all, forEver, [&](Socket &, Deadline) { return false; }));
}

/// Anybody of the machine may come.
TEST(Meeting, withoutASecretProcess0SaysSo) {
  Processes all;
  all.size = 2;
  all.host = "127.0.0.1";
  all.meetSeconds = 0;
  testing::internal::CaptureStderr();
  EXPECT_THAT(errorOf([&] { meet(all); }), HasSubstr("got none of 1;"));
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              HasSubstr(", any user of this machine, may take a process's "
                        "place; with one RENDEZVOUS_SECRET"));
}

/// Debian gives a machine's own name the address 127.0.1.1.
TEST(Meeting, anAddressThatOthersCannotReachIsRefused) {
  Processes all;
  all.size = 2;
  all.host = "127.0.1.1";
  all.isOneMachine = false;
  EXPECT_THAT(errorOf([&] { meet(all); }),
              HasSubstr("MASTER_ADDR: expected an address of this machine that "
                        "the others reach, got '127.0.1.1'"));
}

TEST(MeetingFile, isThisUsersAlone) {
  std::string name =
      ::testing::TempDir() + "/meeting-file-" + std::to_string(getpid());
  std::string read;
  {
    MeetingFile file(name);
    EXPECT_EQ(MeetingFile(name).read(read), 0);
    file.write(1234, "a secret");
    struct stat status = {};
    ASSERT_EQ(stat(name.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777U, 0600U);
    EXPECT_EQ(MeetingFile(name).read(read), 1234);
    EXPECT_EQ(read, "a secret");
  }
  EXPECT_EQ(MeetingFile(name).read(read), 0);
  for (const char *text : {"", "x y\n", "0 a\n", "65536 a\n", "12", "12 a",
                           "99999999999999999999 a\n"}) {
    std::ofstream(name) << text;
    EXPECT_EQ(MeetingFile(name).read(read), 0) << text;
  }
  unlink(name.c_str());
}

TEST(MeetingFile, aFolderThatIsNotThereIsTold) {
  MeetingFile file("/no/such/folder/meeting");
  EXPECT_THAT(errorOf([&] { file.write(1234, "a secret"); }),
              HasSubstr("cannot write /no/such/folder/meeting, by which the "
                        "processes find each other: No such file or directory; "
                        "hint: set TMPDIR or MASTER_ADDR"));
}

/// All of what process 0 writes and its secret, which the others learn through
/// the file alone.
TEST(MeetingFile, bringsTheProcessesTogether) {
  Processes zero;
  zero.size = zero.localSize = 2;
  zero.meetSeconds = forEver;
  zero.meetingFile =
      ::testing::TempDir() + "/meeting-" + std::to_string(getpid());
  Processes one = zero;
  one.rank = one.localRank = 1;
  std::thread other([&] { meet(one); });
  meet(zero);
  other.join();
  EXPECT_NE(access(zero.meetingFile.c_str(), F_OK), 0);
}
