#include "indexer/http_client.h"

#include <curl/curl.h>
#include <dlfcn.h>
#include <fmt/format.h>

#include "kb/error.h"
#include "kb/file.h"

namespace kb {
namespace {

// libcurl's functions, looked up once; the library stays open until the process ends.
struct Curl {
  decltype(&curl_global_init) global_init;
  decltype(&curl_easy_init) easy_init;
  decltype(&curl_easy_reset) easy_reset;
  decltype(&curl_easy_setopt) setopt;
  decltype(&curl_easy_perform) perform;
  decltype(&curl_easy_getinfo) getinfo;
  decltype(&curl_easy_strerror) strerror;
  decltype(&curl_easy_cleanup) cleanup;
  decltype(&curl_slist_append) append;
  decltype(&curl_slist_free_all) free_all;
};

template <typename Function>
void Find(void* library, const char* name, Function* function) {
  *function = reinterpret_cast<Function>(dlsym(library, name));
  if (*function == nullptr) throw Error(fmt::format("http: libcurl has no {}", name));
}

Curl OpenCurl() {
  void* library = dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) library = dlopen("libcurl-gnutls.so.4", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    throw Error(
        "http: libcurl.so.4 is not installed: apt install libcurl4, or use "
        "--embedder lsa");
  }
  Curl curl{};
  Find(library, "curl_global_init", &curl.global_init);
  Find(library, "curl_easy_init", &curl.easy_init);
  Find(library, "curl_easy_reset", &curl.easy_reset);
  Find(library, "curl_easy_setopt", &curl.setopt);
  Find(library, "curl_easy_perform", &curl.perform);
  Find(library, "curl_easy_getinfo", &curl.getinfo);
  Find(library, "curl_easy_strerror", &curl.strerror);
  Find(library, "curl_easy_cleanup", &curl.cleanup);
  Find(library, "curl_slist_append", &curl.append);
  Find(library, "curl_slist_free_all", &curl.free_all);
  curl.global_init(CURL_GLOBAL_DEFAULT);
  return curl;
}

const Curl& GetCurl() {
  static const Curl curl = OpenCurl();
  return curl;
}

struct Transfer {
  std::string body;
  bool too_large = false;
};

size_t Receive(char* bytes, size_t size, size_t count, void* to) {
  auto& transfer = *static_cast<Transfer*>(to);
  if (transfer.body.size() + size * count > HttpClient::kMaxResponseBytes) {
    transfer.too_large = true;
    return 0;  // curl ends the transfer with an error
  }
  transfer.body.append(bytes, size * count);
  return size * count;
}

HttpReply::Failure FailureOf(CURLcode code) {
  switch (code) {
    case CURLE_OK:
      return HttpReply::Failure::kNone;
    case CURLE_OPERATION_TIMEDOUT:
      return HttpReply::Failure::kTimeout;
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_CONNECT:
    case CURLE_GOT_NOTHING:
    case CURLE_RECV_ERROR:
    case CURLE_SEND_ERROR:
    case CURLE_PARTIAL_FILE:
      return HttpReply::Failure::kBroken;
    default:
      return HttpReply::Failure::kOther;
  }
}

}  // namespace

struct HttpClient::Rep {
  const Curl& curl = GetCurl();
  std::unique_ptr<CURL, decltype(&curl_easy_cleanup)> handle{curl.easy_init(), curl.cleanup};
};

HttpClient::HttpClient() : rep_(std::make_unique<Rep>()) {
  if (!rep_->handle) throw Error("http: libcurl could not start: free some memory");
}

HttpClient::~HttpClient() = default;

HttpReply HttpClient::Post(const std::string& url, const std::string& bearer,
                           const std::string& json, int timeout_s) {
  const Curl& curl = rep_->curl;
  CURL* handle = rep_->handle.get();
  curl.easy_reset(handle);  // keeps the connection
  std::unique_ptr<curl_slist, decltype(curl.free_all)> headers(nullptr, curl.free_all);
  auto add = [&](const std::string& header) {
    headers.reset(curl.append(headers.release(), header.c_str()));
  };
  add("Content-Type: application/json");
  add("Expect:");  // else curl waits a second for "100 Continue"
  if (!bearer.empty()) add("Authorization: Bearer " + bearer);

  Transfer transfer;
  curl.setopt(handle, CURLOPT_URL, url.c_str());
  curl.setopt(handle, CURLOPT_PROTOCOLS_STR, "http,https");
  curl.setopt(handle, CURLOPT_FOLLOWLOCATION, 0L);  // the key goes to this host alone
  curl.setopt(handle, CURLOPT_SSL_VERIFYPEER, 1L);
  curl.setopt(handle, CURLOPT_SSL_VERIFYHOST, 2L);
  curl.setopt(handle, CURLOPT_NOSIGNAL, 1L);  // signals and threads do not mix
  curl.setopt(handle, CURLOPT_TIMEOUT_MS, timeout_s * 1000L);
  curl.setopt(handle, CURLOPT_HTTPHEADER, headers.get());
  curl.setopt(handle, CURLOPT_POSTFIELDS, json.data());
  curl.setopt(handle, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(json.size()));
  curl.setopt(handle, CURLOPT_WRITEFUNCTION, &Receive);
  curl.setopt(handle, CURLOPT_WRITEDATA, &transfer);
  const CURLcode code = curl.perform(handle);

  HttpReply response;
  response.failure = transfer.too_large ? HttpReply::Failure::kTooLarge : FailureOf(code);
  if (code != CURLE_OK) response.why = curl.strerror(code);
  curl_off_t retry_after_s = 0;
  curl.getinfo(handle, CURLINFO_RESPONSE_CODE, &response.status);
  curl.getinfo(handle, CURLINFO_RETRY_AFTER, &retry_after_s);
  response.retry_after_s = retry_after_s;
  response.body = std::move(transfer.body);
  return response;
}

// The URL without user, password, query and fragment: these may hold keys.
std::string PublicUrl(std::string_view url) {
  const size_t scheme_end = url.find("://");
  const size_t host = scheme_end == std::string_view::npos ? 0 : scheme_end + 3;
  url = url.substr(0, url.find_first_of("?#", host));
  const std::string_view authority = url.substr(host, url.find('/', host) - host);
  const size_t at = authority.rfind('@');
  const size_t skip = at == std::string_view::npos ? 0 : at + 1;
  return Printable(fmt::format("{}{}", url.substr(0, host), url.substr(host + skip)));
}

}  // namespace kb
