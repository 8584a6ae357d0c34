//===- FlowTest.cpp -------------------------------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Sim/AMD/Counts/Flow.h"

#include "nereid/Sim/AMD/testing/WaveRun.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace nereid;
using namespace nereid::sim::amd;
using testing::ElementsAre;

namespace {
Program decoded(const Words &code) {
  Program program;
  program.generation = Generation::Cdna;
  program.target = "gfx942";
  Kernel kernel;
  kernel.lanes = 64;
  program.kernels.push_back(kernel);
  program.image.resize(code.size() * 4);
  std::memcpy(program.image.data(), code.data(), program.image.size());
  program.textEnd = program.image.size();
  Status status = decodeText(program);
  EXPECT_TRUE(status.ok());
  return program;
}

const Words lshl_v1_2_v0 = {0x24020082}, lshl_v3_2_v2 = {0x24060482},
            s_load_s2_s0 = {0xc0060080, 0}, cmp_gt_8_v0 = {0x7d980088},
            saveexec_s4 = {0xbe84206a}, or_exec_s4 = {0x87fe047e},
            mov_v3_v0 = {0x7e060300}, load_v2_v1 = {0xdc508000, 0x02020001},
            load_v4_v3 = {0xdc508000, 0x04020003},
            store_v1_v2 = {0xdc708000, 0x00020201}, endpgm = {0xbf810000},
            execz_over_two_accesses = {0xbf880004},
            execnz_to_the_front = {0xbf89fffd};
} // namespace

TEST(AmdFlow, AnAccessIsGuardedByTheJumpOverIt) {
  Program program =
      decoded(lshl_v1_2_v0 + s_load_s2_s0 + load_v2_v1 + cmp_gt_8_v0 +
              saveexec_s4 + execz_over_two_accesses + load_v4_v3 + store_v1_v2 +
              or_exec_s4 + load_v4_v3 + endpgm);
  EXPECT_THAT(guardsOf(program), ElementsAre(0, 1, 2, 3, 4, 5, 5, 5, 8, 9, 10));
}

TEST(AmdFlow, AJumpBackGuardsNothing) {
  Program program = decoded(load_v2_v1 + execnz_to_the_front + endpgm);
  EXPECT_THAT(guardsOf(program), ElementsAre(0, 1, 2));
}

TEST(AmdFlow, AddressesComeOfWhatWasLoaded) {
  Program program = decoded(lshl_v1_2_v0 + s_load_s2_s0 + load_v2_v1 +
                            lshl_v3_2_v2 + load_v4_v3 + endpgm);
  EXPECT_THAT(addressesOfData(program),
              ElementsAre(false, false, false, false, true, false));
}

TEST(AmdFlow, AnotherValueTakesTheRegister) {
  Program program = decoded(s_load_s2_s0 + load_v2_v1 + lshl_v3_2_v2 +
                            mov_v3_v0 + load_v4_v3 + endpgm);
  EXPECT_THAT(addressesOfData(program),
              ElementsAre(false, false, false, false, false, false));
}

TEST(AmdFlow, EitherWayToAnAccessCounts) {
  // The branch goes around the load whose value is an address afterwards.
  Program program = decoded(s_load_s2_s0 + mov_v3_v0 + cmp_gt_8_v0 +
                            saveexec_s4 + Words{0xbf880003} + load_v2_v1 +
                            lshl_v3_2_v2 + or_exec_s4 + load_v4_v3 + endpgm);
  EXPECT_TRUE(addressesOfData(program)[8]);
}
