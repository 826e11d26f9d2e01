#include "indexer/ingest.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>
#include <optional>
#include <set>

#include "indexer/document_reader.h"
#include "indexer/folder_lock.h"
#include "indexer/prepare.h"
#include "indexer/scan.h"
#include "indexer/snapshot_writer.h"
#include "indexer/vectors.h"
#include "kb/catalog.h"
#include "kb/error.h"

namespace kb {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr size_t kBatch = 128;  // files read before their texts go to the catalog

double SecondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

int64_t NowNs() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}

// A file written within this time of being read may change again without a new stamp (file
// systems count in ticks), so its stamp is not trusted (git's "racy" entries).
constexpr int64_t kRacyNs = 20'000'000;

// One file below the roots, and what becomes of it.
struct Item {
  ScannedFile file;
  const CatalogDocument* known = nullptr;  // its catalogued state, if any
  int64_t row = 0;                         // of the catalog; 0: not in it (yet)
  bool blocked = false;
  bool fresh = false;          // must be read, as far as is known
  uint32_t old_doc = kNoTerm;  // its place in the old snapshot
  Kind kind = Kind::kPage;
  std::string state;
  DocumentTerms terms;  // of fresh ones
};

class Ingester {
 public:
  Ingester(const std::string& kb_dir, const IngestOptions& options)
      : kb_dir_(kb_dir),
        options_(options),
        lock_(kb_dir),
        catalog_(kb_dir, Catalog::Mode::kWrite) {}

  IngestReport Run() {
    if (!options_.rebuild) known_ = catalog_.Documents();
    judge_anew_ = options_.rebuild || Meta("allow_suppressed") != Allowed();
    OpenOldSnapshot();
    FindItems();
    if (!Changed()) return Unchanged();
    DropDamagedSnapshot();
    catalog_.BeginWrite();
    if (options_.rebuild) catalog_.Clear();
    ReadFresh();
    RemoveGone();
    Index();
    return std::move(report_);
  }

 private:
  [[nodiscard]] std::string SnapshotPath(int64_t generation) const {
    return fmt::format("{}/index-{}", kb_dir_, generation);
  }
  [[nodiscard]] std::string Allowed() const { return options_.allow_suppressed ? "1" : ""; }

  // A rebuild must get over a catalog that can no longer be read.
  std::string Meta(std::string_view key) {
    try {
      return catalog_.Meta(key);
    } catch (const Error&) {
      if (!options_.rebuild) throw;
      return "";
    }
  }

  void OpenOldSnapshot() {
    if (options_.rebuild || catalog_.Generation() == 0) return;
    try {
      old_ = std::make_unique<Snapshot>(SnapshotPath(catalog_.Generation()));
    } catch (const Error&) {  // missing or damaged: everything is indexed anew
      return;
    }
    for (uint32_t doc = 0; doc < old_->docs().size(); ++doc) old_doc_[old_->docs()[doc].row] = doc;
  }

  // Nothing of a snapshot with a changed byte may be carried over.
  void DropDamagedSnapshot() {
    if (old_ == nullptr || old_->file().IsIntact()) return;
    old_.reset();
    old_doc_.clear();
    for (Item& item : items_) Compare(&item);
  }

  void FindItems() {
    const auto start = Clock::now();
    scan_ = ScanRoots(kb_dir_, options_.roots, Meta("roots"));
    std::map<std::string_view, const CatalogDocument*> known;
    for (const CatalogDocument& document : known_) known[document.path] = &document;
    for (ScannedFile& file : scan_.files) {
      Item item;
      item.file = std::move(file);
      const auto at = known.find(item.file.path);
      if (at != known.end()) item.known = at->second;
      Compare(&item);
      items_.push_back(std::move(item));
    }
    report_.read_s += SecondsSince(start);
  }

  // Takes over what is known of an unchanged file.
  void Compare(Item* item) {
    const CatalogDocument* known = item->known;
    item->fresh = true;
    item->row = 0;
    if (judge_anew_ || known == nullptr) return;
    if (known->bundle != item->file.bundle || known->root != item->file.root) return;
    const auto old = old_doc_.find(known->row);
    if (!known->blocked && old == old_doc_.end()) return;
    item->row = known->row;
    item->blocked = known->blocked;
    item->kind = known->kind;
    item->state = known->state;
    item->old_doc = old == old_doc_.end() ? kNoTerm : old->second;
    item->fresh = !(known->stamp == item->file.stamp);
  }

  bool Changed() {
    if (old_ == nullptr || Meta("roots") != RootsText(scan_.roots)) return true;
    if (Meta("embedder") != options_.embedder) return true;
    if (items_.size() != known_.size()) return true;
    return std::ranges::any_of(items_, [](const Item& i) { return i.fresh; });
  }

