#include "kb/markdown.h"
