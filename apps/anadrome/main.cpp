// The program `anadrome`: its command line.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>

#include "anadrome/error.h"
#include "input_error.h"
#include "tour_costs.h"
#include "tour_rewind.h"

namespace {

constexpr int bad_input = 2;

struct CostsArguments {
  std::string data;
  TrainingOptions training;
  bool json = false, progress = false;
};

std::filesystem::path program_folder() {
  std::error_code failed;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", failed);
  return failed ? std::filesystem::path(".") : self.parent_path();
}

/// The data file that was named, else the one that comes with the program.
std::filesystem::path data_file(const std::string& named) {
  if (!named.empty()) return named;
  const std::filesystem::path here = program_folder();
  const std::filesystem::path places[] = {"examples/data/digits.npy", here / "../../../examples/data/digits.npy",
                                          here / "../share/anadrome/digits.npy"};
  for (const auto& place : places) {
    std::error_code failed;
    if (std::filesystem::exists(place, failed)) return place;
  }
  throw InputError("digits.npy is neither in ./examples/data nor beside the program; name it with --data FILE");
}

/// Lines about long work on stderr: on a terminal each replaces the last.
class ProgressLine {
 public:
  explicit ProgressLine(bool wanted) : terminal_(isatty(STDERR_FILENO) != 0), on_(wanted || terminal_) {}
  ~ProgressLine() { clear(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  void show(const std::string& text) {
    if (!on_) return;
    clear();
    std::cerr << text << (terminal_ ? "" : "\n") << std::flush;
    shown_ = terminal_;
  }
  void clear() {
    if (shown_) std::cerr << "\r\033[K" << std::flush;
    shown_ = false;
  }

 private:
  bool terminal_, on_, shown_ = false;
};

void run_tour_costs(const CostsArguments& arguments) {
  const Digits digits = load_digits(data_file(arguments.data));
  ProgressLine line(arguments.progress);
  const CostTour tour = tour_costs(digits, arguments.training, [&](const std::string& text) { line.show(text); });
  line.clear();
  if (arguments.json) print_json(std::cout, tour);
  else print_text(std::cout, tour, arguments.training);
  if (!std::cout.flush()) throw std::runtime_error("the output could not be written");
}

void add_tour_costs(CLI::App& tour, CostsArguments& arguments) {
  CLI::App* costs = tour.add_subcommand(
      "costs", "Which direction of differentiation costs what: flops of grad, jacfwd and jacrev,\n"
               "what a backward pass keeps, and a classifier of digits trained by the gradient");
  costs->add_flag("--json", arguments.json, "Print one JSON object: widths, wide, residuals, training");
  costs->add_option("--data", arguments.data, "The digits as a .npy array: 64 pixels and the label a row")
      ->type_name("FILE");
  costs->add_option("--epochs", arguments.training.epochs, "Epochs of training")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str()
      ->type_name("N");
  costs->add_option("--seeds", arguments.training.seeds, "Trainings to average")
      ->check(CLI::Range(1, 100))
      ->capture_default_str()
      ->type_name("N");
  costs->add_flag("--progress", arguments.progress, "Report progress on stderr, also when it is no terminal");
  costs->footer("Example:\n  anadrome tour costs --json --seeds 1 --epochs 10");
  costs->callback([&arguments] { run_tour_costs(arguments); });
}

struct RewindArguments {
  std::string data, page = "out/rewind.html", point;
  RewindOptions tour;
  bool json = false, progress = false;
};

void write_page(const std::filesystem::path& path, const std::string& page) {
  std::error_code failed;
  if (path.has_parent_path()) std::filesystem::create_directories(path.parent_path(), failed);
  std::ofstream out(path, std::ios::binary);
  if (!(out << page).flush()) throw InputError(path.string() + ": cannot be written; name another file with --page FILE");
}

void run_tour_rewind(const RewindArguments& arguments) {
  if (!arguments.point.empty()) {
    const MemoryPoint p = measure_memory(arguments.point, arguments.tour.depths.at(0));
    std::cout << nlohmann::json{{"temp_bytes", p.temp_bytes}, {"measured_bytes", p.measured_bytes}, {"run_ms", p.run_ms}} << '\n';
    return;
  }
  const Digits digits = load_digits(data_file(arguments.data));
  ProgressLine line(arguments.progress);
  const RewindTour tour = tour_rewind(digits, arguments.tour, [&](const std::string& text) { line.show(text); });
  line.clear();
  write_page(arguments.page, rewind_page(tour));
  if (arguments.json) print_json(std::cout, tour);
  else print_text(std::cout, tour);
  if (!arguments.json) std::cout << "\nPlots of all this: " << arguments.page << '\n';
  if (!std::cout.flush()) throw std::runtime_error("the output could not be written");
}

void add_tour_rewind(CLI::App& tour, RewindArguments& arguments) {
  CLI::App* rewind = tour.add_subcommand(
      "rewind", "Gradients of deep nets that rebuild their layers instead of keeping them: memory, time,\n"
                "what rounding does to them, and a training. Writes a page with plots");
  rewind->add_flag("--json", arguments.json, "Print one JSON object: memory, cliff, training");
  rewind->add_option("--data", arguments.data, "The digits as a .npy array: 64 pixels and the label a row")->type_name("FILE");
  rewind->add_option("--page", arguments.page, "Where the page goes")->capture_default_str()->type_name("FILE");
  rewind->add_option("--depths", arguments.tour.depths, "Depths of the memory table")
      ->delimiter(',')
      ->check(CLI::Range(1, 4096))
      ->capture_default_str()
      ->type_name("N,...");
  rewind->add_option("--epochs", arguments.tour.training.epochs, "Epochs of training")->check(CLI::Range(1, 1000))->capture_default_str()->type_name("N");
  rewind->add_option("--seeds", arguments.tour.training.seeds, "Trainings to average")->check(CLI::Range(0, 100))->capture_default_str()->type_name("N");
  rewind->add_option("--point", arguments.point)->group("");  // one gradient of the memory table, for the process that measures it
  rewind->add_flag("--progress", arguments.progress, "Report progress on stderr, also when it is no terminal");
  rewind->footer("Example:\n  anadrome tour rewind --depths 8,512 --seeds 1");
  rewind->callback([&arguments] { run_tour_rewind(arguments); });
}

/// CLI11 misses the command before it mentions the word that is none.
std::string what_was_wrong(const CLI::App& app, const CLI::ParseError& error) {
  const std::vector<std::string> words = app.remaining(true);
  if (words.empty() || dynamic_cast<const CLI::RequiredError*>(&error) == nullptr) return error.what();
  return "there is no command or option '" + words.front() + "'";
}

int fail(int code, const std::string& text) {
  std::cerr << "anadrome: " << text << '\n';
  return code;
}

}  // namespace

int main(int count, char** values) {
  CLI::App app{"Anadrome: derivatives, batching and costs of array programs, shown by example."};
  app.name("anadrome");
  app.set_version_flag("--version", "anadrome " ANADROME_VERSION, "Print the version and exit");
  app.require_subcommand(1);
  app.footer(
      "Examples:\n"
      "  anadrome tour costs                   tables of costs, and a short training\n"
      "  anadrome tour costs --json            the same as JSON\n"
      "  anadrome tour rewind                  gradients without the memory of layers, and plots\n"
      "  anadrome tour costs --help            all options of the tour");
  CLI::App* tour = app.add_subcommand("tour", "Guided tours: each computes its figures on the spot");
  tour->require_subcommand(1);
  tour->footer("Example:\n  anadrome tour costs");
  CostsArguments costs;
  add_tour_costs(*tour, costs);
  RewindArguments rewind;
  add_tour_rewind(*tour, rewind);
  try {
    app.parse(count, values);
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() == 0) return app.exit(e);  // --help and --version
    return fail(bad_input, what_was_wrong(app, e) + "\nRun with --help to see the commands and options.");
  } catch (const InputError& e) {
    return fail(bad_input, e.what());
  } catch (const std::exception& e) {
    return fail(1, e.what());
  }
  return 0;
}
