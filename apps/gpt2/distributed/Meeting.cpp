//===- Meeting.cpp - How the processes of a run find each other -----------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// process 0:  random[32]
// another:    length[4] random[32] tag[32] "nereid-gpt2 VERSION RANK SIZE"
// process 0:  length[4] verdict[1] tag[32] token, or what is wrong
//
//===----------------------------------------------------------------------===//

#include "apps/gpt2/distributed/Meeting.h"

#include "apps/gpt2/distributed/MeetingFile.h"
#include "apps/gpt2/distributed/Secret.h"

#include "nereid/Runtime/Error.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <deque>
#include <fcntl.h>
#include <optional>
#include <poll.h>
#include <sys/socket.h>
#include <thread>

using namespace nereid;
using namespace nereid::gpt2;

/// Both sides must say it: programs that differ may sum other things.
static constexpr std::string_view greeting = "nereid-gpt2 " NEREID_VERSION " ";

enum Verdict : char { Welcome = 'y', Refused = 'n', Stranger = 's' };

static constexpr size_t mostGreeting = 256, mostAnswer = 1024;

std::string gpt2::nameOf(int rank, const Processes &processes) {
  return "process " + std::to_string(rank) + " of " +
         std::to_string(processes.size);
}

/// Two numbers and nothing else.
static bool parsePlace(std::string_view text, int &rank, int &size) {
  const char *end = text.data() + text.size();
  auto [middle, error] = std::from_chars(text.data(), end, rank);
  if (error != std::errc() || middle == end || *middle != ' ') {
    return false;
  }
  auto [last, second] = std::from_chars(middle + 1, end, size);
  return second == std::errc() && last == end;
}

//===----------------------------------------------------------------------===//
// Process 0
//===----------------------------------------------------------------------===//

namespace {

class Reception {
public:
  Reception(const Processes &all, const MeetingLimits &limits);
  Met receiveAll();

private:
  /// Of whom is not known yet whether it belongs to the run.
  struct Guest {
    Socket socket;
    std::string random;
    Deadline mayGo, deadline;
    std::string heard;
    bool isDone = false;
  };

  Socket open();
  void admit();
  bool makeRoom();
  void listenTo(Guest &guest);
  void judge(Guest &guest, std::string_view message);
  std::string objectionTo(std::string_view text, int &rank) const;
  [[noreturn]] void giveUp() const;

  const Processes &all;
  MeetingLimits limits;
  Deadline deadline;
  std::string secret;
  MeetingFile file;
  Socket listener;
  std::deque<Guest> guests; ///< in the order in which they came
  Deadline opens;           ///< until then no guest is let in
  Met met;
  int missing;
  int64_t strangers = 0;
};

} // namespace

Reception::Reception(const Processes &all, const MeetingLimits &limits)
    : all(all), limits(limits), deadline(secondsFromNow(all.meetSeconds)),
      secret(all.secret), file(all.meetingFile), listener(open()),
      missing(all.size - 1) {
  met.token = randomBytes();
  met.sockets.resize(size_t(all.size));
}

Socket Reception::open() {
  if (all.listeningSocket >= 0) {
    fcntl(all.listeningSocket, F_SETFL, O_NONBLOCK);
    fcntl(all.listeningSocket, F_SETFD, FD_CLOEXEC);
    return Socket(all.listeningSocket);
  }
  if (file.isNamed()) {
    Socket socket = listenAt("127.0.0.1", 0);
    std::string own = makeSecret();
    file.write(socket.localPort(), own);
    if (secret.empty()) {
      secret = own;
    }
    return socket;
  }
  Socket socket = listenAt(all.host, all.port);
  bool isInside = isLoopback(socket.localAddress());
  if (!all.isOneMachine && isInside) {
    raise({ErrorCode::InvalidArgument,
           "MASTER_ADDR: expected an address of this machine that the others "
           "reach, got '" +
               all.host + "', which is " + socket.localAddress() +
               " here; hint: the number of an address, or 0.0.0.0 for process "
               "0, which then listens at all of them; LOCAL_WORLD_SIZE where "
               "all run on this machine",
           {}});
  }
  if (secret.empty()) {
    std::fprintf(
        stderr,
        "note: any process that reaches %s%s may take a process's place; with "
        "one RENDEZVOUS_SECRET in the environment of all processes "
        "no other can\n",
        placeText(socket.localAddress(), socket.localPort()).c_str(),
        isInside ? ", any user of this machine," : "");
  }
  return socket;
}

/// The oldest goes, unless it came a moment ago: then the others wait outside.
bool Reception::makeRoom() {
  if (millisecondsUntil(guests.front().mayGo) > 0) {
    opens = guests.front().mayGo;
    return false;
  }
  listenTo(guests.front()); // it may have answered since
  guests.pop_front();
  return true;
}

