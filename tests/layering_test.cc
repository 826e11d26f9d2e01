// The rules of the tree that a machine can check: who includes whom, where third-party
// headers are let in, how long a file gets.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

using Sources = std::map<std::string, std::string>;  // path from the top -> text
using Faults = std::vector<std::string>;             // one line each, with the path

constexpr int kMaxLines = 500;

struct Layer {
  std::string_view name;
  std::string_view below;  // what it may include besides itself, each with a space behind
};
constexpr Layer kLayers[] = {
    {"kb", ""}, {"indexer", "kb "}, {"tdd", "kb "}, {"cli", "kb indexer tdd "}};

// A header belongs to the library if its name begins with one of `prefixes`.
struct Library {
  std::string_view name;
  std::vector<std::string_view> prefixes;
};
const Library kLibraries[] = {
    {"SQLite", {"sqlite3"}},
    {"cmark", {"cmark"}},
    {"yaml-cpp", {"yaml-cpp/"}},
    {"the JSON library", {"nlohmann/"}},
    {"libmd", {"sha2.h", "sha256.h", "sha512.h", "md5.h", "libmd"}},
    {"faiss", {"faiss/"}},
    {"OpenMP", {"omp.h"}},
    {"BLAS and LAPACK", {"cblas", "lapack", "openblas"}},
    {"curl", {"curl/"}},
    {"the HTTP library", {"httplib"}},
    {"CLI11", {"CLI/"}},
    {"NVRTC", {"nvrtc"}},
    {"the CUDA runtime", {"cuda", "driver_types"}},
    {"NVML", {"nvml"}},
    {"CUPTI", {"cupti"}},
};

// Where a second real implementation exists or a test needs a fake.
constexpr std::string_view kInterfaces[] = {"indexer/embedder.h", "tdd/toolchain.h", "tdd/judge.h",
                                            "tdd/runner.h"};

std::string_view LayerOf(std::string_view path) { return path.substr(0, path.find('/')); }

const Layer* FindLayer(std::string_view name) {
  for (const Layer& layer : kLayers) {
    if (layer.name == name) return &layer;
  }
  return nullptr;
}

bool IsHeader(std::string_view path) { return path.ends_with(".h"); }

struct Include {
  std::string target;
  bool quoted;
};

std::vector<Include> Includes(const std::string& text) {
  std::vector<Include> includes;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    size_t at = line.find_first_not_of(" \t");
    if (at == std::string::npos || line[at] != '#') continue;
    at = line.find_first_not_of(" \t", at + 1);
    if (at == std::string::npos || line.compare(at, 7, "include") != 0) continue;
    size_t begin = line.find_first_of("<\"", at);
    size_t end = begin == std::string::npos ? begin : line.find_first_of(">\"", begin + 1);
    if (end == std::string::npos) continue;
    includes.push_back({line.substr(begin + 1, end - begin - 1), line[begin] == '"'});
  }
  return includes;
}

Faults CheckIncludesGoDown(const Sources& sources) {
  Faults faults;
  for (const auto& [path, text] : sources) {
    const Layer* from = FindLayer(LayerOf(path));
    if (from == nullptr) continue;
    for (const Include& include : Includes(text)) {
      const Layer* to = FindLayer(LayerOf(include.target));
      bool ours = to != nullptr && include.target.find('/') != std::string::npos &&
                  (include.quoted || sources.count(include.target) > 0);
      if (!ours && include.quoted) {
        faults.push_back(path + ": \"" + include.target + "\" is not written from the top folder");
      } else if (ours && to != from &&
                 from->below.find(std::string(to->name) + " ") == std::string_view::npos) {
        faults.push_back(path + ": " + std::string(from->name) + " must not include " +
                         include.target);
      }
    }
  }
  return faults;
}

bool BelongsTo(const Library& library, std::string_view target) {
  for (std::string_view prefix : library.prefixes) {
    if (target.starts_with(prefix)) return true;
  }
  return false;
}

Faults CheckAdapters(const Sources& sources) {
  Faults faults;
  for (const Library& library : kLibraries) {
    std::set<std::string> users;
    for (const auto& [path, text] : sources) {
      if (FindLayer(LayerOf(path)) == nullptr) continue;
      for (const Include& include : Includes(text)) {
        if (!include.quoted && BelongsTo(library, include.target)) users.insert(path);
      }
    }
    std::string all;
    for (const std::string& path : users) {
      all += " " + path;
      if (IsHeader(path))
        faults.push_back(path + ": a header includes " + std::string(library.name));
    }
    if (users.size() > 1) {
      faults.push_back(std::string(library.name) + " has more than one adapter:" + all);
    }
  }
  return faults;
}

