#include "indexer/model2vec.h"
