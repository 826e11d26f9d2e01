#include "indexer/ingest.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <map>
#include <optional>
#include <set>

#include "indexer/folder_lock.h"
#include "indexer/parallel.h"
#include "indexer/prepare.h"
#include "indexer/snapshot_writer.h"
#include "indexer/vectors.h"
#include "kb/catalog.h"
#include "kb/error.h"
#include "kb/file.h"
#include "kb/sha256.h"

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

// One file found below a root, and what becomes of it.
struct Item {
  std::string path;  // as catalogued
  std::string root;
  std::string bundle;
  FileStamp stamp;
  const CatalogDocument* known = nullptr;  // its catalogued state, if any
  int64_t row = 0;
  bool blocked = false;
  bool fresh = false;  // must be indexed anew
  uint32_t old_doc = kNoTerm;
  Kind kind = Kind::kPage;
  std::string state;
  DocumentTerms terms;  // of fresh ones, with ids of the whole index
};

class Ingester {
 public:
  Ingester(const std::string& kb_dir, const IngestOptions& options)
      : kb_dir_(kb_dir),
        options_(options),
        lock_(kb_dir),
        catalog_(kb_dir, Catalog::Mode::kWrite) {}

  IngestReport Run() {
    if (!options_.rebuild) {
      known_ = catalog_.Documents();
      judge_anew_ = catalog_.Meta("allow_suppressed") != (options_.allow_suppressed ? "1" : "");
    }
    OpenOldSnapshot();
    FindRoots();
    Scan();
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

  // The folder that relative paths of the catalog are relative to.
  [[nodiscard]] fs::path Base() const {
    return fs::absolute(kb_dir_).lexically_normal().parent_path();
  }

  void OpenOldSnapshot() {
    if (options_.rebuild) return;
    const int64_t generation = catalog_.Generation();
    if (generation == 0) return;
    try {
      old_ = std::make_unique<Snapshot>(SnapshotPath(generation));
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

  // Roots as catalogued: relative to Base() where below it, else absolute.
  void FindRoots() {
    std::vector<std::string> roots = options_.roots;
    if (roots.empty()) {
      const std::string all = catalog_.Meta("roots");
      for (size_t at = 0; at < all.size();) {
        const size_t end = std::min(all.find('\n', at), all.size());
        roots.push_back((Base() / all.substr(at, end - at)).string());
        at = end + 1;
      }
    }
    if (roots.empty())
      throw Error("index: no roots given and none known; name a folder: kb index skills");
    for (const std::string& root : roots) {
      const fs::path whole = fs::absolute(root).lexically_normal();
      std::string text = whole.lexically_relative(Base()).string();
      if (text.empty() || text.starts_with("..")) text = whole.string();
      while (text.size() > 1 && text.back() == '/') text.pop_back();
      if (std::find(roots_.begin(), roots_.end(), text) == roots_.end()) roots_.push_back(text);
    }
  }

  void Scan() {
    const auto start = Clock::now();
    std::map<std::string, Item> items;
    std::set<std::string> bundles;
    for (const std::string& root : roots_) {
      for (const FoundFile& file : FindDocuments((Base() / root).string(), &scan_diagnostics_)) {
        Item item;
        item.path = Catalogued(file.path);
        item.root = root;
        item.stamp = file.stamp;
        if (IsBundleIndex(item.path)) bundles.insert(std::string(DirName(item.path)));
        items.try_emplace(item.path, std::move(item));
      }
    }
    for (Diagnostic& d : scan_diagnostics_) d.path = Catalogued(d.path);
    std::map<std::string_view, const CatalogDocument*> known;
    for (const CatalogDocument& document : known_) known[document.path] = &document;
    for (auto& [path, item] : items) {
      item.bundle = BundleOf(path, DirName(item.root + "/"),
                             [&](const std::string& folder) { return bundles.contains(folder); });
      const auto at = known.find(path);
      if (at != known.end()) item.known = at->second;
      Compare(&item);
      items_.push_back(std::move(item));
    }
    report_.read_s += SecondsSince(start);
  }

  [[nodiscard]] std::string Catalogued(const std::string& path) const {
    const std::string base = Base().string() + "/";
    return path.starts_with(base) ? path.substr(base.size()) : path;
  }

  // Takes over what is known of an unchanged file.
  void Compare(Item* item) {
    const CatalogDocument* known = item->known;
    item->fresh = true;
    item->row = 0;
    if (options_.rebuild || judge_anew_) return;
    if (known == nullptr || known->bundle != item->bundle || known->root != item->root) return;
    const auto old = old_doc_.find(known->row);
    if (!known->blocked && old == old_doc_.end()) return;
    item->row = known->row;
    item->blocked = known->blocked;
    item->kind = known->kind;
    item->state = known->state;
    item->old_doc = old == old_doc_.end() ? kNoTerm : old->second;
    item->fresh = !(known->stamp == item->stamp);
  }

  bool Changed() {
    std::string roots;
    for (const std::string& root : roots_) roots += (roots.empty() ? "" : "\n") + root;
    roots_text_ = roots;
    if (old_ == nullptr || catalog_.Meta("roots") != roots) return true;
    if (catalog_.Meta("embedder") != options_.embedder) return true;
    if (items_.size() != known_.size()) return true;
    return std::any_of(items_.begin(), items_.end(), [](const Item& i) { return i.fresh; });
  }

  IngestReport Unchanged() {
    report_.generation = catalog_.Generation();
    report_.documents = static_cast<int>(old_->docs().size());
    report_.chunks = static_cast<int>(old_->chunk_doc().size());
    report_.unchanged = static_cast<int>(items_.size());
    for (const Item& item : items_) report_.blocked += item.blocked ? 1 : 0;
    report_.diagnostics = scan_diagnostics_;
    return std::move(report_);
  }

  // The bytes of a file, or nullopt with a diagnostic.
  std::optional<std::string> ReadItem(const Item& item, Diagnostics* diagnostics) const {
    std::string why;
    std::optional<std::string> text = ReadFile((Base() / item.path).string(), &why);
    if (!text) {
      diagnostics->push_back({Severity::kError, "scan-unreadable", item.path, 0,
                              "not indexed: " + why, "make it a readable file, or move it away"});
    }
    return text;
  }

  void ReadFresh() {
    const auto start = Clock::now();
    std::vector<Item*> fresh;
    for (Item& item : items_) {
      if (item.fresh) fresh.push_back(&item);
    }
    const int threads = std::max(1, options_.threads);
    workers_.resize(static_cast<size_t>(threads));
    global_ = TermTable(old_ == nullptr ? 0 : static_cast<TermId>(old_->term_count()));
    for (size_t at = 0; at < fresh.size(); at += kBatch) {
      const size_t n = std::min(kBatch, fresh.size() - at);
      ReadBatch({fresh.data() + at, n});
      if (options_.progress) {
        options_.progress("read", static_cast<int64_t>(at + n), static_cast<int64_t>(fresh.size()));
      }
    }
    workers_.clear();
    report_.read_s += SecondsSince(start);
  }

  struct Worker {
    Tokenizer tokenizer;
    TermTable table;
    std::vector<TermId> to_global;
  };
  struct Read {
    std::optional<PreparedDocument> prepared;
    bool same = false;  // same content, another stamp
    Diagnostics diagnostics;
    size_t worker = 0;
  };

  void ReadBatch(std::span<Item*> batch) {
    std::vector<Read> reads(batch.size());
    std::atomic<size_t> next = 0;
    ParallelRead(batch, &reads, &next);
    for (size_t i = 0; i < batch.size(); ++i) Store(batch[i], &reads[i]);
  }

  void ParallelRead(std::span<Item*> batch, std::vector<Read>* reads, std::atomic<size_t>* next) {
    const auto threads = static_cast<int>(workers_.size());
    ParallelFor(workers_.size(), threads, [&](size_t worker, size_t) {
      for (size_t i = (*next)++; i < batch.size(); i = (*next)++) {
        Read& read = (*reads)[i];
        read.worker = worker;
        std::optional<std::string> text = ReadItem(*batch[i], &read.diagnostics);
        if (!text) continue;
        const bool comparable = batch[i]->row != 0;
        read.same = comparable && Sha256(*text) == batch[i]->known->sha256;
        if (read.same) continue;
        Worker& w = workers_[worker];
        read.prepared = PrepareDocument(
            {batch[i]->path, batch[i]->bundle, std::move(*text), options_.allow_suppressed},
            &w.tokenizer, &w.table);
      }
    });
  }

  void Store(Item* item, Read* read) {
    if (read->same) {
      item->fresh = false;
      catalog_.Touch(item->row, TrustedStamp(item->stamp));
      return;
    }
    item->old_doc = kNoTerm;
    item->row = 0;
    if (!read->prepared) {
      scan_diagnostics_.insert(scan_diagnostics_.end(), read->diagnostics.begin(),
                               read->diagnostics.end());
      return;
    }
    PreparedDocument& prepared = *read->prepared;
    prepared.document.root = item->root;
    prepared.document.stamp = TrustedStamp(item->stamp);
    (item->known == nullptr ? report_.added : report_.changed) += 1;
    item->row =
        catalog_.Put(prepared.document, prepared.text, prepared.chunks, prepared.diagnostics);
    item->blocked = prepared.document.blocked;
    item->kind = prepared.document.kind;
    item->state = prepared.document.state;
    report_.diagnostics.insert(report_.diagnostics.end(), prepared.diagnostics.begin(),
                               prepared.diagnostics.end());
    Worker& worker = workers_[read->worker];
    for (size_t i = worker.to_global.size(); i < worker.table.terms().size(); ++i) {
      worker.to_global.push_back(GlobalId(worker.table.terms()[i]));
    }
    Renumber(worker.to_global, &prepared.terms);
    item->terms = std::move(prepared.terms);
  }

  [[nodiscard]] FileStamp TrustedStamp(FileStamp stamp) const {
    if (stamp.mtime_ns > started_ns_ - kRacyNs) stamp.mtime_ns = -1;
    return stamp;
  }

  TermId GlobalId(const std::string& term) {
    const TermId old = old_ == nullptr ? kNoTerm : old_->FindTerm(term);
    return old != kNoTerm ? old : global_.Intern(term);
  }

  void RemoveGone() {
    std::set<std::string_view> here;
    for (const Item& item : items_) {
      if (item.row != 0) here.insert(item.path);
    }
    for (const CatalogDocument& document : known_) {
      if (here.contains(document.path)) continue;
      catalog_.Remove(document.row);
      ++report_.removed;
    }
    catalog_.PutScanDiagnostics(scan_diagnostics_);
    report_.diagnostics.insert(report_.diagnostics.end(), scan_diagnostics_.begin(),
                               scan_diagnostics_.end());
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
      const bool a_main = IsMainDocument(a->path, a->bundle);
      const bool b_main = IsMainDocument(b->path, b->bundle);
      return std::tuple(std::string_view(a->bundle), !a_main, std::string_view(a->path)) <
             std::tuple(std::string_view(b->bundle), !b_main, std::string_view(b->path));
    });
    std::vector<SnapshotDocument> documents;
    for (Item* item : order) {
      SnapshotDocument document;
      document.bundle = item->bundle;
      document.record.row = item->row;
      document.record.kind = static_cast<uint8_t>(item->kind);
      document.record.state = static_cast<uint8_t>(ParseEvidenceState(item->state));
      document.record.is_main = IsMainDocument(item->path, item->bundle) ? 1 : 0;
      document.terms = item->fresh ? std::move(item->terms) : old_->TermsOf(item->old_doc);
      old_docs->push_back(item->fresh ? kNoTerm : item->old_doc);
      documents.push_back(std::move(document));
    }
    return documents;
  }

  std::vector<std::string_view> Terms() const {
    std::vector<std::string_view> terms;
    const size_t old = old_ == nullptr ? 0 : old_->term_count();
    for (size_t id = 0; id < old; ++id) terms.push_back(old_->Term(static_cast<TermId>(id)));
    terms.insert(terms.end(), global_.terms().begin(), global_.terms().end());
    return terms;
  }

  void Index() {
    auto start = Clock::now();
    Tell("index");
    VectorInput input;
    const std::vector<SnapshotDocument> documents = Documents(&input.old_docs);
    const std::vector<std::string_view> terms = Terms();
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
    catalog_.SetMeta("roots", roots_text_);
    catalog_.SetMeta("embedder", options_.embedder);
    catalog_.SetMeta("allow_suppressed", options_.allow_suppressed ? "1" : "");
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
  std::vector<std::string> roots_;
  std::string roots_text_;
  std::vector<Item> items_;
  std::vector<Worker> workers_;
  TermTable global_;
  Diagnostics scan_diagnostics_;
  IngestReport report_;
};

}  // namespace

IngestReport Ingest(const std::string& kb_dir, const IngestOptions& options) {
  return Ingester(kb_dir, options).Run();
}

}  // namespace kb
