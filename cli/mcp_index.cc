#include "cli/mcp_index.h"

#include <sys/stat.h>

#include <filesystem>

namespace kb {

McpIndex::Mark McpIndex::MarkOf(int64_t generation) const {
  struct stat info = {};
  const std::string path = kb_dir_ + "/index-" + std::to_string(generation);
  if (stat(path.c_str(), &info) != 0) return {};
  return {info.st_ino, int64_t{info.st_mtim.tv_sec} * 1000000000 + info.st_mtim.tv_nsec};
}

void McpIndex::CloseIfOutdated() {
  if (retriever_ == nullptr) return;
  if (retriever_->IsOutdated() || MarkOf(retriever_->generation()) != mark_) retriever_.reset();
}

Retriever& McpIndex::Open() {
  CloseIfOutdated();
  if (retriever_ == nullptr) {
    retriever_ = std::make_unique<Retriever>(kb_dir_);
    mark_ = MarkOf(retriever_->generation());
    ++openings_;
  }
  return *retriever_;
}

Retriever* McpIndex::OpenIfAny() {
  std::error_code error;
  return std::filesystem::is_directory(kb_dir_, error) ? &Open() : nullptr;
}

}  // namespace kb
