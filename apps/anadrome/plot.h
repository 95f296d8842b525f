// Line plots as SVG.
#pragma once
#include <string>
#include <vector>

struct Series {
  std::string name;
  std::vector<double> x, y;  // points that are no numbers, or not positive on a log scale, are left out
  bool dashed = false;
};
struct Plot {
  std::string id, title, x_name, y_name;  // names with units
  bool log_x = false, log_y = false;
  std::vector<Series> series;
};
/// An <svg> element with axes, ticks, lines, marks and a legend.
std::string svg(const Plot& plot);
