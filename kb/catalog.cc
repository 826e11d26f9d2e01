#include "kb/catalog.h"
