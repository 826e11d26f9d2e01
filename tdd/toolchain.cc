#include "tdd/toolchain.h"
