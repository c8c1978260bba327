"""What test/nvml has written down of its GPUs. By itself: gpus.py FILE prints a line for each instance, GPU:START+SIZE."""
import os
import struct
import sys


def read_gpus(path):
    """struct state of test/nvml/nvml.c: [(gpu, start, size, compute instances, where it lies)]"""
    if not os.path.exists(path) or os.path.getsize(path) == 0:
        return []
    data = open(path, "rb").read()
    out = []
    n_gpus, = struct.unpack_from("I", data, 0)
    ci, n_ci, n_gi = 12, 8, 8
    gi = 24 + n_ci * ci
    gpu = n_gi * gi + 4
    for g in range(n_gpus):
        for i in range(n_gi):
            at = 4 + g * gpu + i * gi
            used, _, _, _, start, size, _ = struct.unpack_from("??xxIIIII", data, at)
            if used:
                cis = sum(data[at + 24 + c * ci] for c in range(n_ci))
                out.append((g, start, size, cis, at))
    return out


if __name__ == "__main__":
    for found in read_gpus(sys.argv[1]):
        print("%d:%d+%d" % found[:3])
