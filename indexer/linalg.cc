#include "indexer/linalg.h"
