// Text to the tree of an Expression: a recursive descent that counts its depth.
#include <algorithm>
#include <array>
#include <charconv>

#include "kb/file.h"
#include "tdd/expression_node.h"

namespace kb {
namespace {

using Op = ExpressionOp;
using Node = Expression::Node;

constexpr size_t kMaxText = 1024;
constexpr size_t kMaxDepth = 64;
constexpr size_t kMaxArguments = 16;

constexpr std::array<ExpressionFunction, 5> kFunctions = {{{"min", Op::kMin, 2, kMaxArguments},
                                                           {"max", Op::kMax, 2, kMaxArguments},
                                                           {"ceil_div", Op::kCeilDiv, 2, 2},
                                                           {"align", Op::kAlign, 2, 2},
                                                           {"log2", Op::kLog2, 1, 1}}};

struct Binary {
  std::string_view sign;
  Op op;
  int level;
};

// Loosest level first. A sign that begins with another stands before it.
constexpr std::array<Binary, 15> kBinary = {{{"||", Op::kOr, 0},
                                             {"&&", Op::kAnd, 1},
                                             {"==", Op::kEqual, 2},
                                             {"!=", Op::kNotEqual, 2},
                                             {"<<", Op::kShiftLeft, 4},
                                             {">>", Op::kShiftRight, 4},
                                             {"<=", Op::kLessEqual, 3},
                                             {">=", Op::kGreaterEqual, 3},
                                             {"<", Op::kLess, 3},
                                             {">", Op::kGreater, 3},
                                             {"+", Op::kAdd, 5},
                                             {"-", Op::kSubtract, 5},
                                             {"*", Op::kMultiply, 6},
                                             {"/", Op::kDivide, 6},
                                             {"%", Op::kModulo, 6}}};
constexpr int kTightest = 6;

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool IsWord(char c) { return IsDigit(c) || IsLetter(c); }

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  ExpressionNode Whole() {
    ExpressionNode node = Choice();
    SkipBlanks();
    if (node && at_ < text_.size()) {
      return Fail("unexpected '" + Printable(text_.substr(at_, 1)) + "'");
    }
    return node;
  }
  const std::string& why() const { return why_; }

 private:
  // Counts how deep the grammar is nested at this point.
  struct Level {
    explicit Level(size_t* depth) : depth_(depth) { ++*depth_; }
    ~Level() { --*depth_; }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;
    size_t* depth_;
  };

  ExpressionNode Fail(const std::string& what) {
    if (why_.empty()) why_ = what + " at column " + std::to_string(at_ + 1);
    return nullptr;
  }

