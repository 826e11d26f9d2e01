#include "kb/sha256.h"
