// The lock of a `.kb` folder: one writer at a time, in any number of processes. Freed by the
// system when its holder dies.
#pragma once

#include <string>

namespace kb {

class FolderLock {
 public:
  // Makes the folder if need be and waits until the lock is free. Throws Error.
  explicit FolderLock(const std::string& kb_dir);
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  int fd_ = -1;
};

}  // namespace kb