  void SkipBlanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
  }
  bool Take(char c) {
    SkipBlanks();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  static ExpressionNode Make(Op op, std::vector<ExpressionNode> of) {
    auto node = std::make_shared<Node>();
    node->op = op;
    node->of = std::move(of);
    return node;
  }

  ExpressionNode Choice() {
    const Level level(&depth_);
    if (depth_ > kMaxDepth) return Fail("nested more than 64 deep");
    ExpressionNode condition = OfLevel(0);
    if (!condition || !Take('?')) return condition;
    ExpressionNode yes = Choice();
    if (!yes) return nullptr;
    if (!Take(':')) return Fail("expected ':' of c ? a : b");
    ExpressionNode no = Choice();
    if (!no) return nullptr;
    return Make(Op::kChoose, {std::move(condition), std::move(yes), std::move(no)});
  }

  const Binary* PeekBinary() {
    SkipBlanks();
    for (const Binary& binary : kBinary) {
      if (text_.substr(at_).starts_with(binary.sign)) return &binary;
    }
    return nullptr;
  }

  // Left-associative: a - b - c is (a - b) - c.
  ExpressionNode OfLevel(int level) {
    if (level > kTightest) return Unary();
    ExpressionNode left = OfLevel(level + 1);
    while (left) {
      const Binary* binary = PeekBinary();
      if (binary == nullptr || binary->level != level) break;
      at_ += binary->sign.size();
      ExpressionNode right = OfLevel(level + 1);
      if (!right) return nullptr;
      left = Make(binary->op, {std::move(left), std::move(right)});
    }
    return left;
  }

  ExpressionNode Unary() {
    std::string signs;
    for (SkipBlanks(); at_ < text_.size() && (text_[at_] == '-' || text_[at_] == '!');) {
      signs += text_[at_++];
      if (signs.size() > kMaxDepth) return Fail("more than 64 signs in a row");
      SkipBlanks();
    }
    ExpressionNode node = Primary();
    for (; node && !signs.empty(); signs.pop_back()) {
      node = Make(signs.back() == '-' ? Op::kNegate : Op::kNot, {std::move(node)});
    }
    return node;
  }

  ExpressionNode Primary() {
    if (Take('(')) {
      ExpressionNode inner = Choice();
      if (inner && !Take(')')) return Fail("expected ')'");
      return inner;
    }
    SkipBlanks();
    if (at_ >= text_.size()) return Fail("ends too early: expected a number, a name or '('");
    if (IsDigit(text_[at_])) return Number();
    if (IsLetter(text_[at_])) return NameOrCall();
    return Fail("expected a number, a name or '('");
  }

  std::string_view Word() const {
    size_t end = at_;
    while (end < text_.size() && IsWord(text_[end])) ++end;
    return text_.substr(at_, end - at_);
  }

  ExpressionNode Number() {
    const std::string_view word = Word();
    std::string digits(word);
    std::erase(digits, '_');
    const int base = digits.starts_with("0x") || digits.starts_with("0X") ? 16 : 10;
    if (base == 16) digits.erase(0, 2);
    int64_t number = 0;
    const char* last = digits.data() + digits.size();
    const auto [end, error] = std::from_chars(digits.data(), last, number, base);
    if (error == std::errc::result_out_of_range) return Fail("a number beyond 2^63 - 1");
    if (error != std::errc() || end != last || word.back() == '_') return Fail("not an integer");
    at_ += word.size();
    auto node = std::make_shared<Node>();
    node->number = number;
    return node;
  }

  ExpressionNode NameOrCall() {
    const std::string_view word = Word();
    const ExpressionFunction* function = FindExpressionFunction(word);
    const size_t start = at_;
    at_ += word.size();
    const bool call = Take('(');
    if (call && function != nullptr) return Call(*function);
    at_ = start;
    if (call) return Fail("no function '" + std::string(word) + "'");
    if (function != nullptr) return Fail("'" + std::string(word) + "' wants arguments");
    at_ += word.size();
    auto node = std::make_shared<Node>();
    node->op = Op::kName;
    node->name = word;
    return node;
  }

  ExpressionNode Call(const ExpressionFunction& function) {
    std::vector<ExpressionNode> arguments;
    do {
      if (arguments.size() == kMaxArguments) return Fail("more than 16 arguments");
      arguments.push_back(Choice());
      if (!arguments.back()) return nullptr;
    } while (Take(','));
    if (!Take(')')) return Fail("expected ')'");
    if (arguments.size() < function.least || arguments.size() > function.most) {
      return Fail(std::string(function.name) + " takes " + std::to_string(function.least) +
                  (function.most > function.least ? " or more" : "") + " arguments, not " +
                  std::to_string(arguments.size()));
    }
    return Make(function.op, std::move(arguments));
  }

  std::string_view text_;
  size_t at_ = 0;
  size_t depth_ = 0;
  std::string why_;
};

}  // namespace

const ExpressionFunction* FindExpressionFunction(std::string_view name) {
  const auto found = std::find_if(kFunctions.begin(), kFunctions.end(),
                                  [&](const ExpressionFunction& f) { return f.name == name; });
  return found == kFunctions.end() ? nullptr : &*found;
}

ExpressionNode ParseExpressionText(std::string_view text, std::string* why) {
  if (text.size() > kMaxText) {
    *why = "longer than 1024 bytes";
    return nullptr;
  }
  Parser parser(text);
  ExpressionNode node = parser.Whole();
  if (!node) *why = parser.why();
  return node;
}

}  // namespace kb
