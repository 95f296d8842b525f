// conformance [--backend eval|native] [--filter TEXT] [--known LIST] FILE.json: compares the library with recorded values.
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <set>
#include <stdexcept>
#include <string>

#include "conformance/run_ops.h"
#include "conformance/run_programs.h"

namespace {

using namespace anadrome::conformance;

const char* const usage = "usage: conformance [--backend eval|native] [--filter TEXT] [--known LIST] FILE.json";

/// The ids in a list of known differences: what stands before ": " in each line that is no comment.
std::set<std::string> read_known(const std::string& path) {
  std::ifstream in(path);
  if (!in) throw std::runtime_error("cannot read " + path);
  std::set<std::string> ids;
  for (std::string line; std::getline(in, line);)
    if (!line.empty() && line[0] != '#') ids.insert(line.substr(0, line.find(": ")));
  return ids;
}

std::filesystem::path read_arguments(int argc, char** argv, Options& options) {
  std::filesystem::path path;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--backend" && i + 1 < argc)
      options.backend = argv[++i];
    else if (argument == "--filter" && i + 1 < argc)
      options.filter = argv[++i];
    else if (argument == "--known" && i + 1 < argc)
      options.known = read_known(argv[++i]);
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
  Report report(options.known);
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