void Reception::admit() {
  // Those inside are heard in between.
  constexpr int atOnce = 32;
  for (int i = 0; i < atOnce; ++i) {
    if (guests.size() >= limits.guests && !makeRoom()) {
      return;
    }
    Socket socket = acceptNow(listener);
    if (!socket.isOpen()) {
      bool isFull = errno == EMFILE || errno == ENFILE;
      if (isFull && guests.empty()) {
        raise({ErrorCode::IoError,
               nameOf(0, all) + " cannot take a connection: " +
                   std::strerror(errno) + "; hint: ulimit -n",
               {}});
      }
      if (!isFull || !makeRoom()) {
        return;
      }
      continue;
    }
    Guest guest{std::move(socket),
                randomBytes(),
                secondsFromNow(limits.leastSeconds),
                secondsFromNow(limits.mostSeconds),
                "",
                false};
    if (guest.socket.sendNow(guest.random)) {
      guests.push_back(std::move(guest));
    }
  }
}

std::string Reception::objectionTo(std::string_view text, int &rank) const {
  int size = 0;
  if (!text.starts_with(greeting) ||
      !parsePlace(text.substr(greeting.size()), rank, size)) {
    return "expected '" + std::string(greeting) + "', the same program, got '" +
           std::string(text.substr(0, greeting.size() + 20)) + "'";
  }
  if (size != all.size) {
    return "expected a run of " + std::to_string(all.size) +
           " processes, got one of " + std::to_string(size);
  }
  if (rank < 1 || rank >= size || met.sockets[size_t(rank)].isOpen()) {
    return "expected one process " + std::to_string(rank) + ", got two";
  }
  return "";
}

void Reception::judge(Guest &guest, std::string_view message) {
  guest.isDone = true;
  std::string_view random = message.substr(0, tagBytes),
                   tag = message.substr(tagBytes, tagBytes),
                   text = message.substr(2 * tagBytes);
  std::string answer;
  int rank = 0;
  if (!isTagOf(tag, secret, {"join", guest.random, random, text})) {
    ++strangers;
    answer = std::string(1, Stranger);
  } else {
    std::string objection = objectionTo(text, rank);
    Verdict verdict = objection.empty() ? Welcome : Refused;
    std::string body = objection.empty() ? met.token : objection;
    std::string head(1, verdict);
    answer = head +
             tagOf(secret, {"answer", guest.random, random, head, body}) + body;
    rank = objection.empty() ? rank : 0;
  }
  auto bytes = static_cast<uint32_t>(answer.size());
  answer.insert(0, reinterpret_cast<const char *>(&bytes), sizeof(bytes));
  if (guest.socket.sendNow(answer) && rank > 0) {
    met.sockets[size_t(rank)] = std::move(guest.socket);
    --missing;
  }
}

void Reception::listenTo(Guest &guest) {
  uint32_t bytes = 0;
  char data[sizeof(bytes) + 2 * tagBytes + mostGreeting];
  ssize_t got = recv(guest.socket.get(), data, sizeof(data), MSG_DONTWAIT);
  if (got <= 0) {
    guest.isDone = got == 0 || (errno != EAGAIN && errno != EINTR);
    return;
  }
  guest.heard.append(data, size_t(got));
  if (guest.heard.size() < sizeof(bytes)) {
    return;
  }
  std::memcpy(&bytes, guest.heard.data(), sizeof(bytes));
  if (bytes < 2 * tagBytes || bytes > 2 * tagBytes + mostGreeting) {
    ++strangers;
    guest.isDone = true;
  } else if (guest.heard.size() >= sizeof(bytes) + bytes) {
    judge(guest, std::string_view(guest.heard).substr(sizeof(bytes), bytes));
  }
}

void Reception::giveUp() const {
  std::string names;
  for (int rank = 1; rank < all.size; ++rank) {
    if (!met.sockets[size_t(rank)].isOpen()) {
      names += (names.empty() ? "" : ", ") + std::to_string(rank);
    }
  }
  raise({ErrorCode::IoError,
         nameOf(0, all) + " waited " + std::to_string(int(all.meetSeconds)) +
             " s for the others: expected all, got none of " + names +
             (strangers == 0 ? ""
                             : ", and " + std::to_string(strangers) +
                                   " that did not know RENDEZVOUS_SECRET") +
             "; hint: do all of them run, and reach this machine?",
         {}});
}

