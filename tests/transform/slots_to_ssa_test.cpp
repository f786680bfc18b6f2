#include <gtest/gtest.h>

#include "lanewise/transform/passes.h"
#include "tests/support/expect_pass.h"

namespace lw::transform {
namespace {

using test::expect_pass;

TEST(TransformSlotsToSsa, AReadIsTheValueLastWritten) {
  expect_pass(slots_to_ssa, R"(
function f(%0: f32, %1: f32) -> (f32) {
  %2 = slot f32
  slot_write %2 (%0)
  %3 = slot_read f32 %2
  slot_write %2 (%1)
  %4 = slot_read f32 %2
  %5 = sub f32 %3, %4
  return (%5)
}
)",
              R"(
function f(%0: f32, %1: f32) -> (f32) {
  %2 = sub f32 %0, %1
  return (%2)
}
)");
}

TEST(TransformSlotsToSsa, ALoopCarriesTheSlotsItWrites) {
  expect_pass(slots_to_ssa, R"(
function f(%0: f32, %1: bool) -> (f32) {
  %2 = slot f32
  slot_write %2 (%0)
  %3 = slot f32
  slot_write %3 (%0)
  %4 = loop () {
    break_if %1 ()
    %5 = slot_read f32 %2
    %6 = slot_read f32 %3
    %7 = add f32 %5, %6
    slot_write %2 (%7)
    next ()
  }
  %8 = slot_read f32 %2
  return (%8)
}
)",
              R"(
function f(%0: f32, %1: bool) -> (f32) {
  %2 = loop (%3: f32 = %0) {
    break_if %1 (%3)
    %4 = add f32 %3, %0
    next (%4)
  }
  %5 = result f32 %2 0
  return (%5)
}
)");
}

TEST(TransformSlotsToSsa, AnExitHandsOverThePresentValues) {
  expect_pass(slots_to_ssa, R"(
function f(%0: f32, %1: bool) -> (f32) {
  %2 = slot f32
  slot_write %2 (%0)
  %3 = loop () {
    %4 = slot_read f32 %2
    %5 = neg f32 %4
    slot_write %2 (%5)
    break_if %1 ()
    %6 = slot_read f32 %2
    %7 = abs f32 %6
    slot_write %2 (%7)
    next ()
  }
  %8 = slot_read f32 %2
  return (%8)
}
)",
              R"(
function f(%0: f32, %1: bool) -> (f32) {
  %2 = loop (%3: f32 = %0) {
    %4 = neg f32 %3
    break_if %1 (%4)
    %5 = abs f32 %4
    next (%5)
  }
  %6 = result f32 %2 0
  return (%6)
}
)");
}

TEST(TransformSlotsToSsa, ASlotOfTheBodyIsNotCarried) {
  expect_pass(slots_to_ssa, R"(
function f(%0: f32, %1: bool) -> (f32) {
  %2 = loop () {
    %3 = slot f32
    slot_write %3 (%0)
    break_if %1 ()
    next ()
  }
  return (%0)
}
)",
              R"(
function f(%0: f32, %1: bool) -> (f32) {
  %2 = loop () {
    break_if %1 ()
    next ()
  }
  return (%0)
}
)");
}

TEST(TransformSlotsToSsa, WhatAnInnerLoopWritesTheOuterOneCarriesToo) {
  expect_pass(slots_to_ssa, R"(
function f(%0: f32, %1: bool) -> (f32) {
  %2 = slot f32
  slot_write %2 (%0)
  %3 = loop () {
    break_if %1 ()
    %4 = loop () {
      break_if %1 ()
      %5 = slot_read f32 %2
      %6 = neg f32 %5
      slot_write %2 (%6)
      next ()
    }
    next ()
  }
  %7 = slot_read f32 %2
  return (%7)
}
)",
              R"(
function f(%0: f32, %1: bool) -> (f32) {
  %2 = loop (%3: f32 = %0) {
    break_if %1 (%3)
    %4 = loop (%5: f32 = %3) {
      break_if %1 (%5)
      %6 = neg f32 %5
      next (%6)
    }
    %7 = result f32 %4 0
    next (%7)
  }
  %8 = result f32 %2 0
  return (%8)
}
)");
}

TEST(TransformSlotsToSsa, AnExitOutOfTwoLoopsHandsOverWhatTheOuterOneCarries) {
  expect_pass(slots_to_ssa, R"(
function f(%0: f32, %1: bool) -> (f32) {
  %2 = slot f32
  slot_write %2 (%0)
  %3 = loop () {
    %4 = slot f32
    slot_write %4 (%0)
    %5 = loop () {
      %6 = slot_read f32 %2
      %7 = slot_read f32 %4
      %8 = add f32 %6, %7
      slot_write %2 (%8)
      break_if %1 up 1 ()
      slot_write %4 (%8)
      break_if %1 ()
      next ()
    }
    next ()
  }
  %9 = slot_read f32 %2
  return (%9)
}
)",
              R"(
function f(%0: f32, %1: bool) -> (f32) {
  %2 = loop (%3: f32 = %0) {
    %4 = loop (%5: f32 = %3, %6: f32 = %0) {
      %7 = add f32 %5, %6
      break_if %1 up 1 (%7)
      break_if %1 (%7, %7)
      next (%7, %7)
    }
    %8 = result f32 %4 0
    %9 = result f32 %4 1
    next (%8)
  }
  %10 = result f32 %2 0
  return (%10)
}
)");
}

}  // namespace
}  // namespace lw::transform
