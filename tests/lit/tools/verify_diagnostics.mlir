// RUN: sdy-opt %s --split-input-file --verify-diagnostics
// RUN: sdy-opt %s --split-input-file --verify-diagnostics=all
// RUN: not sdy-opt %s --split-input-file

sdy.mesh @mesh = <["x"=2]>
// expected-error@+1 {{'func.func' op arg 0 - duplicate axis ref: "x"}}
func.func @next_line(%arg0: tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"x"}]>}) { return }

// -----

func.func @same_line() { "no.such"() : () -> () } // expected-error {{unregistered dialect}}

// -----

func.func @above() { "no.such"() : () -> () }
// expected-error @above {{unregistered dialect}}

// -----

// Several comments about one line: each points past the others.
// expected-error-re @+3 {{redefinition of symbol named '{{[a-z]+}}'}}
// expected-note @below {{see existing symbol definition here}}
func.func @twice() { return }
func.func @twice() { return }

// -----

// One comment stands for every message that it fits.
// expected-error @below {{axis size must be at least 1}}
// expected-error @below {{failed to parse Sdy_Mesh parameter}}
sdy.mesh @zero = <["a"=0]>
