#include "indexer/retriever.h"
