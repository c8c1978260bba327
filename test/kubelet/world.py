"""A node's surroundings for slipway-device-plugin: an API server (slipway emulate), kubelet's two
sockets (grpcio), GPUs (the NVML in test/nvml, or emulated), and the plugin as a process."""
import concurrent.futures
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
import urllib.error
import urllib.request

import grpc

from gpus import read_gpus
from messages import HELD, V1BETA1

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.path.dirname(os.environ.get("SLIPWAY", TOP + "/build/test/slipway"))
PLUGIN = BUILD + "/slipway-device-plugin"
EMULATOR = os.environ.get("SLIPWAY_RELEASE", TOP + "/build/slipway")
NVML = TOP + "/build/test/libnvidia-ml.so"
NS, NODE = "das-operator", "node-1"
CLAIMS = "/apis/inference.redhat.com/v1alpha1/namespaces/%s/allocationclaims" % NS
GPU = "GPU-00000000-0000-0000-0000-00000000000%d"


def until(what, condition, seconds=20):
    """Wait for an event of the other side; the limit is only for what never comes."""
    end = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise AssertionError("never: " + what)
        time.sleep(0.01)


class Api:
    """An API server."""

    def __init__(self, kubeconfig):
        self.kubeconfig = kubeconfig
        self.url = [line.split("server:")[1].strip().strip('"')
                    for line in open(kubeconfig) if "server:" in line][0]

    def call(self, method, path, body=None, kind="application/json"):
        request = urllib.request.Request(self.url + path, method=method,
                                         data=None if body is None else json.dumps(body).encode(),
                                         headers={"Content-Type": kind})
        with urllib.request.urlopen(request, timeout=20) as answer:
            return json.load(answer)

    def get(self, path):
        try:
            return self.call("GET", path)
        except urllib.error.HTTPError as e:
            if e.code == 404:
                return None
            raise

    def post(self, path, body):
        return self.call("POST", path, body)

    def patch(self, path, body):
        return self.call("PATCH", path, body, "application/merge-patch+json")

    def delete(self, path):
        try:
            return self.call("DELETE", path, {"gracePeriodSeconds": 0})
        except urllib.error.HTTPError as e:
            if e.code != 404:
                raise


class Emulator(Api):
    """The API server that all tests of a file share."""

    def __init__(self, version):
        self.dir = tempfile.mkdtemp(prefix="slipway-kubelet-")
        kubeconfig = self.dir + "/kubeconfig"
        self.log = open(self.dir + "/emulator.log", "w")
        self.process = subprocess.Popen(
            [EMULATOR, "emulate", "--no-nodes", "--no-controllers", "--kubeconfig-out", kubeconfig, "--kube-version", version],
            stdout=self.log, stderr=self.log)
        until("kubeconfig", lambda: os.path.exists(kubeconfig) and "server:" in open(kubeconfig).read())
        super().__init__(kubeconfig)
        subprocess.run(["kubectl", "--kubeconfig", self.kubeconfig, "create", "-f",
                        TOP + "/states/scheduler/crds"], check=True, stdout=self.log)
        self.post("/api/v1/namespaces", {"metadata": {"name": NS}})
        self.node = self.post("/api/v1/nodes", {"metadata": {"name": NODE}})

    def close(self):
        self.process.terminate()
        self.process.wait()
        shutil.rmtree(self.dir)


