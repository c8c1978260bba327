"""A host with the programs of a driver, played by shell scripts in a root of their own, and the process that runs
control daemons there."""
import os
import re
import shutil
import signal
import subprocess
import sys

from dra import DRIVER, DraWorld
from world import PLUGIN, until

SMI = """#!/bin/sh
echo "$*" >> /smi.log
if [ -e /smi.fail ]; then
    echo "something before it"
    read line < /smi.fail
    echo "$line"
    exit 3
fi
"""
CONTROL = """#!/bin/sh
pipe=/tmp/nvidia-mps
if [ "$1" = -f ]; then
    echo "$CUDA_VISIBLE_DEVICES $*" >> /mps.started
    if [ "$CUDA_MPS_PIPE_DIRECTORY" != "$pipe" ] || [ -e /mps.fail ]; then
        read line < /mps.fail
        echo "$line"
        exit 1
    fi
    : > /dev/shm/of-the-daemon
    : > "$CUDA_MPS_LOG_DIRECTORY/control.log"
    echo $$ > $pipe/control
    while [ ! -e $pipe/quit ]; do
        [ ! -e /mps.speaks ] || echo "the daemon speaks"
        sleep 0.05
    done
    exit 0
fi
while read line; do
    case $line in
    quit*) : > $pipe/quit ;;
    *) echo "$line" >> /mps.told ;;
    esac
done
"""


def can_mount(*how):
    return subprocess.run(["unshare", *how, "true"], stderr=subprocess.DEVNULL).returncode == 0


def need_mounts(title):
    """Daemons have a mount namespace: with no right to make one the test makes itself root of a user namespace."""
    if can_mount("-m"):
        return
    if os.geteuid() != 0 and can_mount("-rm"):
        os.execvp("unshare", ["unshare", "-rm", sys.executable, *sys.argv])
    print("ok 1 - %s # SKIP no right to make a mount namespace\n1..1" % title)
    sys.exit(0)


def programs(root):
    """What a shell script needs."""
    for name in ("sh", "sleep"):
        path = os.path.realpath(shutil.which(name))
        os.makedirs(root + "/bin", exist_ok=True)
        shutil.copy(path, root + "/bin/" + name)
        found = subprocess.run(["ldd", path], capture_output=True, text=True).stdout
        for library in re.findall(r"(/\S+) \(0x", found):
            os.makedirs(root + os.path.dirname(library), exist_ok=True)
            shutil.copy(os.path.realpath(library), root + library)


def config(strategy, requests=(), kind="MigDeviceConfig", source="FromClaim", **rest):
    return {"source": source, "requests": list(requests), "opaque": {"driver": DRIVER, "parameters": {
        "apiVersion": "resource.nvidia.com/v1beta1", "kind": kind, "sharing": dict({"strategy": strategy}, **rest)}}}


class SharingWorld(DraWorld):
    """driver: where its programs are on the host."""

    def __init__(self, api, mps=True, whole=False, driver="", serve=True):
        super().__init__(api, start=False, env={"SLIPWAY_NVML_MODE": "off"} if whole else {})
        self.host = self.dir + "/host"
        self.root = self.host + driver
        for folder in ("/tmp", "/dev/shm", "/usr/bin", "/run"):
            os.makedirs(self.root + folder, exist_ok=True)
        os.makedirs(self.host + "/dev/shm", exist_ok=True)
        programs(self.root)
        for name, text in (("nvidia-smi", SMI), ("nvidia-cuda-mps-control", CONTROL)):
            with open(self.root + "/usr/bin/" + name, "w") as f:
                f.write(text)
            os.chmod(self.root + "/usr/bin/" + name, 0o755)
        self.args += ["--host-root=" + self.host, "--whole-gpus"] + (["--mps"] if mps else [])
        self.server = None
        if mps and serve:
            self.serve()
        self.start()

    def serve(self):
        self.server_log = open(self.dir + "/mps.log", "a")
        self.server = subprocess.Popen([PLUGIN, "mps", "--host-root=" + self.host], stderr=self.server_log)
        until("its folder", lambda: os.path.isdir(self.host + "/run/slipway/mps"))

    def unserve(self, sig=signal.SIGTERM):
        if self.server:
            self.server.send_signal(sig)
            assert self.server.wait(timeout=60) in (0, -sig), open(self.dir + "/mps.log").read()
            self.server = None

    def close(self):
        self.unserve()
        assert not self.mps(), self.mps()
        super().close()

    def lines(self, name):
        """What the programs have written down."""
        path = self.root + "/" + name
        return open(path).read().splitlines() if os.path.exists(path) else []

    def write(self, name, text=None):
        path = self.root + "/" + name
        if text is None:
            os.unlink(path)
        else:
            with open(path, "w") as f:
                f.write(text + "\n")

    def mps(self):
        """What there is of control daemons on the host."""
        shm = [f for f in os.listdir(self.host + "/dev/shm") if f.startswith("slipway")]
        folder = self.host + "/run/slipway/mps"
        return shm + (os.listdir(folder) if os.path.isdir(folder) else [])

    def pid(self, claim):
        path = "%s/run/slipway/mps/%s/pipe/control" % (self.host, claim["metadata"]["uid"])
        return int(open(path).read())

    def modes(self):
        """The compute modes of the GPUs in test/nvml/nvml.c: 3 is EXCLUSIVE_PROCESS."""
        data = open(self.dir + "/gpus", "rb").read()
        at = 4 + 8 * (8 * 120 + 4)
        return [int.from_bytes(data[at + 4 * i:at + 4 * i + 4], "little") for i in range(2)]
