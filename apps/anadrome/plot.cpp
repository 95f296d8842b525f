#include "plot.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <limits>

namespace {

constexpr double width = 560, height = 340, left = 76, right = 150, top = 34, bottom = 52;
constexpr std::array<const char*, 8> colours = {"#1b6ca8", "#d1495b", "#2f9e6e", "#e09f3e", "#6c5ba7", "#5f6b7a", "#00798c", "#9c3587"};

std::string text_of(double value) {
  char out[32];
  std::snprintf(out, sizeof out, "%.4g", value);
  return out;
}
std::string at(double value) {
  char out[32];
  std::snprintf(out, sizeof out, "%.1f", value);
  return out;
}

/// From values to places along one axis.
struct Scale {
  bool log;
  double lo = std::numeric_limits<double>::infinity(), hi = -lo, from, to;

  Scale(bool l, double f, double t) : log(l), from(f), to(t) {}
  bool shows(double v) const { return std::isfinite(v) && (!log || v > 0); }
  double place_of(double v) const { return log ? std::log10(v) : v; }
  void take(double v) {
    if (!shows(v)) return;
    lo = std::min(lo, place_of(v));
    hi = std::max(hi, place_of(v));
  }
  void round() {
    if (!(lo <= hi)) lo = 0, hi = 1;
    if (log) lo = std::floor(lo), hi = std::ceil(hi);
    if (hi - lo < 1e-9) lo -= 0.5, hi += 0.5;
    if (!log) {
      const double margin = 0.05 * (hi - lo);
      lo = lo >= 0 ? std::max(0.0, lo - margin) : lo - margin, hi += margin;
    }
  }
  double operator()(double v) const { return from + (place_of(v) - lo) / (hi - lo) * (to - from); }
  std::vector<double> ticks() const {
    std::vector<double> out;
    if (log) {
      const int step = std::max(1, static_cast<int>((hi - lo) / 6));
      for (int k = static_cast<int>(lo); k <= static_cast<int>(hi); k += step) out.push_back(std::pow(10.0, k));
      return out;
    }
    double step = std::pow(10.0, std::floor(std::log10((hi - lo) / 4)));
    while ((hi - lo) / step > 6) step *= step * 2 <= (hi - lo) / 3 ? 2 : 2.5;
    for (double v = std::ceil(lo / step) * step; v <= hi + 1e-12; v += step) out.push_back(std::abs(v) < step * 1e-9 ? 0 : v);
    return out;
  }
};

std::string escaped(const std::string& text) {
  std::string out;
  for (char c : text) out += c == '<' ? "&lt;" : c == '&' ? "&amp;" : std::string(1, c);
  return out;
}

std::string axes(const Plot& plot, const Scale& x, const Scale& y) {
  std::string out;
  for (double v : x.ticks()) {
    out += "<line class=\"grid\" x1=\"" + at(x(v)) + "\" x2=\"" + at(x(v)) + "\" y1=\"" + at(top) + "\" y2=\"" + at(height - bottom) + "\"/>";
    out += "<text class=\"tick\" text-anchor=\"middle\" x=\"" + at(x(v)) + "\" y=\"" + at(height - bottom + 16) + "\">" + text_of(v) + "</text>";
  }
  for (double v : y.ticks()) {
    out += "<line class=\"grid\" x1=\"" + at(left) + "\" x2=\"" + at(width - right) + "\" y1=\"" + at(y(v)) + "\" y2=\"" + at(y(v)) + "\"/>";
    out += "<text class=\"tick\" text-anchor=\"end\" x=\"" + at(left - 6) + "\" y=\"" + at(y(v) + 4) + "\">" + text_of(v) + "</text>";
  }
  out += "<rect class=\"frame\" x=\"" + at(left) + "\" y=\"" + at(top) + "\" width=\"" + at(width - left - right) + "\" height=\"" + at(height - top - bottom) + "\"/>";
  out += "<text class=\"title\" x=\"" + at(left) + "\" y=\"20\">" + escaped(plot.title) + "</text>";
  out += "<text class=\"name\" text-anchor=\"middle\" x=\"" + at((left + width - right) / 2) + "\" y=\"" + at(height - 12) + "\">" + escaped(plot.x_name) + "</text>";
  out += "<text class=\"name\" text-anchor=\"middle\" transform=\"translate(16 " + at((top + height - bottom) / 2) + ") rotate(-90)\">" + escaped(plot.y_name) + "</text>";
  return out;
}

std::string line(const Series& s, std::size_t k, const Scale& x, const Scale& y) {
  const std::string colour = colours[k % colours.size()];
  std::string path, marks;
  for (std::size_t i = 0; i < s.x.size(); ++i) {
    if (!x.shows(s.x[i]) || !y.shows(s.y[i])) continue;
    path += (path.empty() ? "M" : "L") + at(x(s.x[i])) + " " + at(y(s.y[i]));
    if (!s.dashed && s.x.size() <= 40)
      marks += "<circle cx=\"" + at(x(s.x[i])) + "\" cy=\"" + at(y(s.y[i])) + "\" r=\"3\" fill=\"" + colour + "\"><title>" + escaped(s.name) + ": " + text_of(s.y[i]) + " at " + text_of(s.x[i]) + "</title></circle>";
  }
  const std::string dash = s.dashed ? " stroke-dasharray=\"6 4\"" : "";
  const double legend = top + 10 + 18 * static_cast<double>(k);
  std::string out = "<path class=\"line\" d=\"" + path + "\" stroke=\"" + colour + "\"" + dash + "/>" + marks;
  out += "<line x1=\"" + at(width - right + 12) + "\" x2=\"" + at(width - right + 34) + "\" y1=\"" + at(legend) + "\" y2=\"" + at(legend) + "\" stroke=\"" + colour + "\" stroke-width=\"2\"" + dash + "/>";
  return out + "<text class=\"legend\" x=\"" + at(width - right + 40) + "\" y=\"" + at(legend + 4) + "\">" + escaped(s.name) + "</text>";
}

}  // namespace

std::string svg(const Plot& plot) {
  Scale x(plot.log_x, left, width - right), y(plot.log_y, height - bottom, top);
  for (const Series& s : plot.series)
    for (std::size_t i = 0; i < s.x.size(); ++i)
      if (x.shows(s.x[i]) && y.shows(s.y[i])) x.take(s.x[i]), y.take(s.y[i]);
  x.round();
  y.round();
  std::string out = "<svg id=\"" + plot.id + "\" role=\"img\" aria-label=\"" + escaped(plot.title) + "\" viewBox=\"0 0 " + at(width) + " " + at(height) + "\">";
  out += axes(plot, x, y);
  for (std::size_t k = 0; k < plot.series.size(); ++k) out += line(plot.series[k], k, x, y);
  return out + "</svg>\n";
}
