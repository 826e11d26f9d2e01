#include "kb/catalog.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>

#include "tests/kb/catalog_fixture.h"

namespace kb {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Read = CatalogTest;
using Write = CatalogTest;

void ExpectEqual(const CatalogDocument& a, const CatalogDocument& b) {
  EXPECT_EQ(std::tie(a.root, a.path, a.bundle, a.stamp, a.sha256, a.kind, a.id, a.title),
            std::tie(b.root, b.path, b.bundle, b.stamp, b.sha256, b.kind, b.id, b.title));
  EXPECT_EQ(std::tie(a.description, a.scope.arch, a.scope.cuda, a.scope.dtypes, a.scope.bound,
                     a.scope.topics, a.license, a.state, a.blocked),
            std::tie(b.description, b.scope.arch, b.scope.cuda, b.scope.dtypes, b.scope.bound,
                     b.scope.topics, b.license, b.state, b.blocked));
}

TEST_F(Write, WhatIsPutIsReadBack) {
  CatalogDocument document = SomeDocument("a.md");
  std::string text("ab\0\xff\n", 5);
  Diagnostics diagnostics = {{Severity::kBlock, "rule", "a.md", 7, "message", "mend"}};
  Catalog writer(dir_, kWrite);
  writer.BeginWrite();
  document.blocked = true;
  int64_t row = writer.Put(document, text, SomeChunks(), diagnostics);
  writer.SetMeta("embedder", "lsa");
  writer.SetMeta("embedder", "none");
  writer.Commit(12);

  Catalog reader(dir_, kRead);
  ASSERT_EQ(reader.Documents().size(), 1u);
  ExpectEqual(reader.Documents()[0], document);
  ASSERT_TRUE(reader.DocumentByRow(row));
  ExpectEqual(*reader.DocumentByRow(row), document);
  EXPECT_EQ(reader.DocumentByRow(row)->row, row);
  EXPECT_FALSE(reader.DocumentByRow(row + 1));
  EXPECT_EQ(reader.Text(row), text);
  EXPECT_EQ(reader.Generation(), 12);
  EXPECT_EQ(reader.Meta("embedder"), "none");
  EXPECT_EQ(reader.Meta("unknown"), "");

  std::vector<Chunk> chunks = reader.Chunks(row);
  ASSERT_EQ(chunks.size(), 2u);
  EXPECT_EQ(chunks[0].id, "00000001");
  EXPECT_EQ(chunks[0].heading, "A > B");
  EXPECT_EQ(chunks[0].first_line, 1);
  EXPECT_EQ(chunks[0].last_line, 2);
  EXPECT_EQ(chunks[0].begin, 0);
  EXPECT_EQ(chunks[0].end, 3);
  ASSERT_TRUE(reader.ChunkByOrdinal(row, 1));
  EXPECT_EQ(reader.ChunkByOrdinal(row, 1)->id, "00000002");
  EXPECT_FALSE(reader.ChunkByOrdinal(row, 2));

  Diagnostics found = reader.AllDiagnostics();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(FormatDiagnostic(found[0]), FormatDiagnostic(diagnostics[0]));
  EXPECT_EQ(found[0].severity, Severity::kBlock);
}

TEST_F(Write, PutReplacesTheDocumentOfTheSamePathUnderANewRow) {
  Catalog catalog(dir_, kWrite);
  catalog.BeginWrite();
  int64_t old_row = catalog.Put(SomeDocument("a.md"), "ab\ncd", SomeChunks(),
                                {{Severity::kNote, "old", "a.md", 1, "", ""}});
  int64_t new_row = catalog.Put(SomeDocument("a.md"), "newer", {}, {});
  catalog.Commit(1);
  EXPECT_NE(old_row, new_row);
  EXPECT_EQ(catalog.Documents().size(), 1u);
  EXPECT_EQ(catalog.Text(new_row), "newer");
  EXPECT_EQ(catalog.Text(old_row), "");
  EXPECT_THAT(catalog.Chunks(old_row), IsEmpty());
  EXPECT_THAT(catalog.AllDiagnostics(), IsEmpty());
}

TEST_F(Write, ARemovedRowIsNeverGivenAgain) {
  Catalog catalog(dir_, kWrite);
  catalog.BeginWrite();
  int64_t row = catalog.Put(SomeDocument("a.md"), "ab\ncd", SomeChunks(), {});
  catalog.Remove(row);
  EXPECT_GT(catalog.Put(SomeDocument("b.md"), "", {}, {}), row);
  catalog.Commit(1);
  EXPECT_FALSE(catalog.DocumentByRow(row));
}

TEST_F(Write, TouchChangesTheStampAlone) {
  Fill(1);
  Catalog catalog(dir_, kWrite);
  CatalogDocument document = catalog.Documents()[0];
  catalog.BeginWrite();
  document.stamp = {.size_bytes = 9, .mtime_ns = 8, .inode = 7};
  catalog.Touch(document.row, document.stamp);
  catalog.Commit(2);
  ExpectEqual(catalog.Documents()[0], document);
  EXPECT_EQ(catalog.Text(document.row), "ab\ncd");
}

TEST_F(Write, ScanDiagnosticsReplaceEarlierOnesAndSortByPathAndLine) {
  Catalog catalog(dir_, kWrite);
  catalog.BeginWrite();
  catalog.Put(
      SomeDocument("m.md"), "", {},
      {{Severity::kError, "two", "m.md", 2, "", ""}, {Severity::kError, "one", "m.md", 1, "", ""}});
  catalog.PutScanDiagnostics({{Severity::kError, "gone", "x.md", 0, "", ""}});
  catalog.PutScanDiagnostics({{Severity::kError, "last", "z.md", 0, "", ""},
                              {Severity::kError, "first", "a.md", 0, "", ""}});
  catalog.Commit(1);
  std::vector<std::string> rules;
  for (const Diagnostic& diagnostic : catalog.AllDiagnostics()) rules.push_back(diagnostic.rule);
  EXPECT_THAT(rules, ElementsAre("first", "one", "two", "last"));
}

TEST_F(Write, WithoutCommitNothingStays) {
  Fill(1);
  {
    Catalog catalog(dir_, kWrite);
    catalog.BeginWrite();
    catalog.Clear();
    catalog.Put(SomeDocument("b.md"), "", {}, {});
    EXPECT_EQ(catalog.Documents().size(), 1u);
  }
  Catalog catalog(dir_, kWrite);
  EXPECT_EQ(catalog.Documents()[0].path, "d0.md");
  EXPECT_EQ(catalog.Generation(), 1);
  catalog.BeginWrite();
  catalog.Remove(catalog.Documents()[0].row);
  catalog.BeginWrite();  // drops the removal
  catalog.Commit(2);
  EXPECT_EQ(catalog.Documents().size(), 1u);
}

TEST_F(Write, APutThatFailsLeavesNothingOfTheTransaction) {
  Fill(1);
  Catalog catalog(dir_, kWrite);
  catalog.BeginWrite();
  catalog.Put(SomeDocument("good.md"), "", {}, {});
  // Larger than SQLite takes; nothing behind it is ever read.
  size_t size = size_t{3} << 30;
  void* nothing =
      mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ASSERT_NE(nothing, MAP_FAILED);
  std::string_view huge(static_cast<const char*>(nothing), size);
  EXPECT_THAT(What([&] { catalog.Put(SomeDocument("huge.md"), huge, {}, {}); }),
              HasSubstr("too big"));
  munmap(nothing, size);
  EXPECT_EQ(catalog.Documents().size(), 1u);
  EXPECT_THAT(What([&] { catalog.Commit(2); }), HasSubstr("BeginWrite"));
}

TEST_F(Write, OutsideBeginWriteIsRefused) {
  Catalog catalog(dir_, kWrite);
  EXPECT_THAT(What([&] { catalog.Put(SomeDocument("a.md"), "", {}, {}); }),
              HasSubstr("BeginWrite"));
  EXPECT_THAT(What([&] { catalog.Commit(1); }), HasSubstr("BeginWrite"));
  Fill(1);
  Catalog reader(dir_, kRead);
  EXPECT_THAT(What([&] { reader.BeginWrite(); }), HasSubstr("opened for reading"));
}

TEST_F(Write, ASecondWriterWaitsThenSaysSo) {
  Catalog one(dir_, kWrite);
  Catalog two(dir_, kWrite);
  one.BeginWrite();
  auto start = std::chrono::steady_clock::now();
  int status = InChild([&] {
    Catalog other(dir_, kWrite);
    return What([&] { other.BeginWrite(); }).find("another kb process") != std::string::npos ? 0
                                                                                             : 1;
  });
  EXPECT_EQ(status, 0);
  EXPECT_GE(std::chrono::steady_clock::now() - start, std::chrono::seconds(4));
}

TEST_F(Read, FindsById_ThenByPath_SkillsFirst) {
  Catalog catalog(dir_, kWrite);
  catalog.BeginWrite();
  CatalogDocument page = SomeDocument("a.md", Kind::kPage);
  page.id = "same";
  CatalogDocument skill = SomeDocument("z.md", Kind::kSkill);
  skill.id = "same";
  CatalogDocument named_like_a_path = SomeDocument("x.md", Kind::kTrace);
  named_like_a_path.id = "a.md";
  for (const auto& document : {page, skill, named_like_a_path}) catalog.Put(document, "", {}, {});
  catalog.Commit(1);
  EXPECT_EQ(catalog.FindDocument("same")->path, "z.md");
  EXPECT_EQ(catalog.FindDocument("a.md")->path, "x.md");
  EXPECT_EQ(catalog.FindDocument("z.md")->path, "z.md");
  EXPECT_FALSE(catalog.FindDocument("sam"));
  EXPECT_FALSE(catalog.FindDocument(""));
}

// In generation g there are g documents, all of which say "g".
void WriteGenerations(const std::string& dir, int first, int last) {
  Catalog writer(dir, kWrite);
  for (int generation = first; generation <= last; ++generation) {
    writer.BeginWrite();
    writer.Clear();
    for (int i = 0; i < generation; ++i) {
      writer.Put(SomeDocument(std::to_string(i)), std::to_string(generation), {}, {});
    }
    writer.Commit(generation);
  }
}

TEST_F(Read, SeesOneGenerationWhileAnotherIsCommitted) {
  Fill(2);
  Catalog reader(dir_, kRead);
  reader.BeginRead();
  EXPECT_EQ(reader.Generation(), 1);
  Catalog writer(dir_, kWrite);
  writer.BeginWrite();
  writer.Clear();
  EXPECT_EQ(reader.Documents().size(), 2u);
  writer.Commit(2);
  EXPECT_EQ(reader.Generation(), 1);
  EXPECT_EQ(reader.Documents().size(), 2u);
  EXPECT_EQ(reader.Text(reader.Documents()[0].row), "ab\ncd");
  reader.EndRead();
  EXPECT_EQ(reader.Generation(), 2);
  EXPECT_THAT(reader.Documents(), IsEmpty());
}

TEST_F(Read, BeginReadDecidesTheGenerationNotTheFirstRead) {
  Fill(1);
  Catalog reader(dir_, kRead);
  reader.BeginRead();
  WriteGenerations(dir_, 2, 2);
  EXPECT_EQ(reader.Documents().size(), 1u);
  reader.EndRead();
  EXPECT_EQ(reader.Documents().size(), 2u);
}

TEST_F(Read, BeginReadAndEndReadMayBeRepeated) {
  Fill(1);
  Catalog reader(dir_, kRead);
  reader.EndRead();
  reader.BeginRead();
  reader.BeginRead();
  EXPECT_EQ(reader.Generation(), 1);
  reader.EndRead();
  reader.EndRead();
  EXPECT_EQ(reader.Generation(), 1);
}

TEST_F(Read, AnotherProcessThatWritesNeverMixesGenerations) {
  WriteGenerations(dir_, 1, 1);
  pid_t writer = fork();
  if (writer == 0) {
    WriteGenerations(dir_, 2, 60);
    _exit(0);
  }
  int64_t last = 1;
  Catalog reader(dir_, kRead);
  for (bool running = true; running;) {
    running = waitpid(writer, nullptr, WNOHANG) == 0;
    reader.BeginRead();
    int64_t generation = reader.Generation();
    std::vector<CatalogDocument> documents = reader.Documents();
    ASSERT_EQ(static_cast<int64_t>(documents.size()), generation);
    for (const auto& document : documents) {
      ASSERT_EQ(reader.Text(document.row), std::to_string(generation));
    }
    reader.EndRead();
    ASSERT_GE(generation, last);
    last = generation;
  }
  EXPECT_EQ(last, 60);
}

TEST_F(Write, ManyDocumentsAreFastToWriteAndToOpen) {
  using Clock = std::chrono::steady_clock;
  auto seconds = [](Clock::time_point since) {
    return std::chrono::duration<double>(Clock::now() - since).count();
  };
  std::string text(11'000, 'x');
  std::vector<Chunk> chunks(10, Chunk{"12345678", "Heading > Another", 1, 9, 0, 1000});
  auto start = Clock::now();
  {
    Catalog writer(dir_, kWrite);
    writer.BeginWrite();
    for (int i = 0; i < 1477; ++i) {
      writer.Put(SomeDocument("skills/" + std::to_string(i) + "/SKILL.md"), text, chunks, {});
    }
    writer.Commit(1);
  }
  double write_s = seconds(start);
  double open_s = 1e9;
  for (int i = 0; i < 10; ++i) {
    start = Clock::now();
    Catalog reader(dir_, kRead);
    reader.BeginRead();
    EXPECT_TRUE(reader.DocumentByRow(700));
    open_s = std::min(open_s, seconds(start));
  }
  start = Clock::now();
  EXPECT_EQ(Catalog(dir_, kRead).Documents().size(), 1477u);
  printf("written in %.3f s, opened in %.2f ms, listed in %.1f ms\n", write_s, open_s * 1e3,
         seconds(start) * 1e3);
  // Ten times what was asked for: sanitizers and busy machines.
  EXPECT_LT(write_s, 4.0);
  EXPECT_LT(open_s, 0.015);
}

}  // namespace
}  // namespace kb
