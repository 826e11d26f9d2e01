#!/usr/bin/env python3
"""Cuts what kernels/run.sh wrote down to the reports in this folder; changes no value.

usage: trim.py FOLDER_OF_RUN    (writes beside itself)
"""
import csv
import pathlib
import re
import sys

# Columns of the raw page that no rule reads and that only repeat others.
DROPPED = re.compile(
    r"^device__|^numa__|TriageCompute|pcsamp|tempMetric|per_opcode|^sm__ops_path|^c2clink|^nvl|^pcie"
    r"|\.min(\.|$)|\.peak_sustained|per_second|_lookup_|_evict_|dshared|surface|texture|_ltcfabric"
    r"|_srcunit_gcc|aperture|\.sum\.per_cycle|_type_imma|ctc__|memdesc|_l1tex_m_|sass__inst_exec.*with"
    r"|launch__occupancy_per|launch__uses|sysmem|peer|\.max_rate|source__|nvrx|nvtx|ipc__"
)
# Those of the details page: one or two for each bound, or the file would be half a megabyte.
DETAILED = set(
    "copy_strided copy_float4 transpose_conflict spill_32_registers occupancy_shared_200k"
    " latency_pointer_chase compute_fp32 tensor_mma_bf16 atomics_one_address launch_tiny_grid"
    " launch_tail cache_l2 divergence_by_lane".split()
)
KEPT_MAX = re.compile(r"(sm|gpc)__cycles_(active|elapsed)\.max$|lts__d_atomic_input.*\.max\.pct")
MAX = re.compile(r"\.max(\.|$)")


def keep(name):
    if MAX.search(name):
        return bool(KEPT_MAX.search(name))
    if name.endswith(".sum.pct_of_peak_sustained_elapsed") and "__t_" not in name:
        return "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum" in name
    if name.endswith(".sum.pct_of_peak_sustained_active"):
        return False
    return not DROPPED.search(name)


def write(path, rows):
    with open(path, "w", newline="") as file:
        csv.writer(file, quoting=csv.QUOTE_ALL, lineterminator="\n").writerows(rows)
    print(path.name, path.stat().st_size)


def main():
    run, here = pathlib.Path(sys.argv[1]), pathlib.Path(__file__).parent
    raw = list(csv.reader(open(run / "raw.csv", newline="")))
    kept = [i for i, name in enumerate(raw[0]) if keep(name)]
    write(here / "raw.csv", [[row[i] for i in kept] for row in raw])
    lines = open(run / "raw.csv", newline="").read().splitlines(keepends=True)
    whole = lines[:2] + [line for line in lines[2:] if '"atomics_one_address"' in line]
    (here / "raw_whole.csv").write_text("".join(whole))
    details = list(csv.reader(open(run / "details.csv", newline="")))
    metric, kernel = details[0].index("Metric Name"), details[0].index("Kernel Name")
    wanted = [row for row in details[1:] if row[metric] and row[kernel] in DETAILED]
    write(here / "details.csv", details[:1] + wanted)
    lines = open(run / "details.csv", newline="").read().splitlines(keepends=True)
    (here / "details_whole.csv").write_text(
        lines[0] + "".join(line for line in lines if '"transpose_conflict"' in line)
    )


main()
