#include "indexer/evaluate.h"
