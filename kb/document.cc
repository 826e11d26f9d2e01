#include "kb/document.h"