class Kubelet:
    """kubelet.sock and pod-resources/kubelet.sock."""

    def __init__(self, folder, held_service="v1.PodResourcesLister"):
        self.folder = folder
        self.registered = {}
        self.n_registrations = 0
        self.refuse = 0
        self.held = HELD.ListPodResourcesResponse()
        self.held_service = held_service
        self.servers = []
        self.channels = {}
        os.makedirs(folder + "/device-plugins", exist_ok=True)
        os.makedirs(folder + "/pod-resources", exist_ok=True)

    def register(self, request, context):
        if self.refuse:
            self.refuse -= 1
            context.abort(grpc.StatusCode.UNKNOWN, "not now")
        self.registered[request.resource_name] = request
        self.n_registrations += 1
        return V1BETA1.Empty()

    def serve(self, path, service, method, request, behaviour):
        server = grpc.server(concurrent.futures.ThreadPoolExecutor(2))
        server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(service, {
            method: grpc.unary_unary_rpc_method_handler(
                behaviour, request_deserializer=request.FromString,
                response_serializer=lambda m: m.SerializeToString())}),))
        if os.path.exists(path):
            os.unlink(path)
        server.add_insecure_port("unix:" + path)
        server.start()
        self.servers.append(server)

    def start(self):
        """As kubelet does: empty the folder, then make the socket."""
        plugins = self.folder + "/device-plugins"
        for name in os.listdir(plugins):
            os.unlink(plugins + "/" + name)
        self.registered = {}
        self.serve(plugins + "/kubelet.sock", "v1beta1.Registration", "Register",
                   V1BETA1.RegisterRequest, self.register)
        self.serve(self.folder + "/pod-resources/kubelet.sock", self.held_service, "List",
                   HELD.ListPodResourcesRequest, lambda request, context: self.held)

    def stop(self):
        for channel in self.channels.values():
            channel.close()
        self.channels = {}
        for server in self.servers:
            server.stop(None)
        self.servers = []

    def hold(self, pod, container, resource, ids, ns="default"):
        """What PodResources will say."""
        p = self.held.pod_resources.add(name=pod, namespace=ns)
        c = p.containers.add(name=container)
        for i in ids:  # one by one, as kubelet with topology does
            c.devices.add(resource_name=resource, device_ids=[i])

    def channel(self, resource):
        if resource not in self.channels:
            endpoint = self.registered[resource].endpoint
            path = "%s/device-plugins/%s" % (self.folder, endpoint)
            # kubelet's library names the socket's path there, which no host's name may look like
            self.channels[resource] = grpc.insecure_channel(
                "unix:" + path, options=[("grpc.default_authority", path)])
        return self.channels[resource]

    def method(self, resource, name, answer, stream=False):
        channel = self.channel(resource)
        make = channel.unary_stream if stream else channel.unary_unary
        return make("/v1beta1.DevicePlugin/" + name,
                    request_serializer=lambda m: m.SerializeToString(),
                    response_deserializer=answer.FromString)

    def allocate(self, resource, *ids, timeout=30):
        request = V1BETA1.AllocateRequest(
            container_requests=[V1BETA1.ContainerAllocateRequest(devicesIDs=ids)])
        return self.method(resource, "Allocate", V1BETA1.AllocateResponse)(
            request, timeout=timeout).container_responses[0]

    def start_container(self, resource, *ids):
        return self.method(resource, "PreStartContainer", V1BETA1.PreStartContainerResponse)(
            V1BETA1.PreStartContainerRequest(devicesIDs=ids), timeout=20)

    def watch(self, resource, **how):
        return self.method(resource, "ListAndWatch", V1BETA1.ListAndWatchResponse,
                           stream=True)(V1BETA1.Empty(), **how)


