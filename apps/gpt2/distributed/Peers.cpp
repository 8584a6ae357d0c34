//===- Peers.cpp - The other processes, and whether they live -------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "apps/gpt2/distributed/Peers.h"

#include "nereid/Runtime/Error.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <fstream>
#include <poll.h>
#include <random>
#include <sys/socket.h>
#include <unistd.h>

using namespace nereid;
using namespace nereid::gpt2;

/// Both sides must say it: programs that differ may sum other things.
static constexpr std::string_view greeting = "nereid-gpt2 " NEREID_VERSION " ";

enum Kind : char { SignOfLife = 'h', Goodbye = 'b', FailureNotice = 'f' };

static void frame(const Socket &socket, Kind kind, const std::string &text) {
  auto bytes = static_cast<uint32_t>(text.size());
  std::string whole(1, kind);
  whole.append(reinterpret_cast<const char *>(&bytes), sizeof(bytes));
  whole += text;
  // Where the other side does not read, nothing helps: its silence shows.
  (void)!send(socket.get(), whole.data(), whole.size(),
              MSG_NOSIGNAL | MSG_DONTWAIT);
}

std::string Peers::nameOf(int rank) const {
  return "process " + std::to_string(rank) + " of " + std::to_string(all.size);
}

//===----------------------------------------------------------------------===//
// Meeting
//===----------------------------------------------------------------------===//

Peers::Peers(const Processes &processes) : all(processes) {
  if (all.rank == 0) {
    meetAsRoot();
  } else {
    meetAsOther();
  }
}

void Peers::meetAsRoot() {
  Deadline deadline = secondsFromNow(all.meetSeconds);
  Socket listener = all.listeningSocket >= 0  ? Socket(all.listeningSocket)
                    : all.meetingFile.empty() ? listenAt(all.port)
                                              : listenAt(0);
  token_ = std::random_device()() | uint64_t{std::random_device()()} << 32;
  if (!all.meetingFile.empty()) {
    std::string beside = all.meetingFile + "." + std::to_string(getpid());
    std::ofstream(beside) << listener.localPort() << '\n';
    if (std::rename(beside.c_str(), all.meetingFile.c_str()) != 0) {
      raise({ErrorCode::IoError,
             "cannot write " + all.meetingFile +
                 ", by which the processes find each other: " +
                 std::strerror(errno) + "; hint: set TMPDIR or MASTER_ADDR",
             {}});
    }
  }
  std::vector<Link> found(size_t(all.size));
  for (int missing = all.size - 1; missing > 0;) {
    Socket socket;
    std::string hello;
    try {
      socket = acceptFrom(listener, deadline);
      hello = socket.receiveText(std::min(deadline, secondsFromNow(5)));
    } catch (const Error &) {
      if (millisecondsUntil(deadline) > 0) {
        continue; // whoever it was, it is not one of us
      }
      std::string names;
      for (int rank = 1; rank < all.size; ++rank) {
        if (!found[size_t(rank)].socket.isOpen()) {
          names += (names.empty() ? "" : ", ") + std::to_string(rank);
        }
      }
      raise({ErrorCode::IoError,
             "process 0 of " + std::to_string(all.size) + " waited " +
                 std::to_string(int(all.meetSeconds)) +
                 " s for the others: expected all, got none of " + names +
                 "; hint: do all of them run, and reach this machine?",
             {}});
    }
    int rank = -1, size = 0;
    std::string answer;
    if (hello.compare(0, greeting.size(), greeting) != 0 ||
        std::sscanf(hello.c_str() + greeting.size(), "%d %d", &rank, &size) !=
            2) {
      answer = "expected '" + std::string(greeting) +
               "', the same program, got '" +
               hello.substr(0, greeting.size() + 20) + "'";
    } else if (size != all.size) {
      answer = "expected a run of " + std::to_string(all.size) +
               " processes, got one of " + std::to_string(size);
    } else if (rank < 1 || rank >= size ||
               found[size_t(rank)].socket.isOpen()) {
      answer = "expected one process " + std::to_string(rank) + ", got two";
    }
    socket.sendText(answer.empty() ? "ok " + std::to_string(token_) : answer,
                    deadline);
    if (answer.empty()) {
      found[size_t(rank)] = {std::move(socket), rank, {}, {}, false};
      --missing;
    }
  }
  for (int rank = 1; rank < all.size; ++rank) {
    links.push_back(std::move(found[size_t(rank)]));
  }
  if (!all.meetingFile.empty()) {
    unlink(all.meetingFile.c_str());
  }
}

