// Times the workloads of docs/performance.md and prints one JSON line each: name, trace_ms (recording),
// compile_ms, run_us (the best call), temp_bytes (the arena), flops, rss_mb (peak of the process). Each runs
// in a process of its own, so that compilation is cold and peak memory its own.
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <iostream>

#include "workload.h"

extern char** environ;

namespace {

using workloads::Bench;
using workloads::Figures;
using workloads::Workload;

std::vector<Workload> all_workloads() {
  std::vector<Workload> all;
  for (const auto& group :
       {workloads::small_calls(), workloads::long_arrays(), workloads::long_programs(), workloads::networks(),
        workloads::loops(), workloads::jacobians(), workloads::mixtures(), workloads::bundles(), workloads::rewinding()})
    all.insert(all.end(), group.begin(), group.end());
  return all;
}

double peak_megabytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1e3;
}

/// Times are of three decimals; what follows them is noise.
void print(Figures figures) {
  figures["rss_mb"] = peak_megabytes();
  for (auto& value : figures)
    if (value.is_number_float()) value = std::round(value.get<double>() * 1e3) / 1e3;
  std::cout << figures.dump() << std::endl;
}

/// This program again, with these arguments; the exit code.
int run_again(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "workloads");
  std::vector<char*> values;
  for (std::string& a : arguments) values.push_back(a.data());
  values.push_back(nullptr);
  pid_t child = 0;
  if (posix_spawn(&child, "/proc/self/exe", nullptr, nullptr, values.data(), environ) != 0) return 1;
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

struct Arguments {
  std::string one, inputs, outputs;
  std::vector<std::string> prefixes;
  bool list = false, schedule = false;
};

bool chosen(const Workload& workload, const std::vector<std::string>& prefixes) {
  const auto starts = [&](const std::string& prefix) { return workload.name.starts_with(prefix); };
  return prefixes.empty() || std::any_of(prefixes.begin(), prefixes.end(), starts);
}

int run(const Arguments& arguments) {
  int failed = 0;
  bool found = false;
  for (const Workload& workload : all_workloads()) {
    const std::string name(workload.name);
    if (arguments.one.empty() ? !chosen(workload, arguments.prefixes) : arguments.one != name) continue;
    found = true;
    if (arguments.list) {
      std::cout << name << '\n';
    } else if (!arguments.one.empty()) {
      const Figures figures = workload.run(Bench(name, arguments.inputs, arguments.outputs, arguments.schedule));
      if (figures.contains("schedule")) std::cout << figures["schedule"].get<std::string>();
      else print(figures);
    } else {
      std::vector<std::string> again = {"--one", name};
      if (!arguments.inputs.empty()) again.insert(again.end(), {"--inputs", arguments.inputs});
      if (!arguments.outputs.empty()) again.insert(again.end(), {"--outputs", arguments.outputs});
      if (arguments.schedule) again.push_back("--schedule");
      failed |= run_again(again);
    }
  }
  if (!found) std::cerr << "workloads: no workload has such a name; --list prints all\n";
  return found ? failed : 2;
}

}  // namespace

int main(int count, char** values) {
  CLI::App app{"Times the workloads of docs/performance.md; one JSON line each."};
  Arguments arguments;
  app.add_option("--one", arguments.one, "Run this one, in this process")->type_name("NAME");
  app.add_option("--inputs", arguments.inputs, "Read inputs from DIR/NAME/*.npy")->type_name("DIR");
  app.add_option("--outputs", arguments.outputs, "Write results to DIR/NAME/*.npy")->type_name("DIR");
  app.add_flag("--list", arguments.list, "Print names and run nothing");
  app.add_flag("--schedule", arguments.schedule, "Print what is compiled, with its kernels and steps, and time nothing");
  app.add_option("prefixes", arguments.prefixes, "Run the workloads whose names start so; all without");
  CLI11_PARSE(app, count, values);
  try {
    return run(arguments);
  } catch (const std::exception& e) {
    std::cerr << "workloads: " << (arguments.one.empty() ? "" : arguments.one + ": ") << e.what() << '\n';
    return 1;
  }
}
