// RUN: nereid-opt %s -split-input-file -verify-diagnostics

// expected-error @+1 {{2 stages with 1 orders; expected as many, and one at least}}
func.func @unpaired() attributes {a = #tilegpu.schedule<stages = [0, 1], orders = [0]>} {
  return
}

// -----

// expected-error @+1 {{stages in no ascending order}}
func.func @descending() attributes {a = #tilegpu.schedule<stages = [1, 1], orders = [0, 2]>} {
  return
}

// -----

// expected-error @+1 {{done has 1 numbers; expected a stage and an order}}
func.func @half() attributes {a = #tilegpu.schedule<stages = [0], orders = [0], done = [2]>} {
  return
}

// -----

// expected-error @+1 {{'tilegpu.schedule' is no #tilegpu.schedule}}
func.func @no_schedule() attributes {tilegpu.schedule = 3 : i32} {
  return
}

// -----

// expected-error @+1 {{'tilegpu.slots' is no number of tiles (i32)}}
func.func @no_slots() attributes {tilegpu.slots = 0 : i32} {
  return
}
