#include "indexer/vector_index.h"
