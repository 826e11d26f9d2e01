#include "kb/sha256.h"

#include <sha2.h>
#include <sys/types.h>

#include <cstdint>

namespace kb {

std::string Sha256(std::string_view bytes) {
  SHA2_CTX context;
  SHA256Init(&context);
  SHA256Update(&context, reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
  char hex[SHA256_DIGEST_STRING_LENGTH];
  return SHA256End(&context, hex);
}

}  // namespace kb
