// The figures of `anadrome tour rewind`.
#include "tour_rewind.h"

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cmath>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>

#include "rewind_nets.h"
#include "rewind_training.h"

using namespace anadrome;

namespace {

using Clock = std::chrono::steady_clock;
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double anything = std::numeric_limits<double>::infinity();
constexpr std::int64_t budget = 8'000'000;

// ---- memory

constexpr MomentumNet wide{.width = 256, .hidden = 512, .batch = 256};

/// A line of /proc/self/status in bytes, such as "VmHWM".
double status_bytes(const std::string& name) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with(name + ":")) return std::stod(line.substr(name.size() + 1)) * 1024;
  return not_a_number;
}
/// Lets the highest resident size begin anew.
void forget_peak() { std::ofstream("/proc/self/clear_refs") << 5; }

/// Planned bytes, the growth of the resident size over a first run, outputs aside, and the best time of three more.
template <class Compiled> MemoryPoint measured(const Compiled& compiled, const Block& p) {
  MemoryPoint out;
  const MemoryAnalysis memory = compiled.memory_analysis();
  out.temp_bytes = static_cast<double>(memory.temp_size_in_bytes);
  forget_peak();
  const double before = status_bytes("VmRSS");
  Block g = compiled(p);
  out.measured_bytes = std::max(0.0, status_bytes("VmHWM") - before - static_cast<double>(memory.output_size_in_bytes));
  out.run_ms = anything;
  for (int i = 0; i < 3; ++i) {
    const auto start = Clock::now();
    g = compiled(p);
    out.run_ms = std::min(out.run_ms, std::chrono::duration<double, std::milli>(Clock::now() - start).count());
  }
  return out;
}

/// The same in a process of its own, so that no point sees what another one left.
MemoryPoint in_own_process(const std::string& mode, int depth) {
  std::array<int, 2> pipe_ends{};
  if (pipe(pipe_ends.data()) != 0) throw std::runtime_error("no pipe for a process of its own");
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("no process of its own");
  if (child == 0) {
    dup2(pipe_ends[1], STDOUT_FILENO);
    close(pipe_ends[0]);
    close(pipe_ends[1]);
    const std::string depth_text = std::to_string(depth);
    execl("/proc/self/exe", "anadrome", "tour", "rewind", "--point", mode.c_str(), "--depths", depth_text.c_str(), nullptr);
    _exit(127);
  }
  close(pipe_ends[1]);
  std::string text;
  std::array<char, 4096> part{};
  for (ssize_t n = 0; (n = read(pipe_ends[0], part.data(), part.size())) > 0;) text.append(part.data(), static_cast<std::size_t>(n));
  close(pipe_ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    throw std::runtime_error("the gradient '" + mode + "' at depth " + std::to_string(depth) + " failed: " + text);
  const auto json = nlohmann::json::parse(text);
  return {mode, depth, json.at("temp_bytes"), json.at("measured_bytes"), json.at("run_ms")};
}

// ---- the cliff

double dot_of(const Block& a, const Block& b) {
  double out = 0;
  for (const auto& [x, y] : {std::pair{a.w1, b.w1}, {a.b1, b.b1}, {a.w2, b.w2}, {a.b2, b.b2}})
    out += sum(convert(x, f64) * convert(y, f64)).item<double>();
  return out;
}
double cosine(const Block& a, const Block& b) { return dot_of(a, b) / std::sqrt(dot_of(a, a) * dot_of(b, b)); }

CliffPoint cliff_point(double mu, int depth) {
  const MomentumNet net{.momentum = mu};
  const Array keys = random::split(random::prng_key(0));
  const Block p = net.random_block(keys[0]);
  const Array x0 = net.random_batch(keys[1]);
  const auto gradient = [&](Keeping keeping, const ReversibleScanOptions& options = {}) {
    const auto loss = [&](const Block& q) { return mean(square(run_layers(net, keeping, depth, q, {x0, zeros_like(x0)}, options).x)); };
    return jit(grad(loss))(p);
  };
  CliffPoint out{.mu = mu, .depth = depth, .predicted = std::ldexp(1.0, -24) * std::pow(1 / mu, depth)};
  const Block stored = gradient(Keeping::stored);
  out.plain_cosine = cosine(gradient(Keeping::reversible_scan, {.anchors = none, .tolerance = anything}), stored);
  out.reconstruction = last_rewind().measured;
  out.anchored_cosine = cosine(gradient(Keeping::reversible_scan), stored);
  out.anchors = last_rewind().anchors;
  out.rerun = last_rewind().reruns;
  return out;
}

std::vector<GrowthPoint> error_growth(double mu, int depth) {
  const MomentumNet net{.momentum = mu};
  const Array keys = random::split(random::prng_key(0));
  const Block p = net.random_block(keys[0]);
  NetState s{net.random_batch(keys[1]), zeros({net.batch, net.width})};
  const auto forward = jit([&](const NetState& t) { return net.layer(p, t); });
  const auto back = jit(invert([&](const NetState& t) { return net.layer(p, t); }, s));
  std::vector<NetState> states{s};
  for (int l = 0; l < depth; ++l) states.push_back(forward(states.back()));
  s = states.back();
  std::vector<GrowthPoint> out;
  for (int undone = 1; undone <= depth; ++undone) {
    s = back(s);
    const NetState& want = states[static_cast<std::size_t>(depth - undone)];
    const double error = reduce_max(abs(s.v - want.v)).item<double>() / std::max(1e-30, reduce_max(abs(want.x)).item<double>());
    out.push_back({undone, error, std::ldexp(1.0, -24) * std::pow(1 / mu, undone)});
  }
  return out;
}

}  // namespace