void Peers::meetAsOther() {
  Deadline deadline = secondsFromNow(all.meetSeconds);
  std::string where = all.meetingFile.empty()
                          ? all.host + ":" + std::to_string(all.port)
                          : all.meetingFile;
  while (millisecondsUntil(deadline) > 0) {
    std::string host = all.host;
    int port = all.port;
    if (!all.meetingFile.empty()) {
      host = "127.0.0.1";
      port = 0;
      std::ifstream(all.meetingFile) >> port;
    }
    std::string answer;
    std::optional<Socket> socket;
    if (port > 0) {
      socket = tryConnect(host, port, std::min(deadline, secondsFromNow(5)));
    }
    if (socket) {
      try {
        socket->sendText(std::string(greeting) + std::to_string(all.rank) +
                             " " + std::to_string(all.size),
                         deadline);
        answer = socket->receiveText(deadline);
      } catch (const Error &) {
        answer.clear(); // a listener of an earlier run
      }
    }
    if (answer.starts_with("ok ")) {
      token_ = std::stoull(answer.substr(3));
      links.push_back({std::move(*socket), 0, {}, {}, false});
      return;
    }
    if (!answer.empty()) {
      raise({ErrorCode::InvalidArgument,
             nameOf(all.rank) + " was refused by process 0 at " + where + ": " +
                 answer,
             {}});
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  raise({ErrorCode::IoError,
         nameOf(all.rank) + " cannot reach process 0 at " + where + " for " +
             std::to_string(int(all.meetSeconds)) +
             " s; hint: does it run, and is the port open?",
         {}});
}

std::vector<std::string> Peers::gather(const std::string &text) {
  Deadline deadline = secondsFromNow(all.meetSeconds);
  std::vector<std::string> texts(size_t(all.size));
  try {
    if (all.rank == 0) {
      texts[0] = text;
      for (const Link &link : links) {
        texts[size_t(link.rank)] = link.socket.receiveText(deadline);
      }
      for (const Link &link : links) {
        for (const std::string &one : texts) {
          link.socket.sendText(one, deadline);
        }
      }
    } else {
      links[0].socket.sendText(text, deadline);
      for (std::string &one : texts) {
        one = links[0].socket.receiveText(deadline);
      }
    }
  } catch (const Error &error) {
    raise({ErrorCode::IoError,
           nameOf(all.rank) + ": a process ended before all had met (" +
               error.message() + ")",
           {}});
  }
  return texts;
}

std::string Peers::ownAddress() const { return links[0].socket.localAddress(); }
std::string Peers::rootAddress() const {
  return all.rank == 0 ? ownAddress() : links[0].socket.remoteAddress();
}

//===----------------------------------------------------------------------===//
// Signs of life
//===----------------------------------------------------------------------===//

void Peers::watch(std::function<void()> onFailure,
                  std::function<std::string()> isFailing, double graceSeconds) {
  this->onFailure = std::move(onFailure);
  this->isFailing = std::move(isFailing);
  this->graceSeconds = graceSeconds;
  for (Link &link : links) {
    link.heard = secondsFromNow(0);
  }
  thread = std::thread([this] { run(); });
}

Peers::~Peers() {
  stops = true;
  bool throws = std::uncaught_exceptions() > 0;
  if (!hasFailed()) {
    for (const Link &link : links) {
      frame(link.socket, throws ? FailureNotice : Goodbye,
            throws ? nameOf(all.rank) + " has failed; its own message says why"
                   : "");
    }
  }
  if (thread.joinable()) {
    thread.join();
  }
}

void Peers::fail(const std::string &message, int except) {
  {
    std::lock_guard lock(mutex);
    if (failed) {
      return;
    }
    failure = message;
    failed = true;
  }
  for (const Link &link : links) {
    if (link.rank != except) {
      frame(link.socket, FailureNotice, message);
    }
  }
}

void Peers::handle(Link &link, char kind, const std::string &text) {
  if (kind == Goodbye) {
    link.hasLeft = true;
    left = link.rank;
  } else if (kind == FailureNotice) {
    fail(text, link.rank);
  }
}

void Peers::listenTo(Link &link) {
  char data[4096];
  ssize_t got = recv(link.socket.get(), data, sizeof(data), MSG_DONTWAIT);
  if (got > 0) {
    link.heard = secondsFromNow(0);
    link.unread.append(data, size_t(got));
    uint32_t bytes = 0;
    constexpr size_t head = 1 + sizeof(bytes);
    while (link.unread.size() >= head) {
      std::memcpy(&bytes, link.unread.data() + 1, sizeof(bytes));
      if (link.unread.size() < head + bytes) {
        break;
      }
      handle(link, link.unread[0], link.unread.substr(head, bytes));
      link.unread.erase(0, head + bytes);
    }
  } else if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
    if (!link.hasLeft) {
      fail(nameOf(link.rank) + " has ended, without a goodbye", link.rank);
    }
    link.hasLeft = true;
  }
}

void Peers::run() {
  Deadline next = secondsFromNow(0);
  constexpr double secondsBetween = 1;
  while (!stops && !hasFailed()) {
    std::vector<pollfd> polled;
    for (const Link &link : links) {
      polled.push_back({link.hasLeft ? -1 : link.socket.get(), POLLIN, 0});
    }
    constexpr int milliseconds = 50;
    poll(polled.data(), polled.size(), milliseconds);
    for (size_t i = 0; i < links.size() && !hasFailed(); ++i) {
      if (polled[i].revents != 0) {
        listenTo(links[i]);
      }
      if (!links[i].hasLeft && !hasFailed() &&
          std::chrono::steady_clock::now() - links[i].heard >
              std::chrono::duration<double>(all.silenceSeconds)) {
        fail(nameOf(links[i].rank) + " has shown no sign of life for " +
                 std::to_string(int(all.silenceSeconds)) + " s",
             links[i].rank);
      }
    }
    if (std::chrono::steady_clock::now() >= next) {
      next = secondsFromNow(secondsBetween);
      for (const Link &link : links) {
        if (!link.hasLeft) {
          frame(link.socket, SignOfLife, "");
        }
      }
      if (std::string wrong = isFailing ? isFailing() : ""; !wrong.empty()) {
        fail(nameOf(all.rank) + ": " + wrong, -1);
      }
    }
  }
  if (!hasFailed()) {
    return;
  }
  // In a thread of its own: what ends the waiting may itself wait.
  Deadline grace = secondsFromNow(graceSeconds);
  std::atomic<bool> isDone = false;
  std::thread ending([&] {
    if (onFailure) {
      onFailure();
    }
    isDone = true;
  });
  while (!stops || !isDone) {
    if (millisecondsUntil(grace) == 0) {
      std::fprintf(stderr, "error: %s\n", failure.c_str());
      _exit(1);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  ending.join();
}

void Peers::check() const {
  if (hasFailed()) {
    std::lock_guard lock(mutex);
    raise({ErrorCode::IoError, failure, {}});
  }
}

void Peers::checkAllAreHere() const {
  check();
  if (int rank = left; rank >= 0) {
    raise({ErrorCode::IoError,
           nameOf(rank) + " has ended its run, which " + nameOf(all.rank) +
               " goes on with; hint: do all of them have the same options and "
               "the same checkpoint?",
           {}});
  }
}

void Peers::raiseFailure(const std::string &otherwise) const {
  // A connection for tensors may close first.
  constexpr int tries = 100;
  for (int i = 0; i < tries && !hasFailed(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  check();
  raise({ErrorCode::IoError, otherwise, {}});
}
