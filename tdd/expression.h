// Integer expressions over the axes of a workload, as case.yaml and launch.yaml have them:
// "ceil_div(n, 4 * block)". Values; bad text and overflow are results, not exceptions.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kb {

using Axes = std::map<std::string, int64_t, std::less<>>;

// Grammar: integers (also 1_000 and 0x10), names, ( ), unary - and !, * / %, + -, << >>,
// < <= > >= == !=, &&, ||, c ? a : b, and the functions min max (2 or more arguments), ceil_div,
// align (up, to a multiple), log2 (floor). / and % round toward minus infinity; && || ? : look
// only at what they need. Text of at most 1,024 bytes, depth at most 64.
class Expression {
 public:
  // nullopt: `*why` (may be null) says in a few words what is wrong and at which column.
  [[nodiscard]] static std::optional<Expression> Parse(std::string_view text,
                                                       std::string* why = nullptr);
  Expression();  // 0
  explicit Expression(int64_t value);

  // nullopt: an unknown name, division by zero, or overflow of int64; `*why` says which.
  [[nodiscard]] std::optional<int64_t> Evaluate(const Axes& axes, std::string* why = nullptr) const;
  [[nodiscard]] const std::string& text() const { return text_; }
  // The names it asks for, each once, in order of place.
  [[nodiscard]] std::vector<std::string> names() const;

  struct Node;  // in expression.cc

 private:
  std::string text_;
  std::shared_ptr<const Node> root_;
};

// A name that a case may give to an axis, tensor or scalar: a letter, then letters, digits and _,
// at most 64, and no function of Expression. Such a name is safe as a part of a file's name.
[[nodiscard]] bool IsSpecName(std::string_view name);

}  // namespace kb
