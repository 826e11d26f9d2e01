#include "cli/table.h"

#include <algorithm>
#include <cstdint>
#include <iterator>

#include "kb/file.h"

namespace kb {
namespace {

constexpr int kGap = 2;

struct Range {
  uint32_t first, last;
};

// Unicode 15: general categories Mn, Me, Cf in the blocks that Markdown files have.
constexpr Range kZeroWidth[] = {
    {0x0300, 0x036f}, {0x0483, 0x0489},  {0x0591, 0x05bd}, {0x0610, 0x061a}, {0x064b, 0x065f},
    {0x06d6, 0x06dc}, {0x0e34, 0x0e3a},  {0x1ab0, 0x1aff}, {0x1dc0, 0x1dff}, {0x200b, 0x200f},
    {0x202a, 0x202e}, {0x2060, 0x2064},  {0x20d0, 0x20ff}, {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f},
    {0xfeff, 0xfeff}, {0xe0001, 0xe01ef}};

// East Asian Width W and F.
constexpr Range kWide[] = {
    {0x1100, 0x115f},   {0x231a, 0x231b},   {0x23e9, 0x23ec},   {0x25fd, 0x25fe},
    {0x2614, 0x2615},   {0x26a1, 0x26a1},   {0x2705, 0x2705},   {0x274c, 0x274c},
    {0x2753, 0x2755},   {0x2795, 0x2797},   {0x2b50, 0x2b50},   {0x2e80, 0x303e},
    {0x3041, 0x4dbf},   {0x4e00, 0xa4cf},   {0xa960, 0xa97f},   {0xac00, 0xd7a3},
    {0xf900, 0xfaff},   {0xfe30, 0xfe6f},   {0xff00, 0xff60},   {0xffe0, 0xffe6},
    {0x1f300, 0x1f64f}, {0x1f680, 0x1f6ff}, {0x1f900, 0x1f9ff}, {0x1fa70, 0x1faff},
    {0x20000, 0x3fffd}};

template <size_t N>
bool IsIn(const Range (&ranges)[N], uint32_t point) {
  const Range* range = std::upper_bound(std::begin(ranges), std::end(ranges), point,
                                        [](uint32_t p, const Range& r) { return p <= r.last; });
  return range != std::end(ranges) && point >= range->first;
}

int PointWidth(uint32_t point) {
  if (point < 0x300) return 1;
  if (IsIn(kZeroWidth, point)) return 0;
  return IsIn(kWide, point) ? 2 : 1;
}

// The code point at `text[*at]`; moves `*at` past it. A byte that begins none is one itself.
uint32_t NextPoint(std::string_view text, size_t* at) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte((*at)++);
  const int more = lead >= 0xf0 ? 3 : lead >= 0xe0 ? 2 : lead >= 0xc0 ? 1 : 0;
  if (*at + more > text.size()) return lead;
  uint32_t point = more == 0 ? lead : lead & (0x3f >> more);
  for (int i = 0; i < more; ++i) {
    if ((byte(*at + i) & 0xc0) != 0x80) return lead;
    point = point << 6 | (byte(*at + i) & 0x3f);
  }
  *at += more;
  return point;
}

}  // namespace

int DisplayWidth(std::string_view text) {
  int width = 0;
  for (size_t at = 0; at < text.size();) width += PointWidth(NextPoint(text, &at));
  return width;
}

std::string FitWidth(std::string_view text, int width) {
  if (width <= 0) return "";
  int used = 0;
  size_t keep = 0;  // what fits beside the ellipsis
  for (size_t at = 0; at < text.size();) {
    used += PointWidth(NextPoint(text, &at));
    if (used <= width - 1) keep = at;
    if (used > width) return std::string(text.substr(0, keep)) + "…";
  }
  return std::string(text);
}

void Table::AddRow(std::vector<std::string> cells) {
  for (std::string& cell : cells) cell = Printable(cell);
  cells.resize(columns_.size());
  rows_.push_back(std::move(cells));
}

std::vector<int> Table::Widths() const {
  std::vector<int> widths;
  for (size_t i = 0; i < columns_.size(); ++i) {
    widths.push_back(DisplayWidth(columns_[i].header));
    for (const auto& row : rows_) widths[i] = std::max(widths[i], DisplayWidth(row[i]));
  }
  return widths;
}

std::string Table::DrawRow(const std::vector<std::string>& cells,
                           const std::vector<int>& widths) const {
  std::string line;
  for (size_t i = 0; i < cells.size(); ++i) {
    const std::string pad(static_cast<size_t>(widths[i] - DisplayWidth(cells[i])), ' ');
    line += columns_[i].right ? pad + cells[i] : cells[i] + pad;
    line += std::string(kGap, ' ');
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

std::string Table::Draw() const {
  const std::vector<int> widths = Widths();
  std::vector<std::string> headers;
  for (const Column& column : columns_) headers.push_back(column.header);
  std::string text;
  const bool any = std::any_of(headers.begin(), headers.end(),
                               [](const std::string& header) { return !header.empty(); });
  if (any) text += DrawRow(headers, widths);
  for (const auto& row : rows_) text += DrawRow(row, widths);
  return text;
}

}  // namespace kb
