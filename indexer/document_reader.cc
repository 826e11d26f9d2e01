#include "indexer/document_reader.h"

#include <algorithm>
#include <atomic>

#include "indexer/parallel.h"
#include "kb/file.h"
#include "kb/sha256.h"

namespace kb {

DocumentReader::DocumentReader(const Snapshot* old, int threads, bool allow_suppressed)
    : old_(old),
      allow_suppressed_(allow_suppressed),
      workers_(static_cast<size_t>(std::max(1, threads))),
      added_(old == nullptr ? 0 : static_cast<TermId>(old->term_count())) {}

std::vector<ReadResult> DocumentReader::Read(std::span<const ReadRequest> requests) {
  std::vector<ReadResult> results(requests.size());
  std::vector<size_t> worker_of(requests.size(), 0);
  std::atomic<size_t> next = 0;
  ParallelFor(workers_.size(), static_cast<int>(workers_.size()), [&](size_t worker, size_t) {
    for (size_t i = next++; i < requests.size(); i = next++) {
      worker_of[i] = worker;
      ReadOne(requests[i], &workers_[worker], &results[i]);
    }
  });
  for (size_t i = 0; i < results.size(); ++i) {
    if (results[i].prepared) GiveGlobalIds(&workers_[worker_of[i]], &results[i].prepared->terms);
  }
  return results;
}

void DocumentReader::ReadOne(const ReadRequest& request, Worker* worker, ReadResult* result) const {
  std::string why;
  std::optional<std::string> text = ReadFile(request.file, &why);
  if (!text) {
    result->diagnostics.push_back({Severity::kError, "scan-unreadable", request.path, 0,
                                   "not indexed: " + why,
                                   "make it a readable file, or move it away"});
    return;
  }
  result->same = !request.sha256.empty() && Sha256(*text) == request.sha256;
  if (result->same) return;
  result->prepared =
      PrepareDocument({request.path, request.bundle, std::move(*text), allow_suppressed_},
                      &worker->tokenizer, &worker->table);
}

TermId DocumentReader::GlobalId(const std::string& term) {
  const TermId old = old_ == nullptr ? kNoTerm : old_->FindTerm(term);
  return old != kNoTerm ? old : added_.Intern(term);
}

void DocumentReader::GiveGlobalIds(Worker* worker, DocumentTerms* terms) {
  const std::vector<std::string>& known = worker->table.terms();
  for (size_t i = worker->to_global.size(); i < known.size(); ++i) {
    worker->to_global.push_back(GlobalId(known[i]));
  }
  Renumber(worker->to_global, terms);
}

std::vector<std::string_view> DocumentReader::Terms() const {
  std::vector<std::string_view> terms;
  const size_t old = old_ == nullptr ? 0 : old_->term_count();
  for (size_t id = 0; id < old; ++id) terms.push_back(old_->Term(static_cast<TermId>(id)));
  terms.insert(terms.end(), added_.terms().begin(), added_.terms().end());
  return terms;
}

}  // namespace kb