// What every layer may use, but no header of ours: it would be in all of them.
Faults CheckFmtStaysOutOfHeaders(const Sources& sources) {
  Faults faults;
  for (const auto& [path, text] : sources) {
    for (const Include& include : Includes(text)) {
      if (IsHeader(path) && include.target.starts_with("fmt/")) {
        faults.push_back(path + ": a header includes " + include.target);
      }
    }
  }
  return faults;
}

Faults CheckLengths(const Sources& sources) {
  Faults faults;
  for (const auto& [path, text] : sources) {
    auto lines = std::count(text.begin(), text.end(), '\n');
    if (lines > kMaxLines) {
      faults.push_back(path + ": " + std::to_string(lines) + " lines; look for the second noun");
    }
  }
  return faults;
}

Faults CheckInterfaces(const Sources& sources) {
  Faults faults;
  for (const auto& [path, text] : sources) {
    bool allowed = std::count(std::begin(kInterfaces), std::end(kInterfaces), path) > 0;
    if (allowed || FindLayer(LayerOf(path)) == nullptr) continue;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      size_t at = line.find("virtual ");
      if (at != std::string::npos && line.find("//") > at) {
        faults.push_back(path + ": a virtual interface; see tests/layering_test.cc");
        break;
      }
    }
  }
  return faults;
}

Faults CheckHeadersSayWhatTheyAre(const Sources& sources) {
  Faults faults;
  for (const auto& [path, text] : sources) {
    if (!IsHeader(path)) continue;
    if (!text.starts_with("// ")) faults.push_back(path + ": does not begin with what it is");
    if (text.find("\n#pragma once\n") == std::string::npos) {
      faults.push_back(path + ": has no #pragma once");
    }
  }
  return faults;
}

Sources ReadTree() {
  Sources sources;
  fs::path top = KB_SOURCE_DIR;
  for (const char* folder : {"kb", "indexer", "tdd", "cli", "tests", "bench"}) {
    if (!fs::exists(top / folder)) continue;
    for (const auto& entry : fs::recursive_directory_iterator(top / folder)) {
      fs::path extension = entry.path().extension();
      if (!entry.is_regular_file() || (extension != ".cc" && extension != ".h")) continue;
      std::ostringstream text;
      text << std::ifstream(entry.path()).rdbuf();
      sources[entry.path().lexically_relative(top).generic_string()] = text.str();
    }
  }
  return sources;
}

class Tree : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { sources_ = new Sources(ReadTree()); }
  static void TearDownTestSuite() { delete sources_; }
  static Sources* sources_;
};
Sources* Tree::sources_ = nullptr;

TEST_F(Tree, IsReadWhole) {
  for (const Layer& layer : kLayers) {
    auto in_layer = [&](const auto& source) { return LayerOf(source.first) == layer.name; };
    EXPECT_GT(std::count_if(sources_->begin(), sources_->end(), in_layer), 1) << layer.name;
  }
  EXPECT_EQ(sources_->count("kb/catalog.h"), 1u);
}
TEST_F(Tree, IncludesGoDownOnly) { EXPECT_THAT(CheckIncludesGoDown(*sources_), IsEmpty()); }
TEST_F(Tree, EachLibraryHasOneAdapter) { EXPECT_THAT(CheckAdapters(*sources_), IsEmpty()); }
TEST_F(Tree, FmtStaysOutOfHeaders) { EXPECT_THAT(CheckFmtStaysOutOfHeaders(*sources_), IsEmpty()); }
TEST_F(Tree, FilesAreShort) { EXPECT_THAT(CheckLengths(*sources_), IsEmpty()); }
TEST_F(Tree, InterfacesAreFew) { EXPECT_THAT(CheckInterfaces(*sources_), IsEmpty()); }
TEST_F(Tree, HeadersSayWhatTheyAre) {
  EXPECT_THAT(CheckHeadersSayWhatTheyAre(*sources_), IsEmpty());
}

