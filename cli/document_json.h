// How documents, passages and diagnostics look in every command's JSON.
#pragma once

#include <string>

#include "kb/catalog.h"
#include "kb/chunk.h"
#include "kb/diagnostic.h"
#include "kb/value.h"

namespace kb {

// How far to trust a document, in the words of a context: an entry's state ("proved", ...; else
// "unproved"), "curated" (skill), "recorded" (trace), "reference" (page); "blocked" if it
// breaks a safety rule.
[[nodiscard]] std::string TrustOf(const CatalogDocument& document);

// {id, kind, title, description, path, bundle, sha256, license, state, trust,
//  scope {arch, cuda, dtypes, bound, topics}}
[[nodiscard]] Value::Map DocumentJson(const CatalogDocument& document);

// {severity, rule, path, line, message, mend}; line 0: the whole file
[[nodiscard]] Value DiagnosticJson(const Diagnostic& diagnostic);
[[nodiscard]] Value DiagnosticsJson(const Diagnostics& diagnostics);

}  // namespace kb
