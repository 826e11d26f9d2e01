#include "kb/lint.h"
