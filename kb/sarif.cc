#include "kb/sarif.h"
