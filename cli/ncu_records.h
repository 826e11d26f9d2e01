// CSV text (RFC 4180) as records of cells, where they lie: nothing is copied. For ncu_csv.cc.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kb {

using Cells = std::vector<std::string_view>;

// Throws Error: "Nsight Compute CSV, line N: WHAT".
[[noreturn]] void FailAtLine(int line, const std::string& what);

// The text of a cell: doubled quotes become one.
[[nodiscard]] std::string Unquoted(std::string_view cell);

// Cells are views into the text. A quoted one may hold commas, line ends and doubled quotes,
// which are left doubled. Lines end with \n or \r\n and count from 1.
class NcuRecords {
 public:
  explicit NcuRecords(std::string_view text) : text_(text) {}

  [[nodiscard]] bool AtEnd() const { return at_ >= text_.size(); }
  [[nodiscard]] int line() const { return line_; }

  // The line that begins here, without its end.
  [[nodiscard]] std::string_view Line() const;
  void SkipLine();

  // The record that begins here; at least one cell. Throws Error if a quote is never closed or
  // there are more than `max_cells`.
  [[nodiscard]] Cells Next(size_t max_cells);

 private:
  bool Take(char c);
  std::string_view Plain();
  std::string_view Quoted();

  std::string_view text_;
  size_t at_ = 0;
  int line_ = 1;
  int begin_ = 1;  // of the record
};

}  // namespace kb
