#include <sqlite3.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <sstream>
#include <stdexcept>

#include "bench/judge.h"
#include "kb/file.h"

namespace kb::bench {
namespace {

using Base = std::unique_ptr<sqlite3, int (*)(sqlite3*)>;
using Statement = std::unique_ptr<sqlite3_stmt, int (*)(sqlite3_stmt*)>;

Base Open(const std::string& file) {
  std::filesystem::remove(file);
  sqlite3* base = nullptr;
  if (sqlite3_open(file.c_str(), &base) != SQLITE_OK) throw std::runtime_error("open " + file);
  return Base(base, sqlite3_close);
}

void Execute(const Base& base, const char* sql) {
  if (sqlite3_exec(base.get(), sql, nullptr, nullptr, nullptr) != SQLITE_OK) {
    throw std::runtime_error(std::string("FTS5: ") + sqlite3_errmsg(base.get()));
  }
}

Statement Prepare(const Base& base, const char* sql) {
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v2(base.get(), sql, -1, &statement, nullptr) != SQLITE_OK) {
    throw std::runtime_error(std::string("FTS5: ") + sqlite3_errmsg(base.get()));
  }
  return Statement(statement, sqlite3_finalize);
}

void BindText(const Statement& statement, int place, const std::string& text) {
  sqlite3_bind_text(statement.get(), place, text.data(), static_cast<int>(text.size()),
                    SQLITE_TRANSIENT);
}

// The text of each skill: all its Markdown, one after the other.
std::map<std::string, std::string> ReadSkills(const std::string& folder) {
  std::map<std::string, std::string> skills;
  Diagnostics ignored;
  for (const FoundFile& file : FindDocuments(folder, &ignored)) {
    const std::string below = file.path.substr(folder.size() + 1);
    skills[below.substr(0, below.find('/'))] += ReadFile(file.path).value_or("") + "\n";
  }
  return skills;
}

void Fill(const Base& base, const std::string& folder) {
  Execute(base,
          "CREATE VIRTUAL TABLE s USING fts5(name UNINDEXED, text, "
          "tokenize = 'porter unicode61')");
  Execute(base, "BEGIN");
  const Statement insert = Prepare(base, "INSERT INTO s VALUES (?, ?)");
  for (const auto& [name, text] : ReadSkills(folder)) {
    BindText(insert, 1, name);
    BindText(insert, 2, text);
    if (sqlite3_step(insert.get()) != SQLITE_DONE) throw std::runtime_error("FTS5: insert failed");
    sqlite3_reset(insert.get());
  }
  Execute(base, "COMMIT");
}

bool IsWordByte(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte >= 0x80 || std::isalnum(byte) != 0;
}

// "a" OR "b": each word once.
std::string MatchOf(const std::string& question) {
  std::vector<std::string> words;
  std::string word;
  for (const char c : question + " ") {
    if (IsWordByte(c)) {
      word += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    } else if (!word.empty()) {
      if (std::ranges::find(words, word) == words.end()) words.push_back(word);
      word.clear();
    }
  }
  std::string match;
  for (const std::string& w : words) match += (match.empty() ? "\"" : " OR \"") + w + "\"";
  return match;
}

Ranking Ask(const Statement& select, const std::string& question) {
  Ranking ranking;
  sqlite3_reset(select.get());
  BindText(select, 1, MatchOf(question));
  while (sqlite3_step(select.get()) == SQLITE_ROW) {
    if (ranking.skills.empty()) ranking.confidence = -sqlite3_column_double(select.get(), 1);
    ranking.skills.emplace_back(
        reinterpret_cast<const char*>(sqlite3_column_text(select.get(), 0)));
  }
  return ranking;
}

}  // namespace

Fts5 JudgeFts5(const std::string& folder, const std::string& file,
               const std::vector<Question>& questions) {
  Fts5 result;
  const double start = SecondsNow();
  const Base base = Open(file);
  Fill(base, folder);
  result.index_s = SecondsNow() - start;
  result.size_mib = static_cast<double>(std::filesystem::file_size(file)) / (1 << 20);
  const Statement select =
      Prepare(base, "SELECT name, bm25(s) FROM s WHERE s MATCH ? ORDER BY rank LIMIT 10");
  result.quality = JudgeAll(questions, [&](const std::string& text) { return Ask(select, text); });
  return result;
}

}  // namespace kb::bench
