#include "kb/value.h"
