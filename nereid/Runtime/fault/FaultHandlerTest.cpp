//===- FaultHandlerTest.cpp - Signals inside kernels become errors --------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each test runs in a child: the handler is the process's.
//
//===----------------------------------------------------------------------===//

#include "nereid/Runtime/FaultHandler.h"

#include "nereid/Runtime/fault/FaultGuard.h"
#include "nereid/Runtime/testing/LaunchFixture.h"

#include <cstdio>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

using namespace nereid;
using testing::AllOf;
using testing::HasSubstr;

namespace {

class FaultHandler : public LaunchFixture {
protected:
  FaultHandler() {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    FakeKernel k;
    k.description.name = "k";
    k.description.parameters = {parameter("x_ptr"), parameter("n")};
    k.program = [](const FakeCall &call) {
      auto *x = call.pointer<volatile float>("x_ptr");
      x[call.integer("n")] = 1;
    };
    world->kernels["k"] = k;
    // One page with nothing after it.
    auto *pages = static_cast<std::byte *>(
        mmap(nullptr, 3 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    mprotect(pages + page, page, PROT_READ | PROT_WRITE);
    x = Tensor::borrow(pages + page, {page / 4}, f32);
  }

  /// The error of a launch that writes element n, and no end of the process.
  std::string fault(int64_t n, int64_t programs = 1) {
    installFaultHandler();
    Kernel k = kernel("k");
    return errorOf([&] { k[programs](x, n); });
  }

  /// Prints what `body` gives and leaves with 0.
  template <typename Body>
  static void printFrom(Body body) {
    std::string text = body();
    std::fputs(text.c_str(), stderr);
    std::fflush(stderr);
    _exit(0);
  }

  static constexpr int64_t page = 4096;
  Tensor x;
};

#define EXPECT_PRINTS(expression, matcher)                                     \
  EXPECT_EXIT(printFrom([&]() -> std::string { return expression; }),          \
              testing::ExitedWithCode(0), matcher)

#if defined(__has_feature)
constexpr bool signalsAreTheSanitizers = __has_feature(address_sanitizer);
#else
constexpr bool signalsAreTheSanitizers = false;
#endif

TEST_F(FaultHandler, AWriteBehindAnArrayIsAnError) {
  EXPECT_PRINTS(
      fault(1025),
      AllOf(HasSubstr("k: the kernel was stopped"),
            HasSubstr("segmentation fault at address 0x"),
            HasSubstr("in kernel 'k'"),
            HasSubstr("4 bytes past the end of 'x_ptr', which is fp32[1024] "
                      "(element 1025)"),
            HasSubstr("NEREID_CHECK=oob")));
}

TEST_F(FaultHandler, AWriteInFrontOfAnArrayIsAnError) {
  EXPECT_PRINTS(fault(-2), HasSubstr("8 bytes in front of 'x_ptr', which is "
                                     "fp32[1024] (element -2)"));
}

TEST_F(FaultHandler, AnAddressThatNoProcessCanHaveIsSaidToBeOne) {
  EXPECT_PRINTS(fault(int64_t{1} << 60),
                HasSubstr("at an address that no process can have"));
}

TEST_F(FaultHandler, TheProcessGoesOn) {
  EXPECT_PRINTS(
      [&] {
        std::string first = fault(1025);
        std::string second = fault(1026);
        Kernel k = kernel("k");
        k[1](x, 5);
        return std::to_string(x.at({5})) + " " + std::to_string(first.empty()) +
               std::to_string(second.empty());
      }(),
      HasSubstr("1.000000 00"));
}

TEST_F(FaultHandler, FaultsOfAllThreadsAreOneError) {
  EXPECT_PRINTS(
      [&] {
        setNumThreads(4);
        Kernel k = kernel("k");
        k[1 << 16](x, 5); // measures: the next launch is worth the threads
        return fault(1025, 1 << 16);
      }(),
      HasSubstr("4 bytes past the end of 'x_ptr'"));
}

TEST_F(FaultHandler, DivisionByZeroIsAnError) {
  world->kernels["k"].program = [](const FakeCall &call)
                                    __attribute__((no_sanitize("undefined"))) {
                                      volatile int64_t n = call.integer("n");
                                      volatile int64_t quotient = 7 / n;
                                      (void)quotient;
                                    };
  EXPECT_PRINTS(fault(0), HasSubstr("division by zero, or a quotient that does "
                                    "not fit in kernel 'k'"));
}

TEST_F(FaultHandler, AKernelMayRunOutOfStack) {
  world->kernels["k"].program = [](const FakeCall &call) {
    struct Deep {
      static int64_t go(int64_t n) {
        volatile char room[4096];
        room[n % 4096] = 1;
        return n == 0 ? 0 : go(n - 1) + room[0];
      }
    };
    Deep::go(call.integer("n"));
  };
  EXPECT_PRINTS(fault(1 << 24), HasSubstr("segmentation fault"));
}

TEST_F(FaultHandler, OnInterpTheFaultIsPrintedAndTheProcessEnds) {
  EXPECT_EXIT(
      {
        installFaultHandler();
        Kernel k = kernel("k").on(Device::interp());
        Tensor y = Tensor::borrow(x.data(), {page / 4}, f32, Device::interp());
        k[1](y, 1025);
      },
      testing::ExitedWithCode(1),
      AllOf(HasSubstr("error: segmentation fault at address 0x"),
            HasSubstr("in kernel 'k' on interp"),
            HasSubstr("'x_ptr', fp32[1024], lies at 0x"),
            HasSubstr("NEREID_CHECK=oob")));
}

TEST_F(FaultHandler, FaultsElsewhereSayWhatToReport) {
  if (signalsAreTheSanitizers) {
    GTEST_SKIP() << "the address sanitizer has handlers of its own";
  }
  EXPECT_EXIT(
      {
        installFaultHandler();
        *static_cast<volatile float *>(
            static_cast<void *>(static_cast<std::byte *>(x.data()) + page)) = 1;
      },
      testing::KilledBySignal(SIGSEGV),
      AllOf(HasSubstr("internal error: segmentation fault at address 0x"),
            HasSubstr("outside of any kernel"), HasSubstr("please report")));
}

TEST_F(FaultHandler, ANullPointerWithoutMemoryIsALackOfMemory) {
  if (signalsAreTheSanitizers) {
    GTEST_SKIP() << "the address sanitizer has handlers of its own";
  }
  EXPECT_EXIT(
      {
        installFaultHandler();
        rlimit limit;
        limit.rlim_cur = limit.rlim_max = 1;
        setrlimit(RLIMIT_AS, &limit);
        int *volatile nothing = nullptr;
        *static_cast<volatile int *>(nothing) = 1;
      },
      testing::ExitedWithCode(1),
      HasSubstr("error: out of memory; use smaller"));
}

void leave(int) { _exit(42); }

TEST_F(FaultHandler, FaultsElsewhereGoToTheProgramsOwnHandler) {
  EXPECT_EXIT(
      {
        std::signal(SIGSEGV, leave);
        installFaultHandler();
        bool isError = !fault(1025).empty();
        if (isError) {
          *static_cast<volatile float *>(static_cast<void *>(
              static_cast<std::byte *>(x.data()) + page)) = 1;
        }
      },
      testing::ExitedWithCode(42), "");
}

TEST_F(FaultHandler, ASignalThatIsSentIsNotTheKernels) {
  if (signalsAreTheSanitizers) {
    GTEST_SKIP() << "the address sanitizer has handlers of its own";
  }
  world->kernels["k"].program = [](const FakeCall &) {
    kill(getpid(), SIGSEGV);
  };
  EXPECT_EXIT(fault(0), testing::KilledBySignal(SIGSEGV),
              HasSubstr("outside of any kernel"));
}

} // namespace
