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


def make_instance(path, gpu, row, start, size, gi=77):
    """As another program makes it, while the library is open or not. row: in the profiles of test/nvml/nvml.c. -> where it lies"""
    n_ci, n_gi = 8, 8
    one = 24 + n_ci * 12
    with open(path, "r+b") as f:
        for i in range(n_gi):
            at = 4 + gpu * (n_gi * one + 4) + i * one
            f.seek(at)
            if f.read(1) == b"\0":
                f.seek(at)
                f.write(struct.pack("??xxIIIII", True, False, gi, row, start, size, 1000 + i) + bytes(n_ci * 12))
                return at


def remove_instance(path, at):
    with open(path, "r+b") as f:
        f.seek(at)
        f.write(b"\0")


if __name__ == "__main__":
    for found in read_gpus(sys.argv[1]):
        print("%d:%d+%d" % found[:3])
