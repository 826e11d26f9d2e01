// A catalog in a temporary folder, and children that do something to it.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "kb/catalog.h"
#include "kb/error.h"

namespace kb {

namespace fs = std::filesystem;

inline constexpr auto kRead = Catalog::Mode::kRead;
inline constexpr auto kWrite = Catalog::Mode::kWrite;

inline std::string What(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

// Runs `action` in a child; its exit status, or 128 + the signal that ended it.
inline int InChild(const std::function<int()>& action) {
  pid_t child = fork();
  if (child == 0) {
    int status = 99;
    try {
      status = action();
    } catch (const std::exception& error) {
      fprintf(stderr, "child: %s\n", error.what());
    }
    _exit(status);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

inline CatalogDocument SomeDocument(const std::string& path, Kind kind = Kind::kSkill) {
  CatalogDocument document;
  document.root = "skills";
  document.path = path;
  document.bundle = "skills/" + path;
  document.stamp = {.size_bytes = 5, .mtime_ns = 1'700'000'000'123'456'789, .inode = 77};
  document.sha256 = std::string(64, 'a');
  document.kind = kind;
  document.id = "id-of-" + path;
  document.title = "Title";
  document.description = "What and when";
  document.scope = {.arch = ">=sm_80",
                    .cuda = ">=12.0",
                    .dtypes = {"fp16", "", "a,b\n"},
                    .bound = "memory",
                    .topics = {"7:tma"}};
  document.license = "Apache-2.0";
  document.state = "proved";
  return document;
}

inline std::vector<Chunk> SomeChunks() {
  return {{"00000001", "A > B", 1, 2, 0, 3}, {"00000002", "", 3, 3, 3, 5}};
}

class CatalogTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = ::testing::TempDir() + "catalog-XXXXXX";
    dir_ = mkdtemp(pattern.data());
  }
  void TearDown() override { fs::remove_all(dir_); }

  std::string file() const { return dir_ + "/catalog.sqlite"; }

  // A catalog of `documents` documents "d0.md".. in generation 1.
  void Fill(int documents) {
    Catalog catalog(dir_, kWrite);
    catalog.BeginWrite();
    for (int i = 0; i < documents; ++i) {
      catalog.Put(SomeDocument("d" + std::to_string(i) + ".md"), "ab\ncd", SomeChunks(), {});
    }
    catalog.Commit(1);
  }

  // Overwrites bytes of the catalog's file; -1: to its end.
  void Damage(int64_t offset, int64_t count) {
    int64_t size = static_cast<int64_t>(fs::file_size(file()));
    std::fstream stream(file(), std::ios::in | std::ios::out | std::ios::binary);
    stream.seekp(offset);
    stream << std::string(count < 0 ? size - offset : count, '\x5a');
  }

  std::string dir_;
};

}  // namespace kb
