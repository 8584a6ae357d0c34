/*===- Glibc235.c - What glibc 2.35 lacks ------------------------------------===
 *
 * Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===------------------------------------------------------------------------===
 *
 * arc4random is the one symbol of LLVM's archives that is younger (2.36); LLVM
 * names temporary files with it. With this one programs run on Ubuntu 22.04.
 */
#include <stdint.h>
#include <stdlib.h>
#include <sys/random.h>

uint32_t arc4random(void) {
  uint32_t value;
  if (getrandom(&value, sizeof value, 0) != (ssize_t)sizeof value) {
    abort();
  }
  return value;
}
