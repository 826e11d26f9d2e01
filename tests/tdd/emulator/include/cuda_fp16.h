// Stands in for the toolkit's header of this name: cuda_on_cpu.h has it all.
#pragma once
