// inline_calls: one walk with a stack of open calls, so that nesting costs what the bodies hold and no more.
#include <unordered_map>

#include "optimize/passes.h"
#include "optimize/rewrite.h"

namespace anadrome {
namespace {

/// The program that an equation is replaced by, or null.
const SubProgram* body_of(const Equation& e) {
  return e.prim == &prim::call ? &e.as<CallAttr>().body : replacement(e.attrs);
}

/// A program in the middle of being copied out.
struct Open {
  const Program* program;
  const Equation* call;  // of the frame below
  std::vector<Atom> value;
  std::size_t next = 0;
  std::uint32_t region = 0, origin = 0;           // of the call
  std::unordered_map<std::uint32_t, std::uint32_t> regions;
  std::optional<std::uint32_t> lines;             // where its lines start in the new table
};

class Inliner {
 public:
  explicit Inliner(const Program& root) : root_(root) {
    for (const Equation& e : root.equations) next_region_ = std::max(next_region_, e.region + 1);
    if (root.sources) {
      *sources_ = *root.sources;
      lines_of_[root.sources.get()] = 0;
    }
  }

  Program run() {
    open_root();
    while (true) {
      Open& top = stack_.back();
      if (top.next < top.program->equations.size()) {
        const Equation& e = top.program->equations[top.next++];
        if (body_of(e)) open_call(e);
        else append(e);
      } else if (stack_.size() > 1) {
        close_call();
      } else {
        break;
      }
    }
    for (const Atom& a : root_.outputs) out_.outputs.push_back(get(stack_.back(), a));
    out_.sources = std::move(sources_);
    canonicalize(out_);
    return std::move(out_);
  }

 private:
  static Atom get(const Open& frame, const Atom& a) { return a.is_var() ? frame.value[a.var] : a; }

  VarId new_var(const Type& type) {
    out_.types.push_back(type);
    return static_cast<VarId>(out_.types.size() - 1);
  }

  void open_root() {
    Open& frame = stack_.emplace_back(Open{&root_, nullptr, std::vector<Atom>(root_.types.size()), 0, 0, 0, {}, 0});
    for (VarId v : root_.captures) frame.value[v] = Atom::variable(out_.captures.emplace_back(new_var(root_.type(v))));
    for (VarId v : root_.inputs) frame.value[v] = Atom::variable(out_.inputs.emplace_back(new_var(root_.type(v))));
    for (const Equation& e : root_.equations) frame.regions[e.region] = e.region;
  }

  void open_call(const Equation& e) {
    const SubProgram& body = *body_of(e);
    Open frame{&*body, &e, std::vector<Atom>(body->types.size()), 0, region(e), origin(e), {}, {}};
    const SourceTable* lines = body.sources ? body.sources.get() : body->sources.get();
    if (lines) frame.lines = lines_of(*lines);
    std::size_t k = 0;
    for (VarId v : body->captures) frame.value[v] = get(stack_.back(), e.operands[k++]);
    for (VarId v : body->inputs) frame.value[v] = get(stack_.back(), e.operands[k++]);
    stack_.push_back(std::move(frame));
  }

  void close_call() {
    Open body = std::move(stack_.back());
    stack_.pop_back();
    for (std::size_t i = 0; i < body.call->results.size(); ++i)
      stack_.back().value[body.call->results[i]] = get(body, body.program->outputs[i]);
  }

  void append(const Equation& e) {
    Open& frame = stack_.back();
    Equation& copy = out_.equations.emplace_back(e);
    for (Atom& a : copy.operands) a = get(frame, a);
    for (VarId& v : copy.results) {
      const VarId id = new_var(frame.program->type(v));
      frame.value[v] = Atom::variable(id);
      v = id;
    }
    copy.region = region(e);
    copy.origin = origin(e);
  }

  std::uint32_t region(const Equation& e) {
    Open& frame = stack_.back();
    if (e.region == 0) return frame.region;
    auto [it, fresh] = frame.regions.try_emplace(e.region, next_region_);
    next_region_ += fresh;
    return it->second;
  }

  std::uint32_t origin(const Equation& e) const {
    const Open& frame = stack_.back();
    return frame.lines ? *frame.lines + e.origin : frame.origin;
  }

  std::uint32_t lines_of(const SourceTable& lines) {
    auto [it, fresh] = lines_of_.try_emplace(&lines, static_cast<std::uint32_t>(sources_->size()));
    if (fresh) sources_->insert(sources_->end(), lines.begin(), lines.end());
    return it->second;
  }

  const Program& root_;
  Program out_;
  std::vector<Open> stack_;
  std::uint32_t next_region_ = 1;
  std::shared_ptr<SourceTable> sources_ = std::make_shared<SourceTable>();
  std::unordered_map<const SourceTable*, std::uint32_t> lines_of_;
};

}  // namespace

Program inline_calls(const Program& program) {
  const bool any = std::any_of(program.equations.begin(), program.equations.end(),
                               [](const Equation& e) { return body_of(e) != nullptr; });
  if (any) return Inliner(program).run();
  Program same = program;
  canonicalize(same);
  return same;
}

}  // namespace anadrome
