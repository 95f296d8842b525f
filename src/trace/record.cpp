// Recording.
#include "trace/record.h"

namespace anadrome {

Recording record(std::string name, const ArrayFunction& f, std::span<const Type> inputs, Arrays bound) {
  Builder builder(std::move(name), current_builder());
  Arrays x;
  for (const Type& t : inputs) x.push_back(builder.input(t));
  if (!bound.empty()) builder.bind_inputs(std::move(bound));
  EnterScope scope({&builder});
  const Arrays y = f(x);
  return builder.finish(y);
}

}  // namespace anadrome
