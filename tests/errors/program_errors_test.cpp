// Errors of program texts: line, column, what was expected and what was found.
#include "anadrome/anadrome.h"
#include "support/messages.h"

namespace anadrome {
namespace {

using testing::expect_contains;
using testing::expect_error;
using testing::message;
using testing::this_file;

void expect_parse_error(const std::string& text, const std::vector<std::string>& parts,
                        std::source_location line = std::source_location::current()) {
  expect_error<ParseError>(
      [&] { return parse_program(text); }, parts,
      [] { return parse_program("{ lambda ; a:f32[3] . let b:f32[3] = sin a in (b) }"); }, line);
}

TEST(ParseErrors, NameTheLineTheColumnAndWhatIsMissing) {
  expect_parse_error("{ lambda ; a:f32[3] . let b:f32[3] = sinn a in (b) }",
                     {"line 1, column 38", "primitive", "'sinn'"});
  expect_parse_error("{ lambda ; a:f32[3] .\nlet b:f32[3] = sin c in (b) }",
                     {"line 2, column 20", "variable", "'c'"});
  expect_parse_error("{ lambda ; a:f33[3] . let in (a) }", {"column 14", "dtype", "'f33'"});
  expect_parse_error("{ lambda ; a:f32[3] . let a:f32[3] = sin a in (a) }", {"not defined yet", "'a'"});
  expect_parse_error("{ lambda ; a:f32[3] . let b:f32[3] = sin a in (b)", {"'}'", "the end of the text"});
  expect_parse_error("{ lambda ; a:f32[3] . let in (a) } x", {"the end of the text", "'x'"});
  expect_parse_error("{ lambda ; a:f32[x] . let in (a) }", {"column 18", "'x'"});
  expect_parse_error("{ lambda ; a:u8[] . let b:u8[] = add a 300:u8 in (b) }", {"u8 can hold", "'300'"});
  expect_parse_error("", {"line 1, column 1", "the end of the text"});
}

TEST(ParseErrors, AProgramWhoseTypesDoNotFitIsNotAccepted) {
  EXPECT_ANY_THROW(verify(parse_program("{ lambda ; a:f32[3] . let b:f32[4] = sin a in (b) }")));
  EXPECT_NO_THROW(verify(parse_program("{ lambda ; a:f32[3] . let b:f32[3] = sin a in (b) }")));
}

}  // namespace
}  // namespace anadrome
