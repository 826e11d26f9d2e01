#include "kb/front_matter.h"