TEST(CheckIncludesGoDown, AllowsWhatTheLayersAllow) {
  Sources sources = {
      {"cli/a.cc",
       "#include <string>\n#include \"indexer/x.h\"\n#include \"tdd/y.h\"\n"
       "#include \"cli/b.h\"\n#include \"kb/z.h\"\n"},
      {"indexer/a.cc", "#include \"kb/z.h\"\n#include \"indexer/x.h\"\n"},
      {"tdd/a.cc", "#include \"kb/z.h\"\n"},
      {"kb/a.cc", "// #include \"cli/b.h\"\nconst char* s = \"#include \\\"cli/b.h\\\"\";\n"},
      {"tests/a.cc", "#include \"cli/b.h\"\n#include \"kb/z.h\"\n"}};
  EXPECT_THAT(CheckIncludesGoDown(sources), IsEmpty());
}

struct Planted {
  const char* path;
  const char* text;
};
class IncludesUp : public ::testing::TestWithParam<Planted> {};

TEST_P(IncludesUp, AreCaught) {
  Sources sources = {{"cli/b.h", ""}, {GetParam().path, GetParam().text}};
  EXPECT_THAT(CheckIncludesGoDown(sources), ElementsAre(HasSubstr(GetParam().path)));
}

INSTANTIATE_TEST_SUITE_P(Planted, IncludesUp,
                         ::testing::Values(Planted{"kb/a.cc", "#include \"indexer/x.h\"\n"},
                                           Planted{"kb/a.h", "  #  include \"tdd/x.h\"\n"},
                                           Planted{"kb/a.cc", "#include <cli/b.h>\n"},
                                           Planted{"indexer/a.cc", "#include \"tdd/x.h\"\n"},
                                           Planted{"tdd/a.cc", "#include \"indexer/x.h\"\n"},
                                           Planted{"tdd/a.cc", "#include \"cli/x.h\"\n"},
                                           Planted{"kb/a.cc", "#include \"../indexer/x.h\"\n"},
                                           Planted{"kb/a.cc", "#include \"x.h\"\n"}));

TEST(CheckAdapters, CatchesASecondAdapterAndAHeader) {
  Sources one = {{"kb/db.cc", "#include <sqlite3.h>\n#include <sqlite3ext.h>\n"},
                 {"indexer/v.cc", "#include <faiss/IndexFlat.h>\n"},
                 {"tests/t.cc", "#include <sqlite3.h>\n"}};
  EXPECT_THAT(CheckAdapters(one), IsEmpty());
  Sources two = one;
  two["cli/x.cc"] = "#include <faiss/Index.h>\n";
  EXPECT_THAT(CheckAdapters(two), ElementsAre(HasSubstr("cli/x.cc indexer/v.cc")));
  Sources header = {{"tdd/x.h", "#include <cuda_runtime.h>\n"}};
  EXPECT_THAT(CheckAdapters(header), ElementsAre(HasSubstr("tdd/x.h")));
}

TEST(CheckFmtStaysOutOfHeaders, CatchesIt) {
  Sources sources = {{"kb/a.cc", "#include <fmt/format.h>\n"},
                     {"kb/b.h", "#include <fmt/format.h>\n"}};
  EXPECT_THAT(CheckFmtStaysOutOfHeaders(sources), ElementsAre(HasSubstr("kb/b.h")));
}

TEST(CheckLengths, CatchesALineTooMany) {
  Sources sources = {{"kb/a.cc", std::string(kMaxLines, '\n')},
                     {"kb/b.cc", std::string(kMaxLines + 1, '\n')}};
  EXPECT_THAT(CheckLengths(sources), ElementsAre(HasSubstr("kb/b.cc")));
}

TEST(CheckInterfaces, CatchesANewOne) {
  Sources sources = {{"indexer/embedder.h", "  virtual ~Embedder() = default;\n"},
                     {"kb/a.h", "// no virtual calls here\n"},
                     {"kb/b.h", "  virtual int F() = 0;  // why\n"}};
  EXPECT_THAT(CheckInterfaces(sources), ElementsAre(HasSubstr("kb/b.h")));
}

TEST(CheckHeadersSayWhatTheyAre, CatchesAHeaderWithoutAComment) {
  Sources sources = {{"kb/a.h", "// What it is.\n#pragma once\n"},
                     {"kb/b.h", "\n#pragma once\n"},
                     {"kb/c.h", "// What it is.\n"}};
  EXPECT_THAT(CheckHeadersSayWhatTheyAre(sources),
              ElementsAre(HasSubstr("kb/b.h"), HasSubstr("kb/c.h")));
}

}  // namespace
