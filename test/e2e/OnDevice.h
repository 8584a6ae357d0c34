//===- OnDevice.h - A test for each kind of device --------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_TEST_E2E_ONDEVICE_H
#define NEREID_TEST_E2E_ONDEVICE_H

#include "nereid/Runtime/Tensor.h"

#include <gtest/gtest.h>

namespace nereid::e2e {

/// The parameter names the device; skipped, with the reason, where there is
/// none.
class OnDevice : public testing::TestWithParam<const char *> {
protected:
  void SetUp() override {
    Expected<Device> found = Device::tryParse(GetParam());
    if (!found.ok()) {
      GTEST_SKIP() << found.failure().message;
    }
    device = *found;
  }
  Device device;
};

} // namespace nereid::e2e

#endif // NEREID_TEST_E2E_ONDEVICE_H
