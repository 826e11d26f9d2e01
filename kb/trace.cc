#include "kb/trace.h"
