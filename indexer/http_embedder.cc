#include "indexer/http_embedder.h"
