"""reboot.py KUBECONFIG NODE: that node of a cluster which others run (webhook, schedulers, controllers)
gets a device plugin with GPUs of test/nvml and a kubelet that hands its devices out; pods of a Deployment
come there, and the node reboots. Prints a line a step; fails at the first thing that does not agree."""
import json
import sys

import grpc

from world import CLAIMS, NS, Api, World, until

PODS = 5
R = "mig.das.com/1g.5gb"
LABEL = "app=reboots"
DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments"


class Node:
    def __init__(self, api, name):
        self.api, self.name = api, name
        self.given = {}  # device: uid of the pod that has it
        self.world = World(api, emulated=False, node=name)

    def pods(self):
        found = self.api.get("/api/v1/namespaces/default/pods?labelSelector=" + LABEL)["items"]
        return [p for p in found if "deletionTimestamp" not in p["metadata"]]

    def claims(self):
        """Those of this node; the scheduler has others, too."""
        return [c for c in self.api.get(CLAIMS)["items"] if c["spec"]["nodename"] == self.name]

    def admit(self):
        """As kubelet does: devices of pods that are gone are free again, new pods get some."""
        there = {p["metadata"]["uid"]: p for p in self.pods() if p["spec"].get("nodeName") == self.name}
        self.given = {d: uid for d, uid in self.given.items() if uid in there}
        for uid, pod in there.items():
            if uid in self.given.values():
                continue
            device = next(d for d in ("1g.5gb-%d" % i for i in range(14)) if d not in self.given)
            try:
                self.world.kubelet.allocate(R, device)
            except grpc.RpcError as e:  # the pod was deleted meanwhile, and its claim with it
                print("# not admitted: " + e.details())
                continue
            self.given[device] = uid
            self.world.kubelet.hold(pod["metadata"]["name"], "main", R, [device])
            self.world.kubelet.start_container(R, device)

    def disagreement(self, boot_id):
        """What does not agree: pods, claims, CDI files, instances, records, devices; "": all do."""
        self.admit()
        pods = {p["metadata"]["uid"] for p in self.pods()}
        claims = {c["metadata"]["name"]: c for c in self.claims()}
        if len(pods) != PODS or pods != {c["spec"]["podRef"]["uid"] for c in claims.values()} or len(claims) != PODS:
            return "%d pods, claims for %s" % (len(pods), sorted(c["spec"]["podRef"]["name"] for c in claims.values()))
        if {c["status"]["state"] for c in claims.values()} != {"inUse"}:
            return "claims are " + str(sorted(c["status"]["state"] for c in claims.values()))
        places = sorted((c["spec"]["gpuUUID"][-1], c["spec"]["migPlacement"]["start"], 1, 1) for c in claims.values())
        gpus = sorted((str(g), start, size, n_ci) for g, start, size, n_ci in self.world.gpus())
        if places != gpus:
            return "claims at %s, instances at %s" % (places, gpus)
        noted = []
        for name in self.world.cdi():
            device = json.load(open(self.world.dir + "/cdi/" + name))["devices"][0]
            if name != "c1g.5gb_%s.cdi.json" % device["name"]:
                return name + " speaks of " + device["name"]
            noted += [c["metadata"]["name"] for c in json.loads(device["annotations"]["mig.das.com/allocation"])]
        if sorted(noted) != sorted(claims):
            return "CDI files of " + str(noted)
        boots = [json.load(open(self.world.dir + "/journal/" + name))["bootID"] for name in self.world.journal()]
        if boots != [boot_id] * PODS:
            return "records of the boots " + str(boots)
        return "" if set(self.given.values()) == pods else "devices of " + str(self.given)

    def agrees(self, what, boot_id):
        last = [""]

        def look():
            last[0] = self.disagreement(boot_id)
            return not last[0]
        try:
            until(what, look, 120)
        except AssertionError:
            print("# " + last[0] + "\n# " + self.world.log().replace("\n", "\n# "))
            raise
        print(what)

    def uuids(self):
        return set(name.split("_")[1] for name in self.world.cdi())


def deployment():
    limits = {"nvidia.com/mig-1g.5gb": "1"}
    return {"metadata": {"name": "reboots"}, "spec": {
        "replicas": PODS, "selector": {"matchLabels": {"app": "reboots"}}, "template": {
            "metadata": {"labels": {"app": "reboots"}}, "spec": {
                "nodeSelector": {"reboots": "yes"}, "tolerations": [{"operator": "Exists"}],
                "containers": [{"name": "main", "image": "none", "resources": {"limits": limits}}]}}}}


def main(kubeconfig, name):
    api = Api(kubeconfig)
    api.patch("/api/v1/nodes/" + name, {"metadata": {"labels": {"reboots": "yes"}}})
    api.patch("/api/v1/nodes/" + name + "/status", {"status": {"nodeInfo": {"bootID": "boot-1"}}})
    try:
        walk(api, Node(api, name))
    finally:  # whether it came up or not
        world = World.open
        code = world.stop()
        world.kubelet.stop()
        world.remove(code)


def walk(api, node):
    name = node.name
    accelerator = "/apis/inference.redhat.com/v1alpha1/namespaces/%s/nodeaccelerators/%s" % (NS, name)
    until("its GPUs are published", lambda: api.get(accelerator)["status"]["nodeResources"]["nodeGpus"][0]["gpuUuid"]
          .startswith("GPU-00000000-"))
    api.post(DEPLOYMENTS, deployment())
    node.agrees("before the reboot all agree", "boot-1")
    before = node.uuids()
    node.world.stop(9)
    node.world.reboot("boot-2")
    api.patch("/api/v1/nodes/" + name + "/status", {"status": {"nodeInfo": {"bootID": "boot-2"}}})
    node.world.start()
    node.agrees("after the reboot all agree", "boot-2")
    assert before.isdisjoint(node.uuids()), "slices of before the reboot"
    api.delete(DEPLOYMENTS + "/reboots")
    until("nothing is left", lambda: not node.claims() and not node.world.cdi() and not node.world.journal()
          and not node.world.gpus(), 120)


main(*sys.argv[1:])
