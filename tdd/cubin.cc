#include "tdd/cubin.h"

#include <algorithm>
#include <cstring>

#include "kb/sha256.h"

namespace kb {
namespace {

constexpr size_t kHeaderBytes = 64;
constexpr size_t kSectionBytes = 64;
constexpr size_t kMaxSections = 65536;
constexpr uint32_t kNoBits = 8;
constexpr std::string_view kCounts[] = {".text.",     ".rel.text.",  ".rela.text.", ".nv.constant",
                                        ".nv.global", ".nv.shared.", ".nv.local."};

template <typename T>
T Read(std::string_view file, size_t at) {
  T value = 0;
  if (at <= file.size() && sizeof(T) <= file.size() - at) {
    std::memcpy(&value, file.data() + at, sizeof(T));
  }
  return value;
}

std::string_view Slice(std::string_view file, uint64_t at, uint64_t size) {
  if (at > file.size() || size > file.size() - at) return {};
  return file.substr(at, size);
}

bool Counts(std::string_view name) {
  return std::any_of(std::begin(kCounts), std::end(kCounts),
                     [&](std::string_view prefix) { return name.starts_with(prefix); });
}

}  // namespace

std::vector<ElfSection> ReadElfSections(std::string_view file) {
  constexpr std::string_view kMagic(
      "\x7f"
      "ELF\x02\x01",
      6);
  if (file.size() < kHeaderBytes || !file.starts_with(kMagic)) return {};
  const uint64_t table = Read<uint64_t>(file, 40);
  const size_t count = Read<uint16_t>(file, 60), names_at = Read<uint16_t>(file, 62);
  const std::string_view headers = Slice(file, table, count * kSectionBytes);
  if (Read<uint16_t>(file, 58) != kSectionBytes || count > kMaxSections || names_at >= count ||
      headers.empty()) {
    return {};
  }
  const size_t names_header = names_at * kSectionBytes;
  const std::string_view names = Slice(file, Read<uint64_t>(headers, names_header + 24),
                                       Read<uint64_t>(headers, names_header + 32));
  std::vector<ElfSection> sections;
  for (size_t i = 0; i < count; ++i) {
    const std::string_view header = headers.substr(i * kSectionBytes, kSectionBytes);
    ElfSection section;
    const size_t name_at = std::min<size_t>(Read<uint32_t>(header, 0), names.size());
    const std::string_view name = names.substr(name_at, 4096);
    section.name = name.substr(0, name.find('\0'));
    section.size = Read<uint64_t>(header, 32);
    if (Read<uint32_t>(header, 4) != kNoBits) {
      section.bytes = Slice(file, Read<uint64_t>(header, 24), section.size);
      if (section.bytes.size() != section.size) return {};
    }
    sections.push_back(std::move(section));
  }
  return sections;
}

std::string CodeDigest(std::string_view cubin) {
  std::vector<ElfSection> sections = ReadElfSections(cubin);
  std::erase_if(sections, [](const ElfSection& section) { return !Counts(section.name); });
  const bool code = std::any_of(sections.begin(), sections.end(), [](const ElfSection& section) {
    return section.name.starts_with(".text.");
  });
  if (!code) return Sha256(cubin);
  std::stable_sort(sections.begin(), sections.end(),
                   [](const ElfSection& a, const ElfSection& b) { return a.name < b.name; });
  std::string all;
  for (const ElfSection& section : sections) {
    all += section.name + '\0' + std::to_string(section.size) + '\0';
    all += section.bytes;
  }
  return Sha256(all);
}

}  // namespace kb
