// conformance [--backend eval|native] [--filter TEXT] FILE.json: compares the library with recorded values.
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>

#include "conformance/run_ops.h"
#include "conformance/run_programs.h"

namespace {

using namespace anadrome::conformance;

const char* const usage = "usage: conformance [--backend eval|native] [--filter TEXT] FILE.json";

std::filesystem::path read_arguments(int argc, char** argv, Options& options) {
  std::filesystem::path path;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--backend" && i + 1 < argc)
      options.backend = argv[++i];
    else if (argument == "--filter" && i + 1 < argc)
      options.filter = argv[++i];
    else if (path.empty() && !argument.starts_with("--"))
      path = argument;
    else
      throw std::runtime_error(usage);
  }
  if (path.empty()) throw std::runtime_error(usage);
  return path;
}

int run(int argc, char** argv) {
  Options options;
  const std::filesystem::path path = read_arguments(argc, argv, options);
  std::ifstream in(path);
  if (!in) throw std::runtime_error("cannot read " + path.string());
  const Json table = Json::parse(in);
  Report report;
  if (table.contains("programs"))
    run_programs(table.at("programs"), path, options, report);
  else if (table.contains("cases") && !table.contains("notation"))
    run_ops(table.at("cases"), path, options, report);
  else
    throw std::runtime_error("no runner for the table " + path.string());
  return report.close();
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    std::cerr << "conformance: " << error.what() << '\n';
    return 2;
  }
}
