#include "indexer/ingest.h"