  IngestReport Unchanged() {
    report_.generation = catalog_.Generation();
    report_.documents = static_cast<int>(old_->docs().size());
    report_.chunks = static_cast<int>(old_->chunk_doc().size());
    report_.unchanged = static_cast<int>(items_.size());
    for (const Item& item : items_) report_.blocked += item.blocked ? 1 : 0;
    report_.diagnostics = scan_.diagnostics;
    return std::move(report_);
  }

  void ReadFresh() {
    const auto start = Clock::now();
    std::vector<Item*> fresh;
    for (Item& item : items_) {
      if (item.fresh) fresh.push_back(&item);
    }
    reader_.emplace(old_.get(), options_.threads, options_.allow_suppressed);
    for (size_t at = 0; at < fresh.size(); at += kBatch) {
      const size_t n = std::min(kBatch, fresh.size() - at);
      ReadBatch({fresh.data() + at, n});
      if (options_.progress) {
        options_.progress("read", static_cast<int64_t>(at + n), static_cast<int64_t>(fresh.size()));
      }
    }
    reader_->Finish();
    report_.read_s += SecondsSince(start);
  }

  void ReadBatch(std::span<Item*> batch) {
    const fs::path base = BaseFolder(kb_dir_);
    std::vector<ReadRequest> requests;
    for (const Item* item : batch) {
      requests.push_back({(base / item->file.path).string(), item->file.path, item->file.bundle,
                          item->row == 0 ? "" : item->known->sha256});
    }
    std::vector<ReadResult> results = reader_->Read(requests);
    for (size_t i = 0; i < batch.size(); ++i) Store(batch[i], &results[i]);
  }

  void Store(Item* item, ReadResult* read) {
    if (read->same) {
      item->fresh = false;
      catalog_.Touch(item->row, TrustedStamp(item->file.stamp));
      return;
    }
    item->old_doc = kNoTerm;
    item->row = 0;
    item->blocked = false;
    AddDiagnostics(read->diagnostics, &scan_.diagnostics);
    if (!read->prepared) return;
    PreparedDocument& prepared = *read->prepared;
    prepared.document.root = item->file.root;
    prepared.document.stamp = TrustedStamp(item->file.stamp);
    (item->known == nullptr ? report_.added : report_.changed) += 1;
    item->row =
        catalog_.Put(prepared.document, prepared.text, prepared.chunks, prepared.diagnostics);
    item->blocked = prepared.document.blocked;
    item->kind = prepared.document.kind;
    item->state = prepared.document.state;
    item->terms = std::move(prepared.terms);
    AddDiagnostics(prepared.diagnostics, &report_.diagnostics);
  }

  static void AddDiagnostics(const Diagnostics& from, Diagnostics* to) {
    to->insert(to->end(), from.begin(), from.end());
  }

  [[nodiscard]] FileStamp TrustedStamp(FileStamp stamp) const {
    if (stamp.mtime_ns > started_ns_ - kRacyNs) stamp.mtime_ns = -1;
    return stamp;
  }

  void RemoveGone() {
    std::set<std::string_view> here;
    for (const Item& item : items_) {
      if (item.row != 0) here.insert(item.file.path);
    }
    for (const CatalogDocument& document : known_) {
      if (here.contains(document.path)) continue;
      catalog_.Remove(document.row);
      ++report_.removed;
    }
    catalog_.PutScanDiagnostics(scan_.diagnostics);
    AddDiagnostics(scan_.diagnostics, &report_.diagnostics);
  }

  // The documents of the new snapshot in its order: by bundle, the main one first, by path.
  std::vector<SnapshotDocument> Documents(std::vector<uint32_t>* old_docs) {
    std::vector<Item*> order;
    for (Item& item : items_) {
      if (item.blocked) ++report_.blocked;
      if (item.row != 0 && !item.fresh) ++report_.unchanged;
      if (item.row != 0 && !item.blocked) order.push_back(&item);
    }
    std::sort(order.begin(), order.end(), [](const Item* a, const Item* b) {
      const bool a_main = IsMainDocument(a->file.path, a->file.bundle);
      const bool b_main = IsMainDocument(b->file.path, b->file.bundle);
      return std::tuple(std::string_view(a->file.bundle), !a_main, std::string_view(a->file.path)) <
             std::tuple(std::string_view(b->file.bundle), !b_main, std::string_view(b->file.path));
    });
    std::vector<SnapshotDocument> documents;
    for (Item* item : order) {
      SnapshotDocument document;
      document.bundle = item->file.bundle;
      document.record.row = item->row;
      document.record.kind = static_cast<uint8_t>(item->kind);
      document.record.state = static_cast<uint8_t>(ParseEvidenceState(item->state));
      document.record.is_main = IsMainDocument(item->file.path, item->file.bundle) ? 1 : 0;
      document.terms = item->fresh ? std::move(item->terms) : old_->TermsOf(item->old_doc);
      old_docs->push_back(item->fresh ? kNoTerm : item->old_doc);
      documents.push_back(std::move(document));
    }
    return documents;
  }

