#include "kb/yaml.h"
