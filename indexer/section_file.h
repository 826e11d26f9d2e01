// One file of numbered binary sections, written whole and mapped into memory to read: the
// container of the index snapshot. Little-endian, as the machine has it.
//
//   header   64 bytes: magic "kbindex\n", version u32, section count u32, file size u64,
//            checksum u64 of the table, checksum u64 of all section bytes
//   table    per section: id u32, element size u32, offset u64, size in bytes u64
//   sections each at a multiple of 64 bytes
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace kb {

// A fast 64-bit checksum: finds damage, not tampering.
[[nodiscard]] uint64_t Checksum(std::string_view bytes, uint64_t seed = 0);

class SectionWriter {
 public:
  explicit SectionWriter(uint32_t version) : version_(version) {}

  // `values` is borrowed until Write.
  template <typename T>
  void Add(uint32_t id, std::span<const T> values) {
    static_assert(std::is_trivially_copyable_v<T>);
    AddBytes(id, sizeof(T), {reinterpret_cast<const char*>(values.data()), values.size_bytes()});
  }
  template <typename T>
  void Add(uint32_t id, const std::vector<T>& values) {
    Add(id, std::span<const T>(values));
  }

  // To a temporary name beside `path`, fsync, rename. Throws Error.
  void Write(const std::string& path) const;

 private:
  struct Part {
    uint32_t id;
    uint32_t element_bytes;
    std::string_view bytes;
  };
  void AddBytes(uint32_t id, uint32_t element_bytes, std::string_view bytes);

  uint32_t version_;
  std::vector<Part> parts_;
};

// A mapped file. Thread-safe once open. The spans live as long as the object.
class SectionFile {
 public:
  // Checks magic, version, size and the table's checksum. Throws Error with the mend.
  SectionFile(const std::string& path, uint32_t version);
  ~SectionFile();
  SectionFile(const SectionFile&) = delete;
  SectionFile& operator=(const SectionFile&) = delete;

  // Empty if there is no such section or its elements have another size.
  template <typename T>
  [[nodiscard]] std::span<const T> Section(uint32_t id) const {
    const std::string_view bytes = Bytes(id, sizeof(T));
    return {reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)};
  }

  // Reads every byte: false if any has changed since it was written.
  [[nodiscard]] bool IsIntact() const;

  [[nodiscard]] int64_t size_bytes() const { return static_cast<int64_t>(mapped_.size()); }

 private:
  [[nodiscard]] std::string_view Bytes(uint32_t id, uint32_t element_bytes) const;

  std::string_view mapped_;
};

}  // namespace kb
