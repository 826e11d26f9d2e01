#include "indexer/chunker.h"
