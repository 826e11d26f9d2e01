#include "kb/diagnostic.h"
