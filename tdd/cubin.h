// What a cubin computes, apart from what it is called and where its lines came from: enough of
// ELF64 to tell two compilations of the same machine code. Any bytes are taken.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kb {

struct ElfSection {
  std::string name;
  uint64_t size = 0;       // also of sections without bytes (.nv.shared.*)
  std::string_view bytes;  // within the file
};

// Sections in the file's order; empty if this is no little-endian ELF64 or is damaged.
[[nodiscard]] std::vector<ElfSection> ReadElfSections(std::string_view file);

// Equal for two cubins only if their machine code (.text.*), its relocations, constants,
// initialised globals and sizes of shared memory are: then no run can tell them apart. Of what is
// no ELF with code, the digest of all its bytes.
[[nodiscard]] std::string CodeDigest(std::string_view cubin);

}  // namespace kb