MemoryPoint measure_memory(const std::string& mode, int depth) {
  const Array keys = random::split(random::prng_key(0));
  const Block p = wide.random_block(keys[0]);
  const Array x0 = wide.random_batch(keys[1]);
  const auto loss_of = [&](Keeping keeping, const ReversibleScanOptions& options = {}) {
    return [=](const Block& q) { return mean(square(run_layers(wide, keeping, depth, q, {x0, zeros_like(x0)}, options).x)); };
  };
  MemoryPoint out;
  if (mode == "budget_8MB") {
    out = measured(with_memory_budget(grad(loss_of(Keeping::stored)), budget).plan(p).compiled, p);
  } else {
    for (Keeping k : {Keeping::stored, Keeping::minimum_cut, Keeping::checkpointed, Keeping::rewound, Keeping::reversible_scan})
      if (name_of(k) == mode) out = measured(jit(grad(loss_of(k))).lower(p).compile(), p);
  }
  out.mode = mode;
  out.depth = depth;
  return out;
}

RewindTour tour_rewind(const Digits& digits, const RewindOptions& options, const Progress& progress) {
  RewindTour tour;
  for (int depth : options.depths)
    for (const char* mode : {"stored", "minimum_cut", "checkpointed", "rewound", "reversible_scan", "budget_8MB"}) {
      progress("memory: " + std::string(mode) + ", depth " + std::to_string(depth));
      tour.memory.push_back(in_own_process(mode, depth));
    }
  for (double mu : {0.99, 0.9, 0.8, 0.6, 0.45, 0.3})
    for (int depth : {8, 16, 32, 64, 128}) {
      std::ostringstream what;
      what << "cliff: momentum " << mu << ", depth " << depth;
      progress(what.str());
      tour.cliff.push_back(cliff_point(mu, depth));
    }
  progress("growth of the error");
  tour.growth = error_growth(0.8, 64);
  for (int seed = 0; seed < options.training.seeds; ++seed) tour.training.push_back(train_rewound(digits, seed, options.training.epochs, progress));
  return tour;
}
