#include "indexer/prepare.h"

#include <strings.h>

#include <algorithm>

#include "indexer/chunker.h"
#include "indexer/exclusions.h"
#include "indexer/lsa.h"
#include "kb/lint.h"
#include "kb/markdown.h"

namespace kb {
namespace {

std::string_view WithoutSuffix(std::string_view name) {
  const size_t dot = name.rfind('.');
  const size_t slash = name.rfind('/');
  const bool suffix = dot != name.npos && (slash == name.npos || dot > slash);
  return suffix ? name.substr(0, dot) : name;
}

// Reads text into the ids of one table.
class TermReader {
 public:
  TermReader(Tokenizer* tokenizer, TermTable* table) : tokenizer_(tokenizer), table_(table) {}

  std::vector<TermId> Read(std::string_view text) {
    std::vector<TermId> ids;
    tokenizer_->ForEachTerm(text,
                            [&](std::string_view term) { ids.push_back(table_->Intern(term)); });
    return ids;
  }

 private:
  Tokenizer* tokenizer_;
  TermTable* table_;
};

DocumentTerms ReadTerms(const Document& document, std::string_view bundle,
                        const std::vector<Chunk>& chunks, TermReader reader) {
  DocumentTerms terms;
  const bool main = IsMainDocument(document.path, bundle);
  const bool lone = bundle == document.path;
  const std::string_view below =
      lone ? BaseName(document.path) : std::string_view(document.path).substr(bundle.size() + 1);
  terms.path = reader.Read(WithoutSuffix(below));
  terms.title = reader.Read(FirstHeading(document.blocks));
  if (!document.description_derived) terms.stated = reader.Read(document.description);
  if (main) {
    terms.name = reader.Read(lone ? document.title : std::string(BaseName(bundle)));
    terms.description = reader.Read(WithoutExclusions(document.description));
  }
  for (const Chunk& chunk : chunks) {
    const std::string_view text =
        std::string_view(document.text)
            .substr(static_cast<size_t>(chunk.begin), static_cast<size_t>(chunk.end - chunk.begin));
    terms.chunks.push_back(
        {CountTerms(reader.Read(text)), reader.Read(chunk.heading), IsApparatus(chunk.heading)});
  }
  return terms;
}

// A document's word that its own blocking finding may pass is not taken.
void BlockSuppressed(Diagnostics* diagnostics) {
  for (Diagnostic& d : *diagnostics) {
    if (d.rule != "lint-suppressed") continue;
    d.severity = Severity::kBlock;
    d.mend = "read what it allows; if it is harmless: kb index --allow-suppressed";
  }
}

CatalogDocument Describe(const Document& document, const std::string& bundle) {
  CatalogDocument out;
  out.path = document.path;
  out.bundle = bundle;
  out.sha256 = document.sha256;
  out.kind = document.kind;
  out.id = document.id;
  out.title = document.title;
  out.description = document.description;
  out.scope = document.scope;
  out.license = document.license;
  out.state = document.state;
  return out;
}

}  // namespace

bool IsBundleIndex(std::string_view path) {
  const std::string name(BaseName(path));
  return strcasecmp(name.c_str(), "SKILL.md") == 0 || strcasecmp(name.c_str(), "NNK.md") == 0;
}

bool IsMainDocument(std::string_view path, std::string_view bundle) {
  return path == bundle || (IsBundleIndex(path) && DirName(path) == bundle);
}

void Renumber(const std::vector<TermId>& map, DocumentTerms* terms) {
  const auto sequence = [&](std::vector<TermId>* ids) {
    for (TermId& id : *ids) id = map[id];
  };
  for (auto* ids :
       {&terms->path, &terms->title, &terms->stated, &terms->name, &terms->description}) {
    sequence(ids);
  }
  for (ChunkTerms& chunk : terms->chunks) {
    sequence(&chunk.heading);
    for (Packed& p : chunk.body) p = Pack(map[PackedId(p)], PackedCount(p));
    std::sort(chunk.body.begin(), chunk.body.end());
  }
}

PreparedDocument PrepareDocument(PrepareInput input, Tokenizer* tokenizer, TermTable* table) {
  Document document = ParseDocument(input.path, std::move(input.text));
  PreparedDocument out;
  out.diagnostics = document.diagnostics;
  const Diagnostics safety = LintSafety(document);
  out.diagnostics.insert(out.diagnostics.end(), safety.begin(), safety.end());
  if (!input.allow_suppressed) BlockSuppressed(&out.diagnostics);
  out.document = Describe(document, input.bundle);
  out.document.blocked = IsBlocked(out.diagnostics);
  if (!out.document.blocked) {
    out.chunks = SplitDocument(document);
    out.terms = ReadTerms(document, input.bundle, out.chunks, TermReader(tokenizer, table));
  }
  out.text = std::move(document.text);
  return out;
}

}  // namespace kb
