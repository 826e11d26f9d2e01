#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "kb/catalog.h"
#include "tests/kb/catalog_fixture.h"

namespace kb {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Open = CatalogTest;
using Crash = CatalogTest;

TEST_F(Open, ForReadingAsksForAnIndexWhereThereIsNone) {
  EXPECT_THAT(What([&] { Catalog(dir_, kRead); }), HasSubstr("run kb index"));
  EXPECT_THAT(What([&] { Catalog(dir_ + "/none", kRead); }), HasSubstr("run kb index"));
  EXPECT_FALSE(fs::exists(dir_ + "/none"));
  std::ofstream(file()).close();  // as a writer leaves it that is killed while it creates
  EXPECT_THAT(What([&] { Catalog(dir_, kRead); }), HasSubstr("run kb index"));
}

TEST_F(Open, ForWritingCreatesTheFolderAndAnEmptyCatalog) {
  Catalog writer(dir_ + "/deep/.kb", kWrite);
  Catalog reader(dir_ + "/deep/.kb", kRead);
  EXPECT_EQ(reader.Generation(), 0);
  EXPECT_THAT(reader.Documents(), IsEmpty());
}

TEST_F(Open, HandlesNamesThatMeanSomethingInAnUri) {
  std::string odd = dir_ + "/50%?mode=memory&x#y \xc3\xa9";
  { Catalog writer(odd, kWrite); }
  EXPECT_EQ(Catalog(odd, kRead).Generation(), 0);
  EXPECT_TRUE(fs::exists(odd + "/catalog.sqlite"));
}

struct Damaging {
  const char* name;
  int64_t offset, count;
};
class OpenDamaged : public CatalogTest, public ::testing::WithParamInterface<Damaging> {};

TEST_P(OpenDamaged, ReadingSaysRebuildAndWritingReplacesIt) {
  Fill(20);
  Damage(GetParam().offset, GetParam().count);
  EXPECT_THAT(What([&] { (void)Catalog(dir_, kRead).Documents(); }),
              HasSubstr("kb index --rebuild"));
  EXPECT_EQ(Catalog(dir_, kWrite).Generation(), 0);
  EXPECT_THAT(Catalog(dir_, kRead).Documents(), IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(Header, OpenDamaged,
                         ::testing::Values(Damaging{"NoDatabase", 0, 16},
                                           Damaging{"OtherVersion", 60, 4},
                                           Damaging{"OtherApplication", 68, 4},
                                           Damaging{"Schema", 100, 3000},
                                           Damaging{"Everything", 0, -1}),
                         [](const auto& test) { return test.param.name; });

TEST_F(Open, ATruncatedCatalogIsReplaced) {
  Fill(200);
  fs::resize_file(file(), 5000);
  EXPECT_THAT(What([&] { (void)Catalog(dir_, kRead).Documents(); }),
              HasSubstr("kb index --rebuild"));
  Catalog writer(dir_, kWrite);
  writer.BeginWrite();
  writer.Clear();
  writer.Commit(1);
  EXPECT_THAT(writer.Documents(), IsEmpty());
}

TEST_F(Open, DamageFurtherInIsAnErrorAndClearMendsIt) {
  Fill(400);
  Damage(8192, -1);
  EXPECT_THAT(What([&] {
                Catalog reader(dir_, kRead);
                for (const auto& document : reader.Documents()) (void)reader.Chunks(document.row);
              }),
              HasSubstr("kb index --rebuild"));
  Catalog writer(dir_, kWrite);
  writer.BeginWrite();
  writer.Clear();
  writer.Put(SomeDocument("new.md"), "ab\ncd", SomeChunks(), {});
  writer.Commit(5);
  EXPECT_EQ(Catalog(dir_, kRead).Documents()[0].path, "new.md");
  EXPECT_EQ(Catalog(dir_, kRead).Documents().size(), 1u);
}

TEST_F(Open, ClearMendsADamagedPageWhicheverItIs) {
  for (int page = 1; page < 14; ++page) {  // the schema, the roots of all tables, some leaves
    SCOPED_TRACE(page);
    Fill(100);
    Damage(page * 4096, 4096);
    {
      Catalog writer(dir_, kWrite);
      writer.BeginWrite();
      writer.Clear();
      for (int i = 0; i < 100; ++i) writer.Put(SomeDocument(std::to_string(i)), "ab", {}, {});
      writer.Commit(2);
    }
    EXPECT_EQ(Catalog(dir_, kRead).Documents().size(), 100u);
    fs::remove(file());
  }
}

TEST_F(Open, DamageInFreePagesIsMendedByClear) {
  Fill(400);
  {
    Catalog writer(dir_, kWrite);
    writer.BeginWrite();
    writer.Clear();
    writer.Commit(2);
  }
  Damage(20 * 4096, -1);
  Catalog writer(dir_, kWrite);
  writer.BeginWrite();
  writer.Clear();
  for (int i = 0; i < 400; ++i) writer.Put(SomeDocument(std::to_string(i)), "ab\ncd", {}, {});
  writer.Commit(3);
  EXPECT_EQ(Catalog(dir_, kRead).Documents().size(), 400u);
}

TEST_F(Open, WhatAKilledWriterLeftIsNotTakenForTheNewCatalogs) {
  Fill(3);
  EXPECT_EQ(InChild([&] {
              Catalog writer(dir_, kWrite);
              writer.BeginWrite();
              writer.Put(SomeDocument("more.md"), "", {}, {});
              writer.Commit(2);
              return raise(SIGKILL);
            }),
            128 + SIGKILL);
  ASSERT_GT(fs::file_size(file() + "-wal"), 0u);
  fs::resize_file(file() + "-wal", 100);
  Damage(0, -1);
  EXPECT_EQ(Catalog(dir_, kWrite).Generation(), 0);
  EXPECT_THAT(Catalog(dir_, kRead).Documents(), IsEmpty());
}

TEST_F(Open, AFolderInItsPlaceIsAnErrorWithThePath) {
  fs::create_directories(file() + "/x");
  EXPECT_THAT(What([&] { Catalog(dir_, kWrite); }), HasSubstr(file()));
  EXPECT_THAT(What([&] { Catalog(dir_, kRead); }), HasSubstr(file()));
  EXPECT_TRUE(fs::exists(file() + "/x"));
}

TEST_F(Open, ARangeOutsideTheTextIsDamage) {
  Catalog catalog(dir_, kWrite);
  catalog.BeginWrite();
  int64_t row = catalog.Put(SomeDocument("a.md"), "abc", {{"00000001", "", 1, 1, 0, 4}}, {});
  catalog.Commit(1);
  EXPECT_THAT(What([&] { (void)catalog.Chunks(row); }), HasSubstr("kb index --rebuild"));
  EXPECT_THAT(What([&] { (void)catalog.ChunkByOrdinal(row, 0); }), HasSubstr("kb index --rebuild"));
}

// Root may write everywhere, so the child gives that up first.
int AsNobody(const std::function<int()>& action) {
  return InChild([&] {
    if (getuid() == 0 && setuid(65534) != 0) return 98;
    return action();
  });
}

TEST_F(Open, ForReadingWorksInAFolderThatMayOnlyBeRead) {
  Fill(3);
  ASSERT_FALSE(fs::exists(file() + "-wal"));
  fs::permissions(file(), fs::perms(0444));
  fs::permissions(dir_, fs::perms(0555));
  EXPECT_EQ(AsNobody([&] {
              Catalog reader(dir_, kRead);
              reader.BeginRead();
              bool good = reader.Documents().size() == 3 && reader.Generation() == 1;
              reader.EndRead();
              return good ? 0 : 1;
            }),
            0);
  fs::permissions(dir_, fs::perms(0755));
  EXPECT_FALSE(fs::exists(file() + "-wal"));
}

TEST_F(Open, AnotherUserReadsWhatTheOwnerGoesOnWriting) {
  Fill(1);
  fs::permissions(dir_, fs::perms(0755));
  Catalog writer(dir_, kWrite);
  writer.BeginWrite();
  writer.Put(SomeDocument("more.md"), "", {}, {});
  writer.Commit(2);  // in the -wal file as long as the writer has it open
  EXPECT_EQ(AsNobody([&] { return static_cast<int>(Catalog(dir_, kRead).Documents().size()); }), 2);
}

// The owner's kb of another version has made the catalog anew, in another file.
TEST_F(Crash, AReaderLeftOpenOnAnUnwritableFolderFollowsAReplacedCatalog) {
  Fill(1);
  fs::permissions(dir_, fs::perms(0755));
  int to_child[2], to_parent[2];
  ASSERT_EQ(pipe(to_child) + pipe(to_parent), 0);
  pid_t child = fork();
  if (child == 0) {
    if (getuid() == 0 && setuid(65534) != 0) _exit(98);
    Catalog reader(dir_, kRead);
    char c = static_cast<char>(reader.Documents().size());
    if (write(to_parent[1], &c, 1) != 1 || read(to_child[0], &c, 1) != 1) _exit(97);
    reader.BeginRead();
    _exit(static_cast<int>(reader.Documents().size()));
  }
  char c = 0;
  ASSERT_EQ(read(to_parent[0], &c, 1), 1);
  EXPECT_EQ(c, 1);
  fs::remove(file());
  Fill(2);
  ASSERT_EQ(write(to_child[1], "x", 1), 1);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 2);
  for (int fd : {to_child[0], to_child[1], to_parent[0], to_parent[1]}) close(fd);
}

TEST_F(Crash, AWriterKilledInTheMiddleLeavesTheOldGeneration) {
  Fill(3);
  EXPECT_EQ(InChild([&] {
              Catalog writer(dir_, kWrite);
              writer.BeginWrite();
              writer.Clear();
              // More than the page cache holds, so that part of it is in the -wal file.
              std::string text(1 << 20, 'x');
              for (int i = 0; i < 8; ++i) {
                writer.Put(SomeDocument("n" + std::to_string(i)), text, {}, {});
              }
              return raise(SIGKILL);
            }),
            128 + SIGKILL);
  EXPECT_GT(fs::file_size(file() + "-wal"), 1u << 20);
  {
    Catalog reader(dir_, kRead);
    EXPECT_EQ(reader.Generation(), 1);
    EXPECT_EQ(reader.Documents().size(), 3u);
  }
  Catalog writer(dir_, kWrite);
  writer.BeginWrite();
  writer.Put(SomeDocument("next.md"), "", {}, {});
  writer.Commit(2);
  EXPECT_EQ(Catalog(dir_, kRead).Documents().size(), 4u);
}

TEST_F(Crash, ADiskThatIsFullLeavesTheOldGeneration) {
  Fill(3);
  EXPECT_EQ(InChild([&] {
              signal(SIGXFSZ, SIG_IGN);
              rlimit limit = {2 << 20, 2 << 20};
              setrlimit(RLIMIT_FSIZE, &limit);
              Catalog writer(dir_, kWrite);
              std::string what = What([&] {
                writer.BeginWrite();
                writer.Clear();
                std::string text(1 << 20, 'x');
                for (int i = 0; i < 8; ++i) {
                  writer.Put(SomeDocument("n" + std::to_string(i)), text, {}, {});
                }
                writer.Commit(2);
              });
              if (what.find("space") == std::string::npos) return 1;
              return writer.Documents().size() == 3 && writer.Generation() == 1 ? 0 : 2;
            }),
            0);
  EXPECT_EQ(Catalog(dir_, kRead).Documents().size(), 3u);
}

}  // namespace
}  // namespace kb