class World:
    """One node: fresh folders, a kubelet, a plugin."""

    def __init__(self, api, emulated=True, start=True, env=None, args=(), held_service=None, node=NODE,
                 gate=""):
        """gate: of a plugin whose GPUs are not made up; None: the one that it has by itself"""
        self.api = api
        self.gate = [] if gate is None else ["--gate=" + gate]
        self.node = node
        self.dir = tempfile.mkdtemp(prefix="slipway-node-")
        self.kubelet = Kubelet(self.dir + "/kubelet", held_service or "v1.PodResourcesLister")
        self.kubelet.start()
        self.emulated = emulated
        self.args = list(args) if any(a.startswith("--api") for a in args) else ["--api=deviceplugin", *args]
        self.env = dict(os.environ, SLIPWAY_NVML_STATE=self.dir + "/gpus",
                        SLIPWAY_NVML_FAIL=self.dir + "/fail", SLIPWAY_NVML_XID=self.dir + "/xid")
        self.env.update(env or {})
        self.boot("boot-1")
        self.process = None
        self.pods = []
        self.n = 0
        World.open = self
        if start:
            self.start()

    def boot(self, boot_id):
        with open(self.dir + "/boot_id", "w") as f:
            f.write(boot_id + "\n")

    def start(self, *args, wait=True, env=None):
        self.log_path = self.dir + "/plugin-%d.log" % self.n
        self.n += 1
        command = [PLUGIN, "daemonset", "--kubeconfig", self.api.kubeconfig, "--node-name", self.node,
                   "--kubelet-dir", self.dir + "/kubelet", "--cdi-dir", self.dir + "/cdi",
                   "--journal-dir", self.dir + "/journal",
                   "--dev-dir", self.dir + "/dev", "--proc-dir", self.dir + "/proc", "--toolkit-cdi-dir", self.dir + "/toolkit", "--boot-id-file", self.dir + "/boot_id",
                   "--health-probe-bind-address", "127.0.0.1:0",
                   "--metrics-bind-address", "127.0.0.1:0", "--metrics-secure=false"]
        command += ["--emulated-mode"] if self.emulated else ["--nvml-library", NVML] + self.gate
        with open(self.log_path, "w") as log:
            self.process = subprocess.Popen(command + self.args + list(args), stderr=log,
                                            env=dict(self.env, **(env or {})))
        if wait:
            self.ready()
        return self

    def log(self):
        return open(self.log_path).read()

    def ready(self):
        """Every resource is registered, or the process has ended by its test's own order."""
        until("registered", lambda: self.process.poll() is not None or
              self.kubelet.registered and self.http("/readyz")[0] == 200)
        assert self.process.poll() in (None, 99), self.log()

    def http(self, path):
        mark, key = ("serving metrics", " at=") if path == "/metrics" else ("for=health", " port=")
        port = until("port", lambda: [line.split(key)[1].split()[0]
                                      for line in self.log().splitlines() if mark in line])[0]
        try:
            with urllib.request.urlopen("http://127.0.0.1:%s%s" % (port, path), timeout=10) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as e:
            return e.code, e.read().decode()
        except OSError:  # it has just died
            return 0, ""

    def stop(self, sig=signal.SIGTERM):
        """@return the exit status"""
        if self.process is None:
            return 0
        if self.process.poll() is None:
            self.process.send_signal(sig)
        code = self.process.wait(timeout=30)
        self.process = None
        for channel in self.kubelet.channels.values():
            channel.close()
        self.kubelet.channels = {}
        return code

    open = None  # one at a time: two plugins of one node would fight

    def close(self):
        World.open = None
        code = self.stop()
        self.kubelet.stop()
        for pod in self.pods:
            self.api.delete("/api/v1/namespaces/default/pods/" + pod)
        for claim in self.claims():
            self.api.delete(CLAIMS + "/" + claim)
        self.api.delete("/apis/inference.redhat.com/v1alpha1/namespaces/%s/nodeaccelerators/%s" % (NS, NODE))
        self.remove(code)

    def remove(self, code):
        shutil.rmtree(self.dir)
        assert code in (0, -signal.SIGKILL, 99), "the plugin ended with %s" % code

    # ---- the cluster's objects
    def pod(self, name, *wants, init=0):
        """wants: one {resource: count} a container; the first @init are init containers."""
        containers = [{"name": "c%d" % i, "image": "x",
                       "resources": {"limits": {k: str(v) for k, v in w.items()},
                                     "requests": {k: str(v) for k, v in w.items()}}}
                      for i, w in enumerate(wants)]
        spec = {"nodeName": NODE, "containers": containers[init:] or [{"name": "main", "image": "x"}]}
        if init:
            spec["initContainers"] = containers[:init]
        self.pods.append(name)
        return self.api.post("/api/v1/namespaces/default/pods", {"metadata": {"name": name}, "spec": spec})

    def gpu(self, i):
        """The UUID of a GPU."""
        if not self.emulated:
            return GPU % i
        path = "/apis/inference.redhat.com/v1alpha1/namespaces/%s/nodeaccelerators/%s" % (NS, NODE)
        a = until("NodeAccelerator", lambda: (self.api.get(path) or {}).get("status"))
        return a["nodeResources"]["nodeGpus"][i]["gpuUuid"]

    def claim(self, pod, profile, start, size, gpu=0, state="created", n=None):
        name = "%s-%s-c0-%d" % (pod["metadata"]["uid"], NODE, len(self.claims()) if n is None else n)
        self.api.post(CLAIMS, {
            "apiVersion": "inference.redhat.com/v1alpha1", "kind": "AllocationClaim",
            "metadata": {"name": name, "labels": {"slipway.dev/node": NODE}},
            "spec": {"profile": profile, "nodename": NODE, "gpuUUID": self.gpu(gpu),
                     "migPlacement": {"start": start, "size": size},
                     "podRef": {"kind": "Pod", "name": pod["metadata"]["name"], "namespace": "default",
                                "uid": pod["metadata"]["uid"]}}})
        if state:
            self.api.patch(CLAIMS + "/" + name + "/status", {"status": {"state": state}})
        return name

    def claims(self):
        """{name: (state, pod's name)}"""
        return {c["metadata"]["name"]: (c.get("status", {}).get("state"), c["spec"]["podRef"]["name"])
                for c in self.api.get(CLAIMS)["items"]}

    def states(self):
        return sorted(str(state) for state, _ in self.claims().values())

    def end_pod(self, name):
        self.api.delete("/api/v1/namespaces/default/pods/" + name)

    # ---- what is on the node
    def cdi(self):
        return sorted(os.listdir(self.dir + "/cdi")) if os.path.isdir(self.dir + "/cdi") else []

    def journal(self):
        return sorted(f for f in os.listdir(self.dir + "/journal") if not f.startswith("."))

    def gpus(self):
        """[(gpu, start, size, compute instances)] from the NVML's state."""
        return [found[:4] for found in read_gpus(self.dir + "/gpus")]

    def reboot(self, boot_id):
        """While the plugin does not run: the GPUs' instances are gone, and what lay in memory. What is
        made after that gets UUIDs of its own."""
        shutil.rmtree(self.dir + "/cdi")
        if os.path.exists(self.dir + "/gpus"):
            data = bytearray(open(self.dir + "/gpus", "rb").read())
            for found in read_gpus(self.dir + "/gpus"):
                data[found[4]] = 0
            with open(self.dir + "/gpus", "wb") as f:
                f.write(data)
        self.boot(boot_id)
        self.kubelet.registered = {}

    def fail(self, *lines):
        with open(self.dir + "/fail", "w") as f:
            f.write("".join(line + "\n" for line in lines))

    def collect_claims(self):
        """What the scheduler does: claims that it made and whose pods have gone meanwhile go, too."""
        for name, (state, pod) in self.claims().items():
            if state == "created" and not self.api.get("/api/v1/namespaces/default/pods/" + pod):
                self.api.delete(CLAIMS + "/" + name)

    def nothing_left(self):
        return not self.cdi() and not self.journal() and not self.claims() and not self.gpus()


def main(tests, version="1.33"):
    """Run the tests, each with a world of its own; speak TAP. version: of Kubernetes (1.33: no resource.k8s.io/v1)"""
    api = Emulator(version)
    bad = 0
    try:
        for n, test in enumerate(tests, 1):
            name = test.__name__.replace("_", " ")
            try:
                test(api)
                print("ok %d - %s" % (n, name), flush=True)
            except BaseException as e:  # a failure of any kind is this test's
                if isinstance(e, KeyboardInterrupt):
                    raise
                bad += 1
                print("not ok %d - %s" % (n, name))
                for line in traceback.format_exc().splitlines():
                    print("# " + line)
                if World.open:
                    print("# " + World.open.log().replace("\n", "\n# "))
                    World.open.stop(signal.SIGKILL)
                    World.open.close()
                sys.stdout.flush()
    finally:
        api.close()
    print("1..%d" % len(tests))
    sys.exit(1 if bad else 0)
