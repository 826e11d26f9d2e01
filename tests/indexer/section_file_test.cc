#include "indexer/section_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "kb/error.h"
#include "kb/file.h"

namespace kb {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string TestPath(const std::string& name) {
  const std::string folder = testing::TempDir() + "/section_file_test";
  std::filesystem::create_directories(folder);
  return folder + "/" + name;
}

std::string WriteExample(const std::string& name) {
  const std::vector<uint32_t> numbers = {1, 2, 3};
  const std::vector<char> letters = {'a', 'b'};
  SectionWriter writer(7);
  writer.Add(10, numbers);
  writer.Add(11, letters);
  writer.Add(12, std::vector<float>{});
  writer.Write(TestPath(name));
  return TestPath(name);
}

std::string ErrorOf(const std::string& path, uint32_t version = 7) {
  try {
    const SectionFile file(path, version);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

void Spoil(const std::string& path, std::streamoff at) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekg(at);
  const char old = static_cast<char>(file.get());
  file.seekp(at);
  file.put(static_cast<char>(old ^ 0x40));
}

TEST(SectionFile, GivesBackWhatWasWritten) {
  const SectionFile file(WriteExample("whole"), 7);
  EXPECT_THAT(file.Section<uint32_t>(10), ElementsAre(1u, 2u, 3u));
  EXPECT_THAT(file.Section<char>(11), ElementsAre('a', 'b'));
  EXPECT_THAT(file.Section<float>(12), IsEmpty());
  EXPECT_TRUE(file.IsIntact());
}

TEST(SectionFile, AnUnknownSectionOrAnotherElementSizeIsEmpty) {
  const SectionFile file(WriteExample("unknown"), 7);
  EXPECT_THAT(file.Section<uint32_t>(99), IsEmpty());
  EXPECT_THAT(file.Section<uint64_t>(10), IsEmpty());
}

TEST(SectionFile, RefusesWhatItCannotReadAndNamesTheMend) {
  EXPECT_THAT(ErrorOf(TestPath("missing")), HasSubstr("kb index"));
  EXPECT_THAT(ErrorOf(WriteExample("version"), 8), HasSubstr("another version"));
  std::ofstream(TestPath("short")) << "kbindex\n";
  EXPECT_THAT(ErrorOf(TestPath("short")), HasSubstr("cut short"));
  std::ofstream(TestPath("other")) << std::string(500, 'x');
  EXPECT_THAT(ErrorOf(TestPath("other")), HasSubstr("is no index"));
}

TEST(SectionFile, EveryCutOfTheFileIsNoticed) {
  const std::string path = WriteExample("cut");
  const auto size = static_cast<int>(std::filesystem::file_size(path));
  for (int keep = 0; keep < size; keep += 13) {
    WriteExample("cut");
    std::filesystem::resize_file(path, static_cast<uintmax_t>(keep));
    EXPECT_NE(ErrorOf(path), "") << keep;
  }
}

TEST(SectionFile, EveryFlippedBitIsNoticedOnOpeningOrByIsIntact) {
  const std::string path = WriteExample("flip");
  const SectionFile sound(path, 7);
  for (std::streamoff at : {0, 8, 12, 16, 24, 32, 64, 68, 72, 80, 192, 196, 200}) {
    WriteExample("flip");
    Spoil(path, at);
    const bool refused = !ErrorOf(path).empty();
    EXPECT_TRUE(refused || !SectionFile(path, 7).IsIntact()) << at;
  }
}

TEST(SectionFile, AFailedWriteLeavesTheOldFileAndNoOther) {
  const std::string path = WriteExample("kept");
  SectionWriter writer(7);
  EXPECT_THROW(writer.Write(TestPath("no/such/folder")), Error);
  EXPECT_EQ(ErrorOf(path), "");
  EXPECT_FALSE(std::filesystem::exists(path + ".tmp"));
}

}  // namespace
}  // namespace kb
