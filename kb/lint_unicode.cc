// Characters that a reader does not see but a model reads.
#include <cstdint>
#include <cstdio>

#include "kb/lint_internal.h"
#include "kb/utf8.h"

namespace kb {
namespace {

constexpr uint32_t kBad = 0xFFFD;

// The code point at text[*i] (>= 0x80); moves *i past it. Ill-formed bytes give kBad, one each.
uint32_t Decode(std::string_view text, size_t* i) {
  const int length = Utf8Length(text, *i);
  const size_t at = *i;
  *i += length > 0 ? static_cast<size_t>(length) : 1;
  if (length < 2) return kBad;
  uint32_t point = static_cast<unsigned char>(text[at]) & (0x7Fu >> length);
  for (size_t k = at + 1; k < *i; ++k) {
    point = point << 6 | (static_cast<unsigned char>(text[k]) & 0x3F);
  }
  return point;
}

struct Range {
  uint32_t first, last;
};

template <size_t N>
bool In(const Range (&ranges)[N], uint32_t point) {
  for (const Range& range : ranges) {
    if (point >= range.first && point <= range.last) return true;
  }
  return false;
}

constexpr Range kTags[] = {{0xE0000, 0xE007F}};
constexpr Range kBidi[] = {{0x202A, 0x202E}, {0x2066, 0x2069}};
constexpr Range kZeroWidth[] = {{0x200B, 0x200D}, {0x2060, 0x2065}, {0xFEFF, 0xFEFF}};
constexpr Range kSelectors[] = {{0xFE00, 0xFE0F}, {0xE0100, 0xE01EF}};
// Marks of right-to-left text, soft hyphen, fillers: seen in honest text, and abused.
constexpr Range kInvisible[] = {{0x00AD, 0x00AD}, {0x061C, 0x061C}, {0x115F, 0x1160},
                                {0x180B, 0x180E}, {0x200E, 0x200F}, {0x3164, 0x3164},
                                {0xFFA0, 0xFFA0}};
constexpr Range kEmoji[] = {{0x2190, 0x21FF}, {0x2300, 0x23FF},   {0x2600, 0x27BF},
                            {0x2B00, 0x2BFF}, {0x1F000, 0x1FAFF}, {0xFE0F, 0xFE0F}};
// Scripts that join or part letters with U+200B..U+200D: Arabic to N'Ko, the Indic
// scripts, Thai, Lao, Tibetan, Myanmar, Khmer, Mongolian, Arabic presentation forms.
constexpr Range kJoining[] = {{0x0600, 0x08FF}, {0x0900, 0x109F}, {0x1780, 0x18AF},
                              {0xA840, 0xA8FF}, {0xFB50, 0xFDFF}, {0xFE70, 0xFEFC}};
constexpr Range kRightToLeft[] = {{0x0590, 0x08FF}, {0xFB1D, 0xFDFF}, {0xFE70, 0xFEFC}};
constexpr Range kIdeographs[] = {{0x3400, 0x9FFF}, {0xF900, 0xFAFF}, {0x20000, 0x3FFFF}};

// The flags of England, Scotland and Wales: a black flag and tags (Unicode TR51).
size_t FlagLength(std::string_view text, size_t flag_end) {
  static constexpr std::string_view kRegions[] = {"gbeng", "gbsct", "gbwls"};
  for (std::string_view region : kRegions) {
    std::string tags;
    for (char c : region) tags += {'\xF3', '\xA0', '\x81', static_cast<char>(c + 0x40)};
    tags += "\xF3\xA0\x81\xBF";
    if (text.substr(flag_end, tags.size()) == tags) return tags.size();
  }
  return 0;
}

class UnicodeScan {
 public:
  UnicodeScan(const LintSource& source, LintReport& report) : source_(source), report_(report) {}

  void Run() {
    const std::string_view text = source_.text;
    size_t i = text.substr(0, 3) == "\xEF\xBB\xBF" ? 3 : 0;
    while (i < text.size()) {
      if (static_cast<unsigned char>(text[i]) < 0x80) {
        previous_ = static_cast<unsigned char>(text[i++]);
        continue;
      }
      const size_t at = i;
      const uint32_t point = Decode(text, &i);
      Check(point, at, i);
      if (point == 0x1F3F4) i += FlagLength(text, i);
      previous_ = point;
    }
  }

 private:
  uint32_t PointAt(size_t i) const {
    if (i >= source_.text.size()) return 0;
    if (static_cast<unsigned char>(source_.text[i]) < 0x80) {
      return static_cast<unsigned char>(source_.text[i]);
    }
    return Decode(source_.text, &i);
  }

  bool HasRightToLeft(int line) {
    if (line == rtl_line_) return rtl_;
    rtl_line_ = line;
    rtl_ = false;
    const std::string_view text = source_.Line(line);
    for (size_t i = 0; i < text.size() && !rtl_;) {
      if (static_cast<unsigned char>(text[i]) < 0x80) {
        ++i;
        continue;
      }
      const uint32_t point = Decode(text, &i);
      rtl_ = point != 0x061C && In(kRightToLeft, point);
    }
    return rtl_;
  }

  bool ZeroWidthIsFine(uint32_t point, uint32_t next) const {
    if (point > 0x200D) return false;
    if (point == 0x200D && In(kEmoji, previous_) && In(kEmoji, next)) return true;
    return In(kJoining, previous_) && (point == 0x200D || next < 0x80 || In(kJoining, next));
  }

  // A selector changes the look of one character; chains of them carry hidden bytes.
  bool SelectorIsFine(uint32_t point) const {
    if (previous_ < 0x20 || In(kSelectors, previous_)) return false;
    return point <= 0xFE0F || In(kIdeographs, previous_);
  }

  void Check(uint32_t point, size_t at, size_t next) {
    if (In(kTags, point)) return Add("safety-unicode-tag", "Unicode tag character", point, at);
    if (In(kBidi, point)) return Add("safety-bidi", "bidirectional control", point, at);
    if (In(kZeroWidth, point) && !ZeroWidthIsFine(point, PointAt(next))) {
      return Add("safety-zero-width", "zero-width character", point, at);
    }
    if (In(kSelectors, point) && !SelectorIsFine(point)) {
      return Add("safety-zero-width", "variation selector that selects nothing", point, at);
    }
    if (!In(kInvisible, point)) return;
    const bool rtl_mark = point == 0x061C || point == 0x200E || point == 0x200F;
    if (rtl_mark && HasRightToLeft(source_.LineAt(at))) return;
    if (In(kJoining, previous_) && In(kJoining, point)) return;  // Mongolian selectors
    Add("safety-invisible", "invisible character", point, at);
  }

  void Add(const char* rule, const char* what, uint32_t point, size_t at) {
    const int line = source_.LineAt(at);
    char message[120];
    std::snprintf(message, sizeof message, "%s U+%04X at byte %zu of the line: not seen, but read",
                  what, static_cast<unsigned>(point), at - source_.LineBegin(line) + 1);
    report_.Add(rule, line, message);
  }

  const LintSource& source_;
  LintReport& report_;
  uint32_t previous_ = 0;
  int rtl_line_ = -1;
  bool rtl_ = false;
};

}  // namespace

void LintUnicode(const LintSource& source, LintReport& report) {
  UnicodeScan(source, report).Run();
}

}  // namespace kb
