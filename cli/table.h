// Text in columns that fit a terminal, measured in cells: a CJK character takes two, a
// combining mark none.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kb {

// How many cells `text` takes. Bytes that are not UTF-8 take one each.
[[nodiscard]] int DisplayWidth(std::string_view text);

// `text`, or its beginning and "…" so that it takes at most `width` cells. 0: "".
[[nodiscard]] std::string FitWidth(std::string_view text, int width);

struct Column {
  std::string header;
  bool right = false;    // numbers
  bool shrinks = false;  // cut when the table is wider than allowed; one column at most
};

class Table {
 public:
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  // A cell for each column; foreign text is made printable here.
  void AddRow(std::vector<std::string> cells);
  // A line below the last row, written as it is.
  void AddLine(std::string line);

  // Each line ends with a newline and has no trailing spaces. `columns` 0: no limit. The
  // header is left out if all headers are empty.
  [[nodiscard]] std::string Draw(int columns) const;

 private:
  struct Row {
    std::vector<std::string> cells;
    std::vector<std::string> lines;
  };
  [[nodiscard]] std::vector<int> Widths(int columns) const;
  [[nodiscard]] std::string DrawRow(const std::vector<std::string>& cells,
                                    const std::vector<int>& widths) const;

  std::vector<Column> columns_;
  std::vector<Row> rows_;
};

}  // namespace kb
