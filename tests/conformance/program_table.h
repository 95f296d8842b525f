// What the programs of programs.json are written against: inputs by name, outputs by name, expected refusals.
#pragma once
#include <functional>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>

#include "anadrome/anadrome.h"

namespace anadrome::conformance {

/// The inputs of one run of a program, the float type it runs in, and the backend for `jit`.
struct Inputs {
  DType dtype = f32;
  std::string backend;
  std::map<std::string, Array> arrays;
  const Array& operator[](const std::string& name) const { return arrays.at(name); }
};

/// `f` compiled for the backend of the run.
template <class F> auto compiled(const Inputs& in, F f) {
  return jit(f, {.compile = {.backend = in.backend}});
}

/// What a program reports under one name: a value, or that a wrong call was refused.
struct Outcome {
  Outcome() = default;
  Outcome(Array value) : value(std::move(value)) {}
  Array value;
  bool is_refusal = false;
  std::string complaint;  // of a refusal: what was not as it should be
};
using Outputs = std::map<std::string, Outcome>;

/// Checks that `wrong` throws an Error of the kind a user's mistake deserves whose text holds all `words`,
/// and that `right`, the same call made right, does not throw.
Outcome refused(const std::function<void()>& wrong, std::initializer_list<std::string> words,
                const std::function<void()>& right);
/// The same for a derivative that does not exist: `wrong` throws RuleError.
Outcome refused_derivative(const std::function<void()>& wrong, std::initializer_list<std::string> words,
                           const std::function<void()>& right);

using ProgramFunction = std::function<Outputs(const Inputs& in)>;
using ProgramTable = std::map<std::string, ProgramFunction>;

void add_compositions(ProgramTable& table);
void add_batching(ProgramTable& table);
void add_conventions(ProgramTable& table);
void add_models(ProgramTable& table);
void add_loops(ProgramTable& table);
void add_conditionals(ProgramTable& table);
void add_loop_models(ProgramTable& table);
void add_custom(ProgramTable& table);
void add_rewinding(ProgramTable& table);

}  // namespace anadrome::conformance
