#include "kb/file.h"
