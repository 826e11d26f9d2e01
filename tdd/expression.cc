#include "tdd/expression.h"

#include <algorithm>
#include <bit>

#include "tdd/expression_node.h"

namespace kb {
namespace {

using Op = ExpressionOp;
using Result = std::optional<int64_t>;

int64_t FloorDiv(int64_t a, int64_t b) {
  const int64_t quotient = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

int64_t FloorMod(int64_t a, int64_t b) {
  const int64_t rest = a % b;
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

class Evaluator {
 public:
  explicit Evaluator(const Axes& axes) : axes_(axes) {}

  Result Of(const Expression::Node& node) {
    switch (node.op) {
      case Op::kNumber:
        return node.number;
      case Op::kName:
        return Name(node.name);
      case Op::kAnd:
      case Op::kOr:
        return Logical(node);
      case Op::kChoose: {
        const Result condition = Of(*node.of[0]);
        return condition ? Of(*node.of[*condition != 0 ? 1 : 2]) : std::nullopt;
      }
      default:
        return OfValues(node);
    }
  }
  const std::string& why() const { return why_; }

 private:
  Result Fail(const std::string& why) {
    if (why_.empty()) why_ = why;
    return std::nullopt;
  }

  Result Name(const std::string& name) {
    const auto found = axes_.find(name);
    return found == axes_.end() ? Fail("unknown name '" + name + "'") : Result(found->second);
  }

  Result Logical(const Expression::Node& node) {
    const Result left = Of(*node.of[0]);
    if (!left) return std::nullopt;
    if ((*left != 0) == (node.op == Op::kOr)) return *left != 0;
    const Result right = Of(*node.of[1]);
    return right ? Result(*right != 0) : std::nullopt;
  }

  Result OfValues(const Expression::Node& node) {
    const Result first = Of(*node.of[0]);
    if (!first) return std::nullopt;
    if (node.of.size() == 1) return Single(node.op, *first);
    int64_t left = *first;
    for (size_t i = 1; i < node.of.size(); ++i) {  // more than two: min and max
      const Result right = Of(*node.of[i]);
      const Result both = right ? Pair(node.op, left, *right) : std::nullopt;
      if (!both) return std::nullopt;
      left = *both;
    }
    return left;
  }

  Result Single(Op op, int64_t a) {
    if (op == Op::kNot) return a == 0;
    if (op == Op::kLog2) {
      if (a < 1) return Fail("log2 of " + std::to_string(a));
      return std::bit_width(static_cast<uint64_t>(a)) - 1;
    }
    return Checked(op, 0, a);  // kNegate
  }

  Result Pair(Op op, int64_t a, int64_t b) {
    switch (op) {
      case Op::kLess:
        return a < b;
      case Op::kLessEqual:
        return a <= b;
      case Op::kGreater:
        return a > b;
      case Op::kGreaterEqual:
        return a >= b;
      case Op::kEqual:
        return a == b;
      case Op::kNotEqual:
        return a != b;
      case Op::kMin:
        return std::min(a, b);
      case Op::kMax:
        return std::max(a, b);
      case Op::kShiftLeft:
      case Op::kShiftRight:
        return Shift(op, a, b);
      case Op::kDivide:
      case Op::kModulo:
      case Op::kCeilDiv:
      case Op::kAlign:
        return Division(op, a, b);
      default:
        return Checked(op, a, b);
    }
  }

  Result Shift(Op op, int64_t a, int64_t b) {
    if (b < 0 || b > 62) return Fail("a shift by " + std::to_string(b));
    return op == Op::kShiftRight ? Result(a >> b) : Checked(Op::kMultiply, a, int64_t{1} << b);
  }

  Result Division(Op op, int64_t a, int64_t b) {
    if (b == 0) return Fail("division by zero");
    if (op == Op::kAlign && b < 0) return Fail("align to " + std::to_string(b));
    if (b == -1) return op == Op::kModulo ? Result(0) : Checked(Op::kNegate, 0, a);
    if (op == Op::kDivide) return FloorDiv(a, b);
    if (op == Op::kModulo) return FloorMod(a, b);
    const Result up = Checked(Op::kAdd, FloorDiv(a, b), FloorMod(a, b) != 0 ? 1 : 0);
    return up && op == Op::kAlign ? Checked(Op::kMultiply, *up, b) : up;
  }

  Result Checked(Op op, int64_t a, int64_t b) {
    int64_t result = 0;
    const bool overflow = op == Op::kAdd        ? __builtin_add_overflow(a, b, &result)
                          : op == Op::kMultiply ? __builtin_mul_overflow(a, b, &result)
                                                : __builtin_sub_overflow(a, b, &result);
    return overflow ? Fail("overflow of 64 bits") : Result(result);
  }

  const Axes& axes_;
  std::string why_;
};

void CollectNames(const Expression::Node& node, std::vector<std::string>* names) {
  if (node.op == Op::kName && std::find(names->begin(), names->end(), node.name) == names->end()) {
    names->push_back(node.name);
  }
  for (const ExpressionNode& child : node.of) CollectNames(*child, names);
}

}  // namespace

std::optional<Expression> Expression::Parse(std::string_view text, std::string* why) {
  std::string ignored;
  Expression parsed;
  parsed.root_ = ParseExpressionText(text, why != nullptr ? why : &ignored);
  if (!parsed.root_) return std::nullopt;
  parsed.text_ = text;
  return parsed;
}

Expression::Expression() : Expression(0) {}

Expression::Expression(int64_t value) : text_(std::to_string(value)) {
  auto node = std::make_shared<Node>();
  node->number = value;
  root_ = node;
}

std::optional<int64_t> Expression::Evaluate(const Axes& axes, std::string* why) const {
  Evaluator evaluator(axes);
  const std::optional<int64_t> result = evaluator.Of(*root_);
  if (!result && why != nullptr) *why = evaluator.why();
  return result;
}

std::vector<std::string> Expression::names() const {
  std::vector<std::string> names;
  CollectNames(*root_, &names);
  return names;
}

bool IsSpecName(std::string_view name) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  const auto word = [&](char c) { return letter(c) || (c >= '0' && c <= '9') || c == '_'; };
  if (name.empty() || name.size() > 64 || !letter(name[0])) return false;
  return std::all_of(name.begin(), name.end(), word) && FindExpressionFunction(name) == nullptr;
}

}  // namespace kb
