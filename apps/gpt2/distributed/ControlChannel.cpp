//===- ControlChannel.cpp - The other processes, and whether they live ----===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "apps/gpt2/distributed/ControlChannel.h"

#include "nereid/Runtime/Error.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

using namespace nereid;
using namespace nereid::gpt2;

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

//===----------------------------------------------------------------------===//
// Meeting
//===----------------------------------------------------------------------===//

ControlChannel::ControlChannel(const Processes &processes) : all(processes) {
  Met met = meet(all);
  token_ = std::move(met.token);
  for (size_t i = 0; i < met.sockets.size(); ++i) {
    if (met.sockets[i].isOpen()) {
      links.push_back({std::move(met.sockets[i]), int(i), {}, {}, false});
    }
  }
}

std::vector<std::string> ControlChannel::gather(const std::string &text) {
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

std::string ControlChannel::ownAddress() const {
  return links[0].socket.localAddress();
}

//===----------------------------------------------------------------------===//
// Signs of life
//===----------------------------------------------------------------------===//

void ControlChannel::watch(std::function<void()> onFailure,
                           std::function<std::string()> isFailing,
                           double graceSeconds) {
  this->onFailure = std::move(onFailure);
  this->isFailing = std::move(isFailing);
  this->graceSeconds = graceSeconds;
  lastRound = secondsFromNow(0);
  for (Link &link : links) {
    link.heard = lastRound;
  }
  thread = std::thread([this] { run(); });
}

ControlChannel::~ControlChannel() {
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

void ControlChannel::fail(const std::string &message, int except) {
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

void ControlChannel::note(uint64_t number, std::string call) {
  std::lock_guard lock(mutex);
  constexpr size_t kept = 64;
  calls.emplace_back(number, std::move(call));
  if (calls.size() > kept) {
    calls.pop_front();
  }
}

/// A line each: number, space, what it is.
std::string ControlChannel::lastCalls() const {
  std::lock_guard lock(mutex);
  std::string text;
  constexpr size_t told = 4;
  for (size_t i = calls.size() - std::min(calls.size(), told); i < calls.size();
       ++i) {
    text += std::to_string(calls[i].first) + " " + calls[i].second + "\n";
  }
  return text;
}

std::string ControlChannel::differenceFrom(const std::string &theirs,
                                           int rank) const {
  if (all.rank != 0) {
    return "";
  }
  std::lock_guard lock(mutex);
  for (const auto &[number, call] : calls) {
    std::string key = std::to_string(number) + " ";
    for (size_t begin = 0, end; begin < theirs.size(); begin = end + 1) {
      end = std::min(theirs.find('\n', begin), theirs.size());
      std::string line = theirs.substr(begin, end - begin);
      if (line.starts_with(key) && line != key + call) {
        return nameOf(rank) + ": expected call " + key + call +
               ", as process 0 does; got " + line.substr(key.size()) +
               "; hint: do all processes have the same options?";
      }
    }
  }
  return "";
}

void ControlChannel::handle(Link &link, char kind, const std::string &text) {
  if (kind == SignOfLife) {
    std::string wrong = differenceFrom(text, link.rank);
    if (!wrong.empty()) {
      fail(wrong, -1);
    }
  } else if (kind == Goodbye) {
    link.hasLeft = true;
    left = link.rank;
  } else if (kind == FailureNotice) {
    fail(text, link.rank);
  }
}

void ControlChannel::listenTo(Link &link) {
  char data[4096];
  ssize_t got = recv(link.socket.get(), data, sizeof(data), MSG_DONTWAIT);
  if (got > 0) {
    link.heard = secondsFromNow(0);
    link.unread.append(data, size_t(got));
    uint32_t bytes = 0;
    constexpr size_t head = 1 + sizeof(bytes), mostBytes = 1 << 16;
    while (link.unread.size() >= head) {
      std::memcpy(&bytes, link.unread.data() + 1, sizeof(bytes));
      if (bytes > mostBytes) {
        fail(nameOf(link.rank) + " has sent what is no sign of life",
             link.rank);
        return;
      }
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

void ControlChannel::forgetOwnPause(Deadline now) {
  if (now - lastRound > std::chrono::duration<double>(all.pauseSeconds)) {
    for (Link &link : links) {
      link.heard = now;
    }
  }
  lastRound = now;
}

void ControlChannel::run() {
  Deadline next = secondsFromNow(0);
  constexpr double secondsBetween = 1;
  while (!stops && !hasFailed()) {
    std::vector<pollfd> polled;
    for (const Link &link : links) {
      polled.push_back({link.hasLeft ? -1 : link.socket.get(), POLLIN, 0});
    }
    constexpr int milliseconds = 50;
    poll(polled.data(), polled.size(), milliseconds);
    Deadline now = secondsFromNow(0);
    forgetOwnPause(now);
    for (size_t i = 0; i < links.size() && !hasFailed(); ++i) {
      if (polled[i].revents != 0) {
        listenTo(links[i]);
      }
      if (!links[i].hasLeft && !hasFailed() &&
          now - links[i].heard >
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
          frame(link.socket, SignOfLife, lastCalls());
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

void ControlChannel::check() const {
  if (hasFailed()) {
    std::lock_guard lock(mutex);
    raise({ErrorCode::IoError, failure, {}});
  }
}

void ControlChannel::checkAllAreHere() const {
  check();
  if (int rank = left; rank >= 0) {
    raise({ErrorCode::IoError,
           nameOf(rank) + " has ended its run, which " + nameOf(all.rank) +
               " goes on with; hint: do all of them have the same options and "
               "the same checkpoint?",
           {}});
  }
}

void ControlChannel::raiseFailure(const std::string &otherwise) const {
  // A connection for tensors may close first.
  constexpr int tries = 100;
  for (int i = 0; i < tries && !hasFailed(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  check();
  raise({ErrorCode::IoError, otherwise, {}});
}
