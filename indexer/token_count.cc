#include "indexer/token_count.h"