Met Reception::receiveAll() {
  // The guests that are at the door then are heard; not those who keep coming.
  constexpr auto courtesy = std::chrono::seconds(60);
  while (missing > 0) {
    bool isClosed = millisecondsUntil(opens) > 0;
    std::vector<pollfd> polled = {{isClosed ? -1 : listener.get(), POLLIN, 0}};
    Deadline next = isClosed ? std::min(deadline, opens) : deadline;
    for (const Guest &guest : guests) {
      polled.push_back({guest.socket.get(), POLLIN, 0});
      next = std::min(next, guest.deadline);
    }
    int ready = poll(polled.data(), polled.size(), millisecondsUntil(next) + 1);
    if (millisecondsUntil(deadline) == 0 &&
        (ready == 0 || millisecondsUntil(deadline + courtesy) == 0)) {
      giveUp();
    }
    for (size_t i = 0; i < guests.size(); ++i) {
      if (polled[i + 1].revents != 0) {
        listenTo(guests[i]);
      }
    }
    if (std::erase_if(guests, [](const Guest &guest) {
          return guest.isDone || millisecondsUntil(guest.deadline) == 0;
        }) > 0) {
      opens = {};
    }
    if (polled[0].revents != 0) {
      admit();
    }
  }
  return std::move(met);
}

//===----------------------------------------------------------------------===//
// The others
//===----------------------------------------------------------------------===//

namespace {

struct Answer {
  Verdict verdict;
  std::string text;
};

} // namespace

/// Nothing where the other side is not, or not yet, process 0 of this run.
static std::optional<Answer> introduce(const Socket &socket,
                                       const Processes &all,
                                       const std::string &secret,
                                       Deadline deadline) {
  std::string theirs(tagBytes, '\0'), ours = randomBytes();
  std::string text = std::string(greeting) + std::to_string(all.rank) + " " +
                     std::to_string(all.size);
  try {
    socket.receive(theirs.data(), theirs.size(), deadline);
    socket.sendText(ours + tagOf(secret, {"join", theirs, ours, text}) + text,
                    deadline);
    std::string answer = socket.receiveText(deadline, mostAnswer);
    if (answer == std::string(1, Stranger)) {
      return Answer{Stranger, ""};
    }
    std::string_view head = std::string_view(answer).substr(0, 1);
    if (answer.size() < 1 + tagBytes ||
        !isTagOf(std::string_view(answer).substr(1, tagBytes), secret,
                 {"answer", theirs, ours, head,
                  std::string_view(answer).substr(1 + tagBytes)})) {
      return std::nullopt;
    }
    return Answer{Verdict(head[0]), answer.substr(1 + tagBytes)};
  } catch (const Error &) {
    return std::nullopt; // a listener of an earlier run
  }
}

static Met meetAsOther(const Processes &all, const MeetingLimits &limits) {
  Deadline deadline = secondsFromNow(all.meetSeconds);
  MeetingFile file(all.meetingFile);
  std::string where =
      file.isNamed() ? all.meetingFile : placeText(all.host, all.port);
  std::string refusal =
      nameOf(all.rank, all) + " was refused by process 0 at " + where + ": ";
  // Anybody can say so: it is no reason to give up.
  std::string ofSecret;
  Met met;
  do {
    std::string host = all.host, secret = all.secret;
    int port = all.port;
    if (file.isNamed()) {
      std::string own;
      host = "127.0.0.1";
      port = file.read(own);
      secret = secret.empty() ? own : secret;
    }
    bool isUnknown = false;
    auto use = [&](Socket &socket, Deadline patience) {
      std::optional<Answer> answer = introduce(socket, all, secret, patience);
      if (!answer || answer->verdict == Stranger) {
        isUnknown |= answer.has_value();
        return false;
      }
      if (answer->verdict != Welcome) {
        raise({ErrorCode::InvalidArgument, refusal + answer->text, {}});
      }
      met.sockets.push_back(std::move(socket));
      met.token = answer->text;
      return true;
    };
    if (port > 0 &&
        connectToAny(addressesOf(host, port), limits.mostSeconds, use)) {
      return met;
    }
    if (isUnknown && ofSecret.empty()) {
      ofSecret = refusal + "expected the run's RENDEZVOUS_SECRET, got " +
                 (secret.empty() ? "none" : "another") +
                 "; hint: the same in all processes";
      std::fprintf(stderr, "note: %s; it goes on trying for %d s\n",
                   ofSecret.c_str(), int(all.meetSeconds));
    }
    constexpr int soon = 20, later = 200;
    std::this_thread::sleep_for(
        std::chrono::milliseconds(isUnknown ? later : soon));
  } while (millisecondsUntil(deadline) > 0);
  if (!ofSecret.empty()) {
    raise({ErrorCode::InvalidArgument, ofSecret, {}});
  }
  raise({ErrorCode::IoError,
         nameOf(all.rank, all) + " cannot reach process 0 at " + where +
             " for " + std::to_string(int(all.meetSeconds)) +
             " s; hint: does it run, and is the port open?",
         {}});
}

Met gpt2::meet(const Processes &processes, const MeetingLimits &limits) {
  return processes.rank == 0 ? Reception(processes, limits).receiveAll()
                             : meetAsOther(processes, limits);
}
