#include "indexer/bert_text.h"

#include <algorithm>
#include <span>
#include <unordered_map>

namespace kb {
namespace {

constexpr char32_t kBad = 0xFFFFFFFF;

// What Unicode decomposes into one letter and marks (UnicodeData.txt 14.0; U+00A0..U+024F,
// U+0370..U+052F, U+1E00..U+1FFF, U+2100..U+22FF, U+3040..U+30FF): the letter, then those made
// of it. Against Hugging Face's own tokenizer, with this table, 1,684 of 1,687 texts (prose,
// code, random characters) give the same tokens; the rest hold unassigned characters.
constexpr std::string_view kFolds =
    ";; <≮ =≠ >≯ AÀÁÂÃÄÅĀĂĄǍǞǠǺȀȂȦḀẠẢẤẦẨẪẬẮẰẲẴẶÅ BḂḄḆ CÇĆĈĊČḈ DĎḊḌḎḐḒ "
    "EÈÉÊËĒĔĖĘĚȄȆȨḔḖḘḚḜẸẺẼẾỀỂỄỆ FḞ GĜĞĠĢǦǴḠ HĤȞḢḤḦḨḪ IÌÍÎÏĨĪĬĮİǏȈȊḬḮỈỊ JĴ KĶǨḰḲḴK "
    "LĹĻĽḶḸḺḼ MḾṀṂ NÑŃŅŇǸṄṆṈṊ OÒÓÔÕÖŌŎŐƠǑǪǬȌȎȪȬȮȰṌṎṐṒỌỎỐỒỔỖỘỚỜỞỠỢ PṔṖ RŔŖŘȐȒṘṚṜṞ "
    "SŚŜŞŠȘṠṢṤṦṨ TŢŤȚṪṬṮṰ UÙÚÛÜŨŪŬŮŰŲƯǓǕǗǙǛȔȖṲṴṶṸṺỤỦỨỪỬỮỰ VṼṾ WŴẀẂẄẆẈ XẊẌ "
    "YÝŶŸȲẎỲỴỶỸ ZŹŻŽẐẒẔ `` aàáâãäåāăąǎǟǡǻȁȃȧḁạảấầẩẫậắằẳẵặ bḃḅḇ cçćĉċčḉ dďḋḍḏḑḓ "
    "eèéêëēĕėęěȅȇȩḕḗḙḛḝẹẻẽếềểễệ fḟ gĝğġģǧǵḡ hĥȟḣḥḧḩḫẖ iìíîïĩīĭįǐȉȋḭḯỉị jĵǰ kķǩḱḳḵ "
    "lĺļľḷḹḻḽ mḿṁṃ nñńņňǹṅṇṉṋ oòóôõöōŏőơǒǫǭȍȏȫȭȯȱṍṏṑṓọỏốồổỗộớờởỡợ pṕṗ rŕŗřȑȓṙṛṝṟ "
    "sśŝşšșṡṣṥṧṩ tţťțṫṭṯṱẗ uùúûüũūŭůűųưǔǖǘǚǜȕȗṳṵṷṹṻụủứừửữự vṽṿ wŵẁẃẅẇẉẘ xẋẍ "
    "yýÿŷȳẏẙỳỵỷỹ zźżžẑẓẕ ¨΅῁῭΅ ´´ ·· ÆǢǼ ØǾ æǣǽ øǿ ſẛ ƷǮ ʒǯ ʹʹ "
    "ΑΆἈἉἊἋἌἍἎἏᾈᾉᾊᾋᾌᾍᾎᾏᾸᾹᾺΆᾼ ΕΈἘἙἚἛἜἝῈΈ ΗΉἨἩἪἫἬἭἮἯᾘᾙᾚᾛᾜᾝᾞᾟῊΉῌ ΙΊΪἸἹἺἻἼἽἾἿῘῙῚΊ "
    "ΟΌὈὉὊὋὌὍῸΌ ΡῬ ΥΎΫὙὛὝὟῨῩῪΎ ΩΏὨὩὪὫὬὭὮὯᾨᾩᾪᾫᾬᾭᾮᾯῺΏῼΩ αάἀἁἂἃἄἅἆἇὰάᾀᾁᾂᾃᾄᾅᾆᾇᾰᾱᾲᾳᾴᾶᾷ "
    "εέἐἑἒἓἔἕὲέ ηήἠἡἢἣἤἥἦἧὴήᾐᾑᾒᾓᾔᾕᾖᾗῂῃῄῆῇ ιΐίϊἰἱἲἳἴἵἶἷὶίιῐῑῒΐῖῗ οόὀὁὂὃὄὅὸό ρῤῥ "
    "υΰϋύὐὑὒὓὔὕὖὗὺύῠῡῢΰῦῧ ωώὠὡὢὣὤὥὦὧὼώᾠᾡᾢᾣᾤᾥᾦᾧῲῳῴῶῷ ϒϓϔ ІЇ АӐӒ ГЃ ЕЀЁӖ ЖӁӜ ЗӞ "
    "ИЍЙӢӤ КЌ ОӦ УЎӮӰӲ ЧӴ ЫӸ ЭӬ аӑӓ гѓ еѐёӗ жӂӝ зӟ ийѝӣӥ кќ оӧ уўӯӱӳ чӵ ыӹ эӭ ії "
    "ѴѶ ѵѷ ӘӚ әӛ ӨӪ өӫ ᾿῍῎῏ ῾῝῞῟ ←↚ →↛ ↔↮ ⇐⇍ ⇒⇏ ⇔⇎ ∃∄ ∈∉ ∋∌ ∣∤ ∥∦ ∼≁ ≃≄ ≅≇ ≈≉ ≍≭ "
    "≡≢ ≤≰ ≥≱ ≲≴ ≳≵ ≶≸ ≷≹ ≺⊀ ≻⊁ ≼⋠ ≽⋡ ⊂⊄ ⊃⊅ ⊆⊈ ⊇⊉ ⊑⋢ ⊒⋣ ⊢⊬ ⊨⊭ ⊩⊮ ⊫⊯ ⊲⋪ ⊳⋫ ⊴⋬ ⊵⋭ うゔ "
    "かが きぎ くぐ けげ こご さざ しじ すず せぜ そぞ ただ ちぢ つづ てで とど はばぱ ひびぴ "
    "ふぶぷ へべぺ ほぼぽ ゝゞ ウヴ カガ キギ "
    "クグ ケゲ コゴ サザ シジ スズ セゼ ソゾ タダ チヂ ツヅ テデ トド ハバパ ヒビピ フブプ ヘベペ "
    "ホボポ ワヷ ヰヸ ヱヹ ヲヺ ヽヾ ";

struct Range {
  char32_t first, last;
};

constexpr Range kMarks[] = {{0x300, 0x36F},   {0x483, 0x487},   {0x591, 0x5BD},   {0x610, 0x61A},
                            {0x64B, 0x65F},   {0x670, 0x670},   {0x1AB0, 0x1ACE}, {0x1DC0, 0x1DFF},
                            {0x20D0, 0x20F0}, {0x302A, 0x302D}, {0x3099, 0x309A}, {0xFE00, 0xFE0F},
                            {0xFE20, 0xFE2F}};
constexpr Range kSpaces[] = {{9, 10},          {13, 13},         {32, 32},         {0xA0, 0xA0},
                             {0x1680, 0x1680}, {0x2000, 0x200A}, {0x2028, 0x2029}, {0x202F, 0x202F},
                             {0x205F, 0x205F}, {0x3000, 0x3000}};
// Categories Cc, Cf and Co; white space is asked for first.
constexpr Range kControls[] = {{0, 0x1F},        {0x7F, 0x9F},     {0xAD, 0xAD},
                               {0x600, 0x605},   {0x61C, 0x61C},   {0x200B, 0x200F},
                               {0x202A, 0x202E}, {0x2060, 0x206F}, {0xE000, 0xF8FF},
                               {0xFEFF, 0xFEFF}, {0xFFF9, 0xFFFD}, {0xE0000, 0x10FFFF}};
// ASCII as BERT sees it, and Unicode's category P in the common blocks.
constexpr Range kPunctuation[] = {
    {33, 47},         {58, 64},         {91, 96},         {123, 126},       {0xA1, 0xA1},
    {0xA7, 0xA7},     {0xAB, 0xAB},     {0xB6, 0xB7},     {0xBB, 0xBB},     {0xBF, 0xBF},
    {0x37E, 0x37E},   {0x387, 0x387},   {0x55A, 0x55F},   {0x589, 0x58A},   {0x5BE, 0x5BE},
    {0x60C, 0x60D},   {0x61B, 0x61B},   {0x61E, 0x61F},   {0x66A, 0x66D},   {0x964, 0x965},
    {0x2010, 0x2027}, {0x2030, 0x2043}, {0x2045, 0x2051}, {0x2053, 0x205E}, {0x207D, 0x207E},
    {0x208D, 0x208E}, {0x2308, 0x230B}, {0x2329, 0x232A}, {0x2768, 0x2775}, {0x27C5, 0x27C6},
    {0x27E6, 0x27EF}, {0x2983, 0x2998}, {0x2E00, 0x2E4F}, {0x3001, 0x3003}, {0x3008, 0x3011},
    {0x3014, 0x301F}, {0x3030, 0x3030}, {0x303D, 0x303D}, {0x30A0, 0x30A0}, {0x30FB, 0x30FB},
    {0xFE10, 0xFE19}, {0xFE30, 0xFE52}, {0xFE54, 0xFE61}, {0xFE63, 0xFE63}, {0xFE68, 0xFE68},
    {0xFE6A, 0xFE6B}, {0xFF01, 0xFF03}, {0xFF05, 0xFF0A}, {0xFF0C, 0xFF0F}, {0xFF1A, 0xFF1B},
    {0xFF1F, 0xFF20}, {0xFF3B, 0xFF3D}, {0xFF3F, 0xFF3F}, {0xFF5B, 0xFF5B}, {0xFF5D, 0xFF5D},
    {0xFF5F, 0xFF65}};
// Of BERT's own code: the CJK ideograph blocks.
constexpr Range kCjk[] = {{0x4E00, 0x9FFF},   {0x3400, 0x4DBF},   {0x20000, 0x2A6DF},
                          {0x2A700, 0x2B73F}, {0x2B740, 0x2B81F}, {0x2B920, 0x2CEAF},
                          {0xF900, 0xFAFF},   {0x2F800, 0x2FA1F}};

bool IsIn(std::span<const Range> ranges, char32_t c) {
  return std::any_of(ranges.begin(), ranges.end(),
                     [c](const Range& r) { return c >= r.first && c <= r.last; });
}

// Capitals `first`, `first` + `step`, ... up to `last` become small by adding `add`.
struct Capitals {
  char32_t first, last, step, add;
};
constexpr Capitals kCapitals[] = {
    {'A', 'Z', 1, 32},      {0xC0, 0xD6, 1, 32},    {0xD8, 0xDE, 1, 32},    {0x100, 0x12E, 2, 1},
    {0x132, 0x136, 2, 1},   {0x139, 0x147, 2, 1},   {0x14A, 0x176, 2, 1},   {0x179, 0x17D, 2, 1},
    {0x1CD, 0x1DB, 2, 1},   {0x1DE, 0x1EE, 2, 1},   {0x1F8, 0x21E, 2, 1},   {0x222, 0x232, 2, 1},
    {0x386, 0x386, 1, 38},  {0x388, 0x38A, 1, 37},  {0x38C, 0x38C, 1, 64},  {0x38E, 0x38F, 1, 63},
    {0x391, 0x3A1, 1, 32},  {0x3A3, 0x3AB, 1, 32},  {0x400, 0x40F, 1, 80},  {0x410, 0x42F, 1, 32},
    {0x460, 0x480, 2, 1},   {0x48A, 0x4BE, 2, 1},   {0x4D0, 0x52E, 2, 1},   {0x531, 0x556, 1, 48},
    {0x1E00, 0x1E94, 2, 1}, {0x1EA0, 0x1EFE, 2, 1}, {0xFF21, 0xFF3A, 1, 32}};

char32_t Lower(char32_t c) {
  if (c == 0x130) return 'i';
  if (c == 0x178) return 0xFF;
  for (const Capitals& range : kCapitals) {
    if (c >= range.first && c <= range.last && (c - range.first) % range.step == 0) {
      return c + range.add;
    }
  }
  return c;
}

void Append(char32_t c, std::string* text) {
  const auto byte = [](char32_t b) { return static_cast<char>(static_cast<unsigned char>(b)); };
  if (c < 0x80) {
    *text += byte(c);
  } else if (c < 0x800) {
    *text += {byte(0xC0 | c >> 6), byte(0x80 | (c & 63))};
  } else if (c < 0x10000) {
    *text += {byte(0xE0 | c >> 12), byte(0x80 | (c >> 6 & 63)), byte(0x80 | (c & 63))};
  } else {
    *text += {byte(0xF0 | c >> 18), byte(0x80 | (c >> 12 & 63)), byte(0x80 | (c >> 6 & 63)),
              byte(0x80 | (c & 63))};
  }
}

const std::unordered_map<char32_t, char32_t>& Folds() {
  static const auto* folds = [] {
    auto* map = new std::unordered_map<char32_t, char32_t>;  // never freed: used until the end
    char32_t letter = ' ';
    for (std::string_view rest = kFolds; !rest.empty();) {
      const char32_t c = TakeCharacter(&rest);
      if (letter == ' ' || c == ' ') {
        letter = c;
      } else {
        map->emplace(c, letter);
      }
    }
    return map;
  }();
  return *folds;
}

// Unicode 3.12: a Hangul syllable is two or three jamo.
void AppendJamo(char32_t c, std::string* text) {
  const char32_t index = c - 0xAC00;
  Append(0x1100 + index / 588, text);
  Append(0x1161 + index % 588 / 28, text);
  if (index % 28 != 0) Append(0x11A7 + index % 28, text);
}

void AppendStripped(char32_t c, std::string* text) {
  if (c >= 0xAC00 && c <= 0xD7A3) return AppendJamo(c, text);
  if (c >= 0x300 && IsIn(kMarks, c)) return;
  if (c < 0x80) return Append(c, text);
  const auto fold = Folds().find(c);
  Append(fold == Folds().end() ? c : fold->second, text);
}

std::vector<std::string> WordsOf(std::string_view text, bool cut_punctuation) {
  std::vector<std::string> words;
  bool open = false;
  while (!text.empty()) {
    const char32_t c = TakeCharacter(&text);
    if (c == kBad) continue;
    const bool alone = cut_punctuation && IsIn(kPunctuation, c);
    if (IsIn(kSpaces, c)) {
      open = false;
      continue;
    }
    if (!open || alone) words.emplace_back();
    Append(c, &words.back());
    open = !alone;
  }
  return words;
}

}  // namespace

char32_t TakeCharacter(std::string_view* text) {
  const auto first = static_cast<unsigned char>((*text)[0]);
  const size_t length = first < 0x80   ? 1
                        : first < 0xC2 ? 0
                        : first < 0xE0 ? 2
                        : first < 0xF0 ? 3
                        : first < 0xF5 ? 4
                                       : 0;
  char32_t c = length <= 1 ? first : first & (0xFF >> (length + 1));
  bool good = length > 0 && length <= text->size();
  for (size_t i = 1; good && i < length; ++i) {
    const auto byte = static_cast<unsigned char>((*text)[i]);
    good = (byte & 0xC0) == 0x80;
    c = c << 6 | (byte & 63);
  }
  const bool overlong =
      (length == 3 && c < 0x800) || (length == 4 && (c < 0x10000 || c > 0x10FFFF));
  good = good && !overlong && !(c >= 0xD800 && c <= 0xDFFF);
  text->remove_prefix(good ? length : 1);
  return good ? c : kBad;
}

std::string LowerCase(std::string_view text) {
  std::string lower;
  while (!text.empty()) {
    const char32_t c = TakeCharacter(&text);
    if (c != kBad) Append(Lower(c), &lower);
  }
  return lower;
}

std::string StripAccents(std::string_view text) {
  std::string plain;
  while (!text.empty()) {
    const char32_t c = TakeCharacter(&text);
    if (c != kBad) AppendStripped(c, &plain);
  }
  return plain;
}

std::string BertNormalize(std::string_view text, const BertOptions& options) {
  std::string normal;
  while (!text.empty()) {
    char32_t c = TakeCharacter(&text);
    if (c == kBad) continue;
    if (options.clean && IsIn(kSpaces, c)) c = ' ';
    if (options.clean && c != ' ' && IsIn(kControls, c)) continue;
    const bool cjk = options.cjk && c >= 0x3400 && IsIn(kCjk, c);
    if (cjk) normal += ' ';
    Append(c, &normal);
    if (cjk) normal += ' ';
  }
  if (options.strip) normal = StripAccents(normal);
  return options.lower ? LowerCase(normal) : normal;
}

std::vector<std::string> BertWords(std::string_view text) { return WordsOf(text, true); }
std::vector<std::string> SpaceWords(std::string_view text) { return WordsOf(text, false); }

}  // namespace kb
