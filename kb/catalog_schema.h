// The catalog's file: its tables, its version, and how it is opened. Private to the catalog.
// A change of the tables takes a new version: catalogs are rebuilt, not migrated.
#pragma once

#include <memory>
#include <string>

#include "kb/file.h"
#include "kb/sqlite.h"

namespace kb {

// All zero if there is no such file.
[[nodiscard]] FileStamp CatalogStamp(const std::string& path);

// Throws Error if there is none of this version. Works in a folder that may only be read.
[[nodiscard]] std::unique_ptr<Database> OpenCatalogToRead(const std::string& path);

// Creates it if need be, and replaces one of another version or with a damaged schema.
[[nodiscard]] std::unique_ptr<Database> OpenCatalogToWrite(const std::string& path);

// Deletes the file and what SQLite keeps beside it; no connection of ours may be open.
void RemoveCatalog(const std::string& path);

}  // namespace kb
