"""kubelet's side of Dynamic Resource Allocation, and a node whose plugin has that face."""
import json
import os

import grpc

from messages import DRA, HEALTH, REGISTRATION
from world import NODE, World, until

API = "/apis/resource.k8s.io/v1"
CLAIMS = API + "/namespaces/default/resourceclaims"
SLICES = API + "/resourceslices"
CLASSES = API + "/deviceclasses"
DRIVER, POOL = "mig.slipway.dev", "slipway/" + NODE


class Driver:
    """What kubelet does with a socket in plugins_registry."""

    def __init__(self, folder):
        self.folder = folder
        self.info = None
        self.channels = []
        os.makedirs(folder + "/plugins_registry", exist_ok=True)
        os.makedirs(folder + "/plugins", exist_ok=True)

    def connect(self, path):
        channel = grpc.insecure_channel("unix:" + path, options=[("grpc.default_authority", "localhost")])
        self.channels.append(channel)
        return channel

    def call(self, channel, method, request, answer, timeout=30, **how):
        return channel.unary_unary(method, request_serializer=lambda m: m.SerializeToString(),
                                   response_deserializer=answer.FromString)(request, timeout=timeout, **how)

    def register(self, error=""):
        """As kubelet does when it finds the socket."""
        sockets = until("a socket", lambda: os.listdir(self.folder + "/plugins_registry"))
        assert sockets == [DRIVER + "-reg.sock"], sockets
        channel = self.connect(self.folder + "/plugins_registry/" + sockets[0])
        self.info = self.call(channel, "/pluginregistration.Registration/GetInfo", REGISTRATION.InfoRequest(),
                              REGISTRATION.PluginInfo, wait_for_ready=True)
        self.channel = self.connect(self.info.endpoint)
        self.call(channel, "/pluginregistration.Registration/NotifyRegistrationStatus",
                  REGISTRATION.RegistrationStatus(plugin_registered=not error, error=error),
                  REGISTRATION.RegistrationStatusResponse)
        return self.info

    def prepare_all(self, claims, version="v1", timeout=30):
        """claims: documents. @return {uid: answer}"""
        request = DRA.NodePrepareResourcesRequest(claims=[claim_of(c) for c in claims])
        answer = self.call(self.channel, "/k8s.io.kubelet.pkg.apis.dra.%s.DRAPlugin/NodePrepareResources" % version,
                           request, DRA.NodePrepareResourcesResponse, timeout)
        return {e.key: e.value for e in answer.claims}

    def prepare(self, claim, **how):
        return self.prepare_all([claim], **how)[claim["metadata"]["uid"]]

    def unprepare_all(self, claims, version="v1", timeout=30):
        request = DRA.NodeUnprepareResourcesRequest(claims=[claim_of(c) for c in claims])
        answer = self.call(self.channel, "/k8s.io.kubelet.pkg.apis.dra.%s.DRAPlugin/NodeUnprepareResources" % version,
                           request, DRA.NodeUnprepareResourcesResponse, timeout)
        return {e.key: e.value for e in answer.claims}

    def unprepare(self, claim, **how):
        return self.unprepare_all([claim], **how)[claim["metadata"]["uid"]]

    def watch_health(self):
        stream = self.channel.unary_stream(
            "/v1alpha1.DRAResourceHealth/NodeWatchResources", request_serializer=lambda m: m.SerializeToString(),
            response_deserializer=HEALTH.NodeWatchResourcesResponse.FromString)
        return stream(HEALTH.NodeWatchResourcesRequest())

    def close(self):
        for channel in self.channels:
            channel.close()
        self.channels = []


def claim_of(doc):
    return DRA.Claim(namespace="default", uid=doc["metadata"]["uid"], name=doc["metadata"]["name"])


class DraWorld(World):
    def __init__(self, api, emulated=False, args=("--api=dra",), **how):
        self.driver = None
        self.resource_claims = []
        super().__init__(api, emulated=emulated, args=args, **how)

    def ready(self):
        if self.driver:
            self.driver.close()
        self.driver = Driver(self.dir + "/kubelet")
        until("a socket or the end", lambda: self.process.poll() is not None or
              os.listdir(self.dir + "/kubelet/plugins_registry"))
        try:
            self.driver.register()
        except grpc.RpcError:
            self.process.wait(timeout=10)  # it died in the midst of it
        until("ready", lambda: self.process.poll() is not None or self.http("/readyz")[0] == 200)
        assert self.process.poll() in (None, 99), self.log()

    def stop(self, *how):
        if self.driver:
            self.driver.close()
        code = super().stop(*how)
        return code

    def close(self):
        for name in self.resource_claims:
            self.api.delete(CLAIMS + "/" + name)
        for s in self.slices():
            self.api.delete(SLICES + "/" + s["metadata"]["name"])
        super().close()

    def resource_claim(self, name, *devices, annotations=None, devices_config=None):
        """An allocated one. devices: (request, device), or results whole"""
        results = [d if isinstance(d, dict) else
                   {"request": d[0], "driver": DRIVER, "pool": POOL, "device": d[1]} for d in devices]
        requests = sorted({r["request"].split("/")[0] for r in results}) or ["none"]
        self.resource_claims.append(name)
        self.api.post(CLAIMS, {
            "metadata": {"name": name, "annotations": annotations or {}},
            "spec": {"devices": {"requests": [
                {"name": r, "exactly": {"deviceClassName": "mig.slipway.dev"}} for r in requests]}}})
        if not devices:
            return self.api.get(CLAIMS + "/" + name)
        return self.api.call("PATCH", CLAIMS + "/" + name + "/status",
                             {"status": {"allocation": {"devices": dict(
                                 {"results": results}, **({"config": devices_config} if devices_config else {}))}}},
                             "application/merge-patch+json")

    def slices(self):
        return sorted((s for s in self.api.get(SLICES)["items"] if s["spec"]["nodeName"] == self.node),
                      key=lambda s: s["metadata"]["name"])

    def devices(self):
        """{name: device}, of the pool's last generation"""
        return {d["name"]: d for s in self.slices() for d in s["spec"].get("devices", [])}

    def edits(self, cdi_id):
        """Those of a CDI device, and those of its file."""
        kind, name = cdi_id.split("=")
        for f in self.cdi():
            doc = json.load(open(self.dir + "/cdi/" + f))
            for d in doc["devices"]:
                if doc["kind"] == kind and d["name"] == name:
                    return [doc.get("containerEdits", {}), d["containerEdits"]]
        raise AssertionError("no CDI device " + cdi_id)

    def container(self, *cdi_ids):
        """What a runtime makes of CDI devices: of what two of them set alike, the later one's counts."""
        env, mounts, nodes = {}, {}, {}
        for edits in (e for i in cdi_ids for e in self.edits(i)):
            env.update(e.split("=", 1) for e in edits.get("env", []))
            mounts.update((m["containerPath"], m["hostPath"]) for m in edits.get("mounts", []))
            nodes.update((n["path"], n) for n in edits.get("deviceNodes", []))
        return env, mounts, nodes

    def container_env(self, *cdi_ids):
        """The environment that the runtime adds for CDI devices."""
        return self.container(*cdi_ids)[0]
