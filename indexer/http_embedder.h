// Embeddings from an OpenAI-compatible endpoint (POST <url>, {"model", "input": [...]}).
// Safe to call from several threads; they take turns.
#pragma once

#include <memory>
#include <string>

#include "indexer/embedder.h"

namespace kb {

struct HttpEmbedderOptions {
  std::string url;  // e.g. "http://127.0.0.1:11434/v1/embeddings"
  std::string model;
  std::string api_key;  // from KB_EMBED_API_KEY; sent as Bearer, never printed or stored
  int batch_size = 64;
  int timeout_s = 60;       // of one request; a request that takes longer is not tried again
  int retries = 4;          // on 429, 5xx and broken connections, with doubling waits
  int first_wait_ms = 250;  // a longer Retry-After is obeyed, up to a minute
};

// The dimension is learnt from a first request when needed. Redirects are not followed, TLS is
// verified, and messages and the fingerprint name the URL without user, password and query.
// A text of white space only is not sent: its row is zeros. Throws Error if libcurl is not
// installed or the URL is not http(s).
[[nodiscard]] std::unique_ptr<Embedder> MakeHttpEmbedder(HttpEmbedderOptions options);

}  // namespace kb
