#include "indexer/context.h"
