#include "indexer/tokenizer.h"
