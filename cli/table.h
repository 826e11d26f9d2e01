// Text in columns, measured in cells of a terminal: a CJK character takes two, a
// combining mark none.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kb {

// How many cells `text` takes. Bytes that are not UTF-8 take one each.
[[nodiscard]] int DisplayWidth(std::string_view text);

// `text`, or its beginning and "…" so that it takes at most `width` cells. 0: "".
[[nodiscard]] std::string FitWidth(std::string_view text, int width);

struct Column {
  std::string header;
  bool right = false;  // numbers
};

class Table {
 public:
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  // A cell for each column; foreign text is made printable here.
  void AddRow(std::vector<std::string> cells);

  // Each line ends with a newline and has no trailing spaces. The header is left out if all
  // headers are empty.
  [[nodiscard]] std::string Draw() const;

 private:
  [[nodiscard]] std::vector<int> Widths() const;
  [[nodiscard]] std::string DrawRow(const std::vector<std::string>& cells,
                                    const std::vector<int>& widths) const;

  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace kb
