#include "kb/nnk.h"
