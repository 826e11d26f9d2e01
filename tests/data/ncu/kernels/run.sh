#!/bin/sh
# Builds the cases and profiles one launch of each, clocks as they are.
# usage: run.sh OUT; needs nvcc, ncu and a GPU of compute capability 9.0
set -eu
here=$(cd "$(dirname "$0")" && pwd)
out=$1
mkdir -p "$out"
nvcc -O3 -lineinfo -std=c++17 -gencode=arch=compute_90a,code=sm_90a -Xptxas -v \
  -o "$out/cases" "$here/cases.cu" 2>"$out/ptxas.txt"
"$out/cases"
ncu --version >"$out/version.txt"
nvidia-smi --query-gpu=name,driver_version --format=csv,noheader >>"$out/version.txt"
ncu --set full --profile-from-start off --clock-control none -f -o "$out/cases" "$out/cases"
ncu --import "$out/cases.ncu-rep" --csv --page raw >"$out/raw.csv"
ncu --import "$out/cases.ncu-rep" --csv --page details >"$out/details.csv"
