#include "indexer/section_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "kb/error.h"
#include "kb/file.h"

namespace kb {
namespace {

constexpr char kMagic[8] = {'k', 'b', 'i', 'n', 'd', 'e', 'x', '\n'};
constexpr uint64_t kAlign = 64;
constexpr uint32_t kMaxSections = 256;

struct Header {
  char magic[8];
  uint32_t version;
  uint32_t sections;
  uint64_t file_bytes;
  uint64_t table_checksum;
  uint64_t body_checksum;
  char unused[24];
};
static_assert(sizeof(Header) == 64);

struct Entry {
  uint32_t id;
  uint32_t element_bytes;
  uint64_t offset;
  uint64_t size_bytes;
};

uint64_t AlignUp(uint64_t n) { return (n + kAlign - 1) / kAlign * kAlign; }

uint64_t Mix(uint64_t h, uint64_t word) {
  h = (h ^ word) * 0x9E3779B97F4A7C15ull;
  return h ^ (h >> 29);
}

template <typename T>
std::string_view AsBytes(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof(T)};
}

// The descriptor of a temporary file that is removed unless it was renamed.
class TemporaryFile {
 public:
  explicit TemporaryFile(std::string path) : path_(std::move(path)) {
    fd_ = open(path_.c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0644);
    if (fd_ < 0) Fail("cannot create");
  }
  ~TemporaryFile() {
    if (fd_ >= 0) close(fd_);
    if (!renamed_) unlink(path_.c_str());
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  void Append(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t n = write(fd_, bytes.data(), bytes.size());
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) Fail("cannot write");
      bytes.remove_prefix(static_cast<size_t>(n));
    }
  }
  void RenameTo(const std::string& path) {
    if (fsync(fd_) != 0) Fail("cannot sync");
    if (rename(path_.c_str(), path.c_str()) != 0) Fail("cannot rename");
    renamed_ = true;
  }

 private:
  [[noreturn]] void Fail(const char* what) const {
    throw Error(fmt::format("{} {}: {}; the old index is intact", what, Printable(path_),
                            std::strerror(errno)));
  }

  std::string path_;
  int fd_ = -1;
  bool renamed_ = false;
};

void SyncFolder(const std::string& path) {
  const std::string folder(DirName(path));
  const int fd = open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return;
  fsync(fd);
  close(fd);
}

std::string_view MapFile(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat status = {};
  if (fd < 0 || fstat(fd, &status) != 0) {
    const int why = errno;
    if (fd >= 0) close(fd);
    throw Error(
        fmt::format("cannot open {}: {}; run kb index", Printable(path), std::strerror(why)));
  }
  const size_t size = static_cast<size_t>(status.st_size);
  void* at = size < sizeof(Header) ? MAP_FAILED : mmap(nullptr, size, PROT_READ, MAP_SHARED, fd, 0);
  close(fd);
  if (at == MAP_FAILED) {
    throw Error(fmt::format("{} is cut short; run kb index --rebuild", Printable(path)));
  }
  return {static_cast<const char*>(at), size};
}

std::span<const Entry> Table(std::string_view mapped) {
  const auto* header = reinterpret_cast<const Header*>(mapped.data());
  return {reinterpret_cast<const Entry*>(mapped.data() + sizeof(Header)), header->sections};
}

// Why the mapped bytes are no index of this version, or null.
const char* Fault(std::string_view mapped, uint32_t version) {
  const auto* header = reinterpret_cast<const Header*>(mapped.data());
  if (std::memcmp(header->magic, kMagic, sizeof(kMagic)) != 0) return "is no index";
  if (header->version != version) return "was written by another version of kb";
  if (header->sections > kMaxSections || header->file_bytes != mapped.size()) return "is damaged";
  if (sizeof(Header) + header->sections * sizeof(Entry) > mapped.size()) return "is damaged";
  const std::span<const Entry> table = Table(mapped);
  const std::string_view bytes(mapped.data() + sizeof(Header), table.size_bytes());
  if (Checksum(bytes) != header->table_checksum) return "is damaged";
  for (const Entry& entry : table) {
    if (entry.offset > mapped.size() || entry.size_bytes > mapped.size() - entry.offset) {
      return "is damaged";
    }
  }
  return nullptr;
}

}  // namespace

uint64_t Checksum(std::string_view bytes, uint64_t seed) {
  uint64_t lanes[4] = {seed, seed + 1, seed + 2, seed + 3};
  while (bytes.size() >= 32) {
    for (uint64_t& lane : lanes) {
      uint64_t word;
      std::memcpy(&word, bytes.data(), 8);
      lane = Mix(lane, word);
      bytes.remove_prefix(8);
    }
  }
  uint64_t h = bytes.size();
  for (const uint64_t lane : lanes) h = Mix(h, lane);
  for (const char c : bytes) h = Mix(h, static_cast<unsigned char>(c));
  return h;
}

void SectionWriter::AddBytes(uint32_t id, uint32_t element_bytes, std::string_view bytes) {
  parts_.push_back({id, element_bytes, bytes});
}

void SectionWriter::Write(const std::string& path) const {
  std::vector<Entry> table;
  uint64_t at = AlignUp(sizeof(Header) + parts_.size() * sizeof(Entry));
  uint64_t body = 0;
  for (const Part& part : parts_) {
    table.push_back({part.id, part.element_bytes, at, part.bytes.size()});
    at = AlignUp(at + part.bytes.size());
    body = Checksum(part.bytes, body);
  }
  const std::string_view table_bytes(reinterpret_cast<const char*>(table.data()),
                                     table.size() * sizeof(Entry));
  Header header = {};
  std::memcpy(header.magic, kMagic, sizeof(kMagic));
  header.version = version_;
  header.sections = static_cast<uint32_t>(parts_.size());
  header.file_bytes = at;
  header.table_checksum = Checksum(table_bytes);
  header.body_checksum = body;

  TemporaryFile file(path + ".tmp");
  const std::string padding(kAlign, '\0');
  const auto pad = [&](uint64_t size) {
    return std::string_view(padding).substr(0, AlignUp(size) - size);
  };
  file.Append(AsBytes(header));
  file.Append(table_bytes);
  file.Append(pad(sizeof(Header) + table_bytes.size()));
  for (const Part& part : parts_) {
    file.Append(part.bytes);
    file.Append(pad(part.bytes.size()));
  }
  file.RenameTo(path);
  SyncFolder(path);
}

SectionFile::SectionFile(const std::string& path, uint32_t version) : mapped_(MapFile(path)) {
  const char* fault = Fault(mapped_, version);
  if (fault == nullptr) return;
  munmap(const_cast<char*>(mapped_.data()), mapped_.size());
  throw Error(fmt::format("{} {}; run kb index --rebuild", Printable(path), fault));
}

SectionFile::~SectionFile() { munmap(const_cast<char*>(mapped_.data()), mapped_.size()); }

std::string_view SectionFile::Bytes(uint32_t id, uint32_t element_bytes) const {
  for (const Entry& entry : Table(mapped_)) {
    if (entry.id == id && entry.element_bytes == element_bytes) {
      return mapped_.substr(entry.offset, entry.size_bytes);
    }
  }
  return {};
}

bool SectionFile::IsIntact() const {
  uint64_t body = 0;
  for (const Entry& entry : Table(mapped_)) {
    body = Checksum(mapped_.substr(entry.offset, entry.size_bytes), body);
  }
  return body == reinterpret_cast<const Header*>(mapped_.data())->body_checksum;
}

}  // namespace kb
