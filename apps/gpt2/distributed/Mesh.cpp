//===- Mesh.cpp - A connection between each two processes -----------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "apps/gpt2/distributed/Mesh.h"

#include "nereid/Runtime/Error.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <poll.h>
#include <sys/socket.h>

using namespace nereid;
using namespace nereid::gpt2;

namespace {

/// What goes before the bytes of a message: processes that are not at the same
/// call find it out here.
struct Head {
  char what[24] = {};
  uint64_t call = 0, bytes = 0;
};

/// One direction of a connection: the head, then the bytes.
struct Half {
  Head head;
  char *data = nullptr;
  size_t bytes = 0, done = 0;
  bool isDone() const { return done == sizeof(Head) + bytes; }
  /// Where the next byte is, and how many follow it.
  std::pair<char *, size_t> next() {
    return done < sizeof(Head)
               ? std::pair(reinterpret_cast<char *>(&head) + done,
                           sizeof(Head) - done)
               : std::pair(data + (done - sizeof(Head)),
                           sizeof(Head) + bytes - done);
  }
};

std::string text(const Head &head) {
  return "call " + std::to_string(head.call) + ", " +
         std::string(head.what, strnlen(head.what, sizeof(head.what))) +
         " of " + std::to_string(head.bytes) + " bytes";
}

} // namespace

Mesh::Mesh(Peers &peers) : peers(peers) {
  const Processes &all = peers.processes();
  Deadline deadline = secondsFromNow(all.meetSeconds);
  Socket listener = listenAt(peers.ownAddress(), 0);
  std::vector<std::string> places = peers.gather(
      peers.ownAddress() + " " + std::to_string(listener.localPort()));
  sockets.resize(size_t(all.size));
  const std::string hello = peers.token() + std::to_string(all.rank);
  for (int other = 0; other < all.rank; ++other) {
    const std::string &place = places[size_t(other)];
    size_t space = place.find(' ');
    std::string host =
        other == 0 ? peers.rootAddress() : place.substr(0, space);
    std::optional<Socket> socket =
        tryConnect(host, std::atoi(place.c_str() + space + 1), deadline);
    if (!socket) {
      raise({ErrorCode::IoError,
             "process " + std::to_string(all.rank) + " cannot reach process " +
                 std::to_string(other) + " at " + place +
                 "; hint: a firewall between the machines?",
             {}});
    }
    socket->sendText(hello, deadline);
    sockets[size_t(other)] = std::move(*socket);
  }
  for (int missing = all.size - 1 - all.rank; missing > 0;) {
    Socket socket = acceptFrom(listener, deadline);
    std::string got;
    try {
      got = socket.receiveText(std::min(deadline, secondsFromNow(5)), 64);
    } catch (const Error &) {
      continue; // not one of us
    }
    for (int rank = all.rank + 1; rank < all.size; ++rank) {
      if (got == peers.token() + std::to_string(rank)) {
        sockets[size_t(rank)] = std::move(socket);
        --missing;
      }
    }
  }
}

void Mesh::shutDown() const {
  for (const Socket &socket : sockets) {
    if (socket.isOpen()) {
      socket.shutDown();
    }
  }
}

void Mesh::exchange(const std::string &what, std::vector<Message> messages) {
  ++calls;
  std::vector<Half> sends(messages.size()), receives(messages.size());
  auto own = size_t(peers.processes().rank);
  size_t open = 0;
  for (size_t r = 0; r < messages.size(); ++r) {
    Head head;
    std::memcpy(head.what, what.data(),
                std::min(what.size(), sizeof(head.what)));
    head.call = calls;
    head.bytes = messages[r].sendBytes;
    sends[r] = {head, static_cast<char *>(const_cast<void *>(messages[r].send)),
                messages[r].sendBytes, 0};
    receives[r] = {Head(), static_cast<char *>(messages[r].receive),
                   messages[r].receiveBytes, 0};
    if (r == own) {
      sends[r].done = receives[r].done = sizeof(Head);
      sends[r].bytes = receives[r].bytes = 0;
    } else {
      open += 2;
    }
  }
  auto isGone = [&](size_t r) {
    peers.raiseFailure("the connection to process " + std::to_string(r) +
                       " of " + std::to_string(messages.size()) +
                       " has closed");
  };
  while (open > 0) {
    std::vector<pollfd> polled;
    for (size_t r = 0; r < messages.size(); ++r) {
      auto events = static_cast<short>((sends[r].isDone() ? 0 : POLLOUT) |
                                       (receives[r].isDone() ? 0 : POLLIN));
      polled.push_back({events ? sockets[r].get() : -1, events, 0});
    }
    constexpr int milliseconds = 1000;
    poll(polled.data(), polled.size(), milliseconds);
    peers.check();
    for (size_t r = 0; r < messages.size(); ++r) {
      if ((polled[r].revents & (POLLIN | POLLHUP | POLLERR)) &&
          !receives[r].isDone()) {
        Half &half = receives[r];
        auto [at, bytes] = half.next();
        ssize_t got = recv(sockets[r].get(), at, bytes, MSG_DONTWAIT);
        if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) {
          isGone(r);
        }
        half.done += got > 0 ? size_t(got) : 0;
        const Head &ours = sends[r].head;
        if (half.done == sizeof(Head) &&
            (std::memcmp(half.head.what, ours.what, sizeof(ours.what)) != 0 ||
             half.head.call != ours.call || half.head.bytes != half.bytes)) {
          Head expected = ours;
          expected.bytes = half.bytes;
          raise({ErrorCode::InvalidArgument,
                 "process " + std::to_string(r) + ": expected " +
                     text(expected) + ", as process " + std::to_string(own) +
                     " does; got " + text(half.head) +
                     "; hint: do all processes have the same options?",
                 {}});
        }
        open -= half.isDone();
      }
      if ((polled[r].revents & POLLOUT) && !sends[r].isDone()) {
        Half &half = sends[r];
        auto [at, bytes] = half.next();
        ssize_t sent =
            send(sockets[r].get(), at, bytes, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (sent < 0 && errno != EAGAIN && errno != EINTR) {
          isGone(r);
        }
        half.done += sent > 0 ? size_t(sent) : 0;
        open -= half.isDone();
      }
    }
  }
}
