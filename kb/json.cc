#include "kb/json.h"
