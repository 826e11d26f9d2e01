// How the catalog names files: relative to the folder that holds .kb where they are below it,
// else absolute. So an index does not depend on where kb was called.
#pragma once

#include <string>
#include <vector>

namespace kb {

// The absolute path of the folder that holds `kb_dir`.
[[nodiscard]] std::string BaseOf(const std::string& kb_dir);

// `path`, absolute or relative to the working folder, as the catalog names it.
[[nodiscard]] std::string CataloguedPath(const std::string& kb_dir, const std::string& path);

// A catalogued path as one that can be opened from the working folder.
[[nodiscard]] std::string PathOnDisk(const std::string& kb_dir, const std::string& catalogued);

// Those of "skills", "traces" and "nnk" that are folders here.
[[nodiscard]] std::vector<std::string> DefaultRoots();

}  // namespace kb
