// The tree of an Expression. Shared by its parser and its evaluation alone.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tdd/expression.h"

namespace kb {

enum class ExpressionOp {
  kNumber,
  kName,
  kNegate,
  kNot,
  kMultiply,
  kDivide,
  kModulo,
  kAdd,
  kSubtract,
  kShiftLeft,
  kShiftRight,
  kLess,
  kLessEqual,
  kGreater,
  kGreaterEqual,
  kEqual,
  kNotEqual,
  kAnd,
  kOr,
  kChoose,
  kMin,
  kMax,
  kCeilDiv,
  kAlign,
  kLog2,
};

struct Expression::Node {
  ExpressionOp op = ExpressionOp::kNumber;
  int64_t number = 0;
  std::string name;
  std::vector<std::shared_ptr<const Node>> of;
};

using ExpressionNode = std::shared_ptr<const Expression::Node>;

struct ExpressionFunction {
  std::string_view name;
  ExpressionOp op;
  size_t least, most;  // arguments
};

// Null if `name` is no function.
[[nodiscard]] const ExpressionFunction* FindExpressionFunction(std::string_view name);

// Null: `*why` says what is wrong and at which column.
[[nodiscard]] ExpressionNode ParseExpressionText(std::string_view text, std::string* why);

}  // namespace kb