  void Index() {
    auto start = Clock::now();
    Tell("index");
    VectorInput input;
    const std::vector<SnapshotDocument> documents = Documents(&input.old_docs);
    const std::vector<std::string_view> terms = reader_->Terms();
    const SnapshotContents contents = AssembleSnapshot(documents, terms.size());
    report_.index_s = SecondsSince(start);

    start = Clock::now();
    Tell("train");
    input.contents = &contents;
    input.terms = terms;
    input.old = old_.get();
    input.threads = options_.threads;
    const SnapshotVectors vectors = MakeVectors(&input);
    report_.train_s = SecondsSince(start);

    start = Clock::now();
    Tell("write");
    const int64_t generation = NextGeneration();
    WriteSnapshot(SnapshotPath(generation), contents, terms, vectors);
    Finish(generation);
    report_.generation = generation;
    report_.documents = static_cast<int>(contents.docs.size());
    report_.chunks = static_cast<int>(contents.chunk_doc.size());
    report_.write_s = SecondsSince(start);
  }

  void Tell(const char* phase) {
    if (options_.progress) options_.progress(phase, 0, 1);
  }

  SnapshotVectors MakeVectors(VectorInput* input) {
    if (options_.embedder == "none") return {};
    const std::unique_ptr<Embedder> embedder = MakeEmbedder(options_.embedder);
    if (embedder == nullptr) return MakeLsaVectors(*input, &report_.retrained);
    const SnapshotContents& contents = *input->contents;
    input->chunk_text = [&](uint32_t doc, uint32_t chunk) {
      const int64_t row = contents.docs[doc].row;
      const std::optional<Chunk> c = catalog_.ChunkByOrdinal(row, static_cast<int>(chunk));
      const std::optional<CatalogDocument> d = catalog_.DocumentByRow(row);
      if (!c || !d) return std::string();
      const std::string text = catalog_.Text(row).substr(static_cast<size_t>(c->begin),
                                                         static_cast<size_t>(c->end - c->begin));
      return d->title + "\n" + c->heading + "\n" + text;
    };
    input->bundle_text = [&](uint32_t bundle) {
      const auto d = catalog_.DocumentByRow(contents.docs[contents.bundles[bundle].first_doc].row);
      return d ? d->title + ": " + d->description : std::string();
    };
    return MakeTextVectors(*input, *embedder);
  }

  // Above every snapshot that lies there: a reader of an older catalog may still open those.
  [[nodiscard]] int64_t NextGeneration() {
    int64_t newest = catalog_.Generation();
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(kb_dir_, ignored)) {
      const std::string name = entry.path().filename().string();
      if (name.starts_with("index-")) {
        newest = std::max<int64_t>(newest, std::strtoll(name.c_str() + 6, nullptr, 10));
      }
    }
    return newest + 1;
  }

  // Commits, then removes what no reader will open any more.
  void Finish(int64_t generation) {
    catalog_.SetMeta("roots", RootsText(scan_.roots));
    catalog_.SetMeta("embedder", options_.embedder);
    catalog_.SetMeta("allow_suppressed", Allowed());
    catalog_.SetMeta("indexed_ns", std::to_string(NowNs()));
    catalog_.Commit(generation);
    std::error_code ignored;  // a leftover file is only untidy; the next run tries again
    for (const auto& entry : fs::directory_iterator(kb_dir_, ignored)) {
      const std::string name = entry.path().filename().string();
      if (name.starts_with("index-") && name != fmt::format("index-{}", generation)) {
        fs::remove(entry.path(), ignored);
      }
    }
  }

  std::string kb_dir_;
  IngestOptions options_;
  FolderLock lock_;
  Catalog catalog_;
  int64_t started_ns_ = NowNs();
  std::vector<CatalogDocument> known_;
  bool judge_anew_ = false;  // other rules of blocking than last time: read everything again
  std::unique_ptr<Snapshot> old_;
  std::map<int64_t, uint32_t> old_doc_;  // catalog row -> document of `old_`
  Scan scan_;
  std::vector<Item> items_;
  std::optional<DocumentReader> reader_;
  IngestReport report_;
};

}  // namespace

IngestReport Ingest(const std::string& kb_dir, const IngestOptions& options) {
  return Ingester(kb_dir, options).Run();
}

}  // namespace kb
