"""The plugin's face for Dynamic Resource Allocation, as kubelet and the cluster see it."""
import concurrent.futures
import os
import sys
import time

import grpc

from dra import CLAIMS, CLASSES, DRIVER, POOL, SLICES, Driver, DraWorld
from gpus import make_instance, remove_instance
from world import GPU, NODE, NS, Emulator, World, main, until

ONE = "gpu-0-mig-1g5gb-%d"
ACCELERATOR = "/apis/inference.redhat.com/v1alpha1/namespaces/%s/nodeaccelerators/%s" % (NS, NODE)


def registers_as_a_driver_of_both_versions(api):
    w = DraWorld(api)
    info = w.driver.info
    assert (info.type, info.name) == ("DRAPlugin", DRIVER)
    assert list(info.supported_versions) == ["v1.DRAPlugin", "v1beta1.DRAPlugin"]
    assert info.endpoint == w.dir + "/kubelet/plugins/mig.slipway.dev/dra.sock"
    assert not w.kubelet.registered and os.listdir(w.dir + "/kubelet/device-plugins") == ["kubelet.sock"]
    claim = w.resource_claim("old", ("gpu", ONE % 0))
    assert not w.driver.prepare(claim, version="v1beta1").error
    assert not w.driver.unprepare(claim, version="v1beta1").error
    w.close()


def a_refused_registration_is_said(api):
    w = DraWorld(api, start=False)
    w.start(wait=False)
    w.driver = Driver(w.dir + "/kubelet")
    w.driver.register(error="another version of it is there")
    until("said", lambda: "another version of it is there" in w.log())
    assert w.http("/readyz")[0] != 200
    w.close()


def a_claim_gets_its_slice_and_gives_it_back(api):
    w = DraWorld(api)
    claim = w.resource_claim("one", ("gpu", "gpu-1-mig-3g20gb-4"))
    answer = w.driver.prepare(claim)
    assert not answer.error, answer.error
    d, = answer.devices
    assert (list(d.request_names), d.pool_name, d.device_name) == (["gpu"], POOL, "gpu-1-mig-3g20gb-4")
    assert list(d.cdi_device_ids) == ["mig.slipway.dev/claim=%s-gpu" % claim["metadata"]["uid"]]
    env = w.container_env(d.cdi_device_ids[0])
    assert env["NVIDIA_VISIBLE_DEVICES"].startswith("MIG-") and "CUDA_VISIBLE_DEVICES" not in env
    assert w.gpus() == [(1, 4, 4, 1)]
    status, = until("status", lambda: api.get(CLAIMS + "/one")["status"].get("devices"))
    assert (status["driver"], status["pool"], status["device"]) == (DRIVER, POOL, "gpu-1-mig-3g20gb-4")
    assert status["data"]["uuid"] == env["NVIDIA_VISIBLE_DEVICES"] and status["data"]["parentUUID"] == GPU % 1
    assert [(c["type"], c["status"]) for c in status["conditions"]] == [("Ready", "True")]
    assert w.driver.prepare(claim) == answer
    assert not w.driver.unprepare(claim).error
    assert w.nothing_left()
    assert not w.driver.unprepare(claim).error
    w.close()


def several_devices_and_claims_each_have_their_answer(api):
    w = DraWorld(api)
    two = w.resource_claim("two", ("a", ONE % 0), ("b", "gpu-1-mig-2g10gb-0"), ("b", "gpu-1-mig-2g10gb-2"))
    bad = w.resource_claim("bad", ("a", "gpu-9-mig-1g5gb-0"))
    unallocated = w.resource_claim("unallocated")
    other = w.resource_claim("other", {"request": "a", "driver": "other.dev", "pool": "p", "device": "d"})
    gone = {"metadata": {"name": "gone", "uid": "11-22"}}
    changed = {"metadata": {"name": "two", "uid": "33-44"}}
    answers = w.driver.prepare_all([two, bad, unallocated, other, gone, changed])
    assert len(answers) == 6
    errors = {n: answers[c["metadata"]["uid"]].error for n, c in
              (("two", two), ("bad", bad), ("un", unallocated), ("other", other), ("gone", gone), ("ch", changed))}
    assert not errors["two"]
    for name, words in (("bad", "no device 'gpu-9-mig-1g5gb-0'"), ("un", "not allocated"), ("other", "has no device of"),
                        ("gone", "not found"), ("ch", "has another UID")):
        assert words in errors[name], errors
    devices = answers[two["metadata"]["uid"]].devices
    uid = two["metadata"]["uid"]
    assert [(list(d.request_names), list(d.cdi_device_ids)) for d in devices] == [
        (["a"], ["mig.slipway.dev/claim=%s-a" % uid]), (["b"], ["mig.slipway.dev/claim=%s-b" % uid]), (["b"], []),
        (["*"], ["mig.slipway.dev/claim=" + uid])]
    def n(cdi):
        return len(w.container_env(cdi)["NVIDIA_VISIBLE_DEVICES"].split(","))
    assert [n(d.cdi_device_ids[0]) for d in devices if d.cdi_device_ids] == [1, 2, 3]
    assert sorted(w.gpus()) == [(0, 0, 1, 1), (1, 0, 2, 1), (1, 2, 2, 1)]
    assert not w.driver.unprepare(two).error and w.nothing_left()
    w.close()


def cdi_ids(answer, *requests):
    """What kubelet gives the runtime for a container that names these requests of the claim, or the claim as a whole."""
    return [i for d in answer.devices if not requests or set(requests) & set(d.request_names) for i in d.cdi_device_ids]


def several_claims_of_one_container_are_all_in_it(api):
    """A runtime keeps the last value of a variable; what each device adds has a name of its own."""
    w = DraWorld(api)
    one = w.resource_claim("one", ("gpu", ONE % 0))
    two = w.resource_claim("two", ("a", "gpu-1-mig-2g10gb-0"), ("b", "gpu-1-mig-2g10gb-2"))
    first, second = w.driver.prepare(one), w.driver.prepare(two)
    prefix = "/var/run/nvidia-container-devices/"
    for ids, names in ((cdi_ids(first) + cdi_ids(second), ["GPU_0_MIG_1G5GB_0", "GPU_1_MIG_2G10GB_0", "GPU_1_MIG_2G10GB_2"]),
                       (cdi_ids(second) + cdi_ids(first), ["GPU_0_MIG_1G5GB_0", "GPU_1_MIG_2G10GB_0", "GPU_1_MIG_2G10GB_2"]),
                       (cdi_ids(second, "b") + cdi_ids(second, "a"), ["GPU_1_MIG_2G10GB_0", "GPU_1_MIG_2G10GB_2"]),
                       (cdi_ids(second, "b") + cdi_ids(first), ["GPU_0_MIG_1G5GB_0", "GPU_1_MIG_2G10GB_2"])):
        env, mounts, _ = w.container(*ids)
        own = {k[len("SLIPWAY_DEVICE_"):]: v for k, v in env.items() if k.startswith("SLIPWAY_DEVICE_")}
        assert sorted(own) == names, own
        assert set(mounts) == {prefix + uuid for uuid in own.values()} and set(mounts.values()) == {"/dev/null"}
        assert set(env["NVIDIA_VISIBLE_DEVICES"].split(",")) <= set(own.values()) and "CUDA_VISIBLE_DEVICES" not in env
    # a pod that shares the claim with another one gets the same
    assert w.driver.prepare(two) == second and len(w.gpus()) == 3
    for claim in (one, two):
        assert not w.driver.unprepare(claim).error
    assert w.nothing_left()
    w.close()


TOOLKIT = """cdiVersion: 0.7.0
kind: nvidia.com/gpu
devices:
- name: all
  containerEdits: {deviceNodes: [{path: /dev/nvidia4}, {path: /dev/nvidia5}]}
containerEdits:
  env: [NVIDIA_VISIBLE_DEVICES=void, NVIDIA_CTK_LIBCUDA_DIR=/usr/lib64]
  deviceNodes: [{path: /dev/nvidiactl}]
  hooks: [{hookName: createContainer, path: /usr/bin/nvidia-cdi-hook, args: [nvidia-cdi-hook, update-ldcache]}]
  mounts:
  - {hostPath: /usr/lib64/libcuda.so.VERSION, containerPath: /usr/lib64/libcuda.so.VERSION, options: [ro, bind]}
"""


def has_device_nodes(w, *names):
    """The node's /dev and /proc: GPUs 0 and 1 are /dev/nvidia4 and 5; capabilities have the major number 237."""
    for folder in ("/dev/nvidia-caps", "/proc/driver/nvidia-caps", "/toolkit"):
        os.makedirs(w.dir + folder, exist_ok=True)
    for name in names:
        os.symlink("/dev/null", w.dir + "/dev/" + name)  # a character device, 1:3
    with open(w.dir + "/proc/devices", "w") as f:
        f.write("Character devices:\n  1 mem\n236 nvidia-caps-imex-channels\n237 nvidia-caps\n\nBlock devices:\n  7 loop\n")
    with open(w.dir + "/proc/driver/nvidia-caps/mig-minors", "w") as f:
        f.write("config 1\nmonitor 2\n")
        for gpu in (4, 5):
            for gi in range(15):
                f.write("gpu%d/gi%d/access %d\n" % (gpu, gi, gpu * 1000 + gi * 10))
                f.writelines("gpu%d/gi%d/ci%d/access %d\n" % (gpu, gi, ci, gpu * 1000 + gi * 10 + ci + 1) for ci in range(8))


CONTROL = ["/dev/nvidia-uvm", "/dev/nvidia-uvm-tools", "/dev/nvidiactl"]


def caps_of(api, name, gpu):
    """The device nodes of the slices of a claim: of the access to the GPU instance, and to the compute instance."""
    data = [d["data"] for d in until("status", lambda: api.get(CLAIMS + "/" + name)["status"].get("devices"))]
    minors = {m for d in data for m in (gpu * 1000 + d["gpuInstanceID"] * 10,
                                        gpu * 1000 + d["gpuInstanceID"] * 10 + d["computeInstanceID"] + 1)}
    return {"/dev/nvidia-caps/nvidia-cap%d" % m for m in minors}


def a_container_gets_the_device_nodes_of_its_slices(api):
    w = DraWorld(api, start=False)
    has_device_nodes(w, "nvidia4", "nvidia5", "nvidiactl", "nvidia-uvm", "nvidia-uvm-tools")
    w.start()
    one = w.resource_claim("one", ("gpu", ONE % 0))
    two = w.resource_claim("two", ("a", "gpu-1-mig-2g10gb-0"), ("b", "gpu-1-mig-2g10gb-2"))
    first, second = w.driver.prepare(one), w.driver.prepare(two)
    env, mounts, nodes = w.container(*cdi_ids(first))
    assert set(nodes) == {"/dev/nvidia4", *CONTROL} | caps_of(api, "one", 4), nodes
    assert len(nodes) == 6
    assert (nodes["/dev/nvidia4"]["type"], nodes["/dev/nvidia4"]["major"], nodes["/dev/nvidia4"]["minor"]) == ("c", 1, 3)
    for path, node in nodes.items():
        if "nvidia-caps" in path:
            assert (node["type"], node["major"], path) == ("c", 237, "/dev/nvidia-caps/nvidia-cap%d" % node["minor"])
    # without the toolkit's file the libraries are left to its runtime
    assert env["NVIDIA_VISIBLE_DEVICES"].startswith("MIG-") and mounts
    _, _, both = w.container(*cdi_ids(first), *cdi_ids(second))
    assert set(both) == {"/dev/nvidia4", "/dev/nvidia5", *CONTROL} | caps_of(api, "one", 4) | caps_of(api, "two", 5)
    _, _, of_b = w.container(*cdi_ids(second, "b"))
    assert len(of_b) == 6 and set(of_b) < set(both)
    for claim in (one, two):
        assert not w.driver.unprepare(claim).error
    w.close()


def device_nodes_that_the_node_lacks_are_left_out(api):
    w = DraWorld(api, start=False)
    has_device_nodes(w, "nvidiactl")
    os.unlink(w.dir + "/proc/devices")
    open(w.dir + "/toolkit/nvidia.yaml", "w").write(TOOLKIT.replace("VERSION", "580.159.04"))
    w.start()
    claim = w.resource_claim("one", ("gpu", ONE % 0))
    env, mounts, nodes = w.container(*cdi_ids(w.driver.prepare(claim)))
    assert set(nodes) == {"/dev/nvidiactl"}
    # the toolkit's libraries would be of no use without them: its runtime may know better
    assert env["NVIDIA_VISIBLE_DEVICES"].startswith("MIG-") and "NVIDIA_CTK_LIBCUDA_DIR" not in env
    assert not w.driver.unprepare(claim).error
    w.close()


def with_the_toolkits_libraries_no_special_runtime_is_needed(api):
    for version, whole in (("580.159.04", True), ("570.86.15", False)):
        w = DraWorld(api, start=False)
        has_device_nodes(w, "nvidia4", "nvidia5", "nvidiactl", "nvidia-uvm")
        open(w.dir + "/toolkit/nvidia.yaml", "w").write(TOOLKIT.replace("VERSION", version))
        w.start()
        claims = [w.resource_claim("one", ("gpu", ONE % 0)), w.resource_claim("two", ("gpu", "gpu-1-mig-2g10gb-0"))]
        ids = [i for c in claims for i in cdi_ids(w.driver.prepare(c))]
        env, mounts, nodes = w.container(*ids)
        assert {"/dev/nvidia4", "/dev/nvidia5", "/dev/nvidiactl", "/dev/nvidia-uvm"} < set(nodes) and len(nodes) == 8
        if whole:
            assert env["NVIDIA_VISIBLE_DEVICES"] == "void" and env["NVIDIA_CTK_LIBCUDA_DIR"] == "/usr/lib64"
            assert list(mounts) == ["/usr/lib64/libcuda.so." + version]
            assert [h["path"] for h in w.edits(ids[0])[0]["hooks"]] == ["/usr/bin/nvidia-cdi-hook"]
            assert len({k for k in env if k.startswith("SLIPWAY_DEVICE_")}) == 2
        else:  # of a driver that is not loaded any more
            assert env["NVIDIA_VISIBLE_DEVICES"].startswith("MIG-") and len(mounts) == 2
        for claim in claims:
            assert not w.driver.unprepare(claim).error
        w.close()


def claims_are_prepared_in_parallel(api):
    w = DraWorld(api)
    claims = [w.resource_claim("p%d" % i, ("gpu", ONE % i)) for i in range(7)]
    with concurrent.futures.ThreadPoolExecutor(7) as pool:
        answers = list(pool.map(w.driver.prepare, claims))
    assert not any(a.error for a in answers)
    assert sorted(w.gpus()) == [(0, i, 1, 1) for i in range(7)]
    with concurrent.futures.ThreadPoolExecutor(7) as pool:
        assert not any(a.error for a in pool.map(w.driver.unprepare, claims))
    assert w.nothing_left()
    w.close()


def a_gpu_that_takes_its_time_delays_no_other(api):
    w = DraWorld(api)
    slow, quick = (w.resource_claim("g%d" % i, ("gpu", "gpu-%d-mig-1g5gb-0" % i)) for i in (0, 1))
    w.fail("gi_create wait")
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        answer = pool.submit(w.driver.prepare, slow)
        until("begun", lambda: not open(w.dir + "/fail").read())
        assert not w.driver.prepare(quick, timeout=10).error and w.gpus() == [(1, 0, 1, 1)]
        os.unlink(w.dir + "/fail")
        assert not answer.result().error
    for claim in (slow, quick):
        assert not w.driver.unprepare(claim).error
    assert w.nothing_left()
    w.close()


def limits_of_one_container_are_one_device(api):
    """kube-scheduler makes one claim of all limits of a pod."""
    w = DraWorld(api)
    claim = w.resource_claim("made", ("container-0-request-0", ONE % 0), ("container-0-request-1", "gpu-0-mig-2g10gb-2"),
                             ("container-1-request-0", ONE % 6),
                             annotations={"resource.kubernetes.io/extended-resource-claim": "true"})
    answer = w.driver.prepare(claim)
    ids = {d.request_names[0]: list(d.cdi_device_ids) for d in answer.devices}
    assert ids["container-0-request-0"] == ids["container-0-request-1"] != ids["container-1-request-0"]
    env = w.container_env(ids["container-0-request-0"][0])
    assert len(env["NVIDIA_VISIBLE_DEVICES"].split(",")) == 2
    w.driver.unprepare(claim)
    w.close()


def an_alternative_counts_as_its_request(api):
    w = DraWorld(api)
    claim = w.resource_claim("first", ("gpu/large", ONE % 0))
    d, = w.driver.prepare(claim).devices
    assert list(d.request_names) == ["gpu"]
    w.driver.unprepare(claim)
    w.close()


def admin_access_makes_nothing(api):
    w = DraWorld(api)
    claim = w.resource_claim("user", ("gpu", ONE % 0))
    w.driver.prepare(claim)
    admin = w.resource_claim("admin", {"request": "all", "driver": DRIVER, "pool": POOL, "device": ONE % 0,
                                       "adminAccess": True})
    d, = w.driver.prepare(admin).devices
    assert w.container_env(d.cdi_device_ids[0])["NVIDIA_VISIBLE_DEVICES"] == GPU % 0
    assert not w.driver.unprepare(admin).error
    assert w.gpus() == [(0, 0, 1, 1)]
    w.driver.unprepare(claim)
    assert w.nothing_left()
    w.close()


def the_plugin_restarts_and_answers_the_same(api):
    for how in (15, 9):
        w = DraWorld(api)
        claim = w.resource_claim("keeps", ("a", ONE % 0), ("b", ONE % 1))
        before = w.driver.prepare(claim)
        gpus, files = w.gpus(), w.cdi()
        assert w.stop(how) in (0, -9)
        os.unlink(w.dir + "/cdi/" + files[0])
        w.start()
        assert w.driver.prepare(claim) == before
        assert w.gpus() == gpus and w.cdi() == files
        w.stop(how)
        w.start()
        assert not w.driver.unprepare(claim).error and w.nothing_left()
        w.close()


def after_a_reboot_the_slices_are_made_again(api):
    w = DraWorld(api)
    claim = w.resource_claim("keeps", ("a", ONE % 0))
    before = w.driver.prepare(claim)
    old = w.container_env(before.devices[0].cdi_device_ids[0])
    w.stop()
    w.reboot("boot-2")
    w.start()
    assert w.driver.prepare(claim) == before
    until("made again", lambda: w.gpus() == [(0, 0, 1, 1)])
    assert w.container_env(before.devices[0].cdi_device_ids[0]) != old
    w.driver.unprepare(claim)
    w.close()


def a_slice_that_cannot_be_made_is_an_error_of_its_claim(api):
    w = DraWorld(api)
    for what in ("gi_create 999", "ci_create 999"):
        claim = w.resource_claim("unlucky", ("a", ONE % 0), ("b", ONE % 1))
        w.fail(what)
        assert "NVML error 999" in w.driver.prepare(claim).error
        until("undone", w.nothing_left)
        assert not w.driver.prepare(claim).error
        assert not w.driver.unprepare(claim).error
        api.delete(CLAIMS + "/unlucky")
    w.close()


def a_slice_in_use_is_an_error_until_it_is_free(api):
    w = DraWorld(api)
    claim = w.resource_claim("busy", ("a", ONE % 0))
    w.driver.prepare(claim)
    w.fail("gi_destroy 19 1")
    assert "In use by another client" in w.driver.unprepare(claim).error
    assert not w.driver.unprepare(claim).error and w.nothing_left()
    w.close()


def a_configuration_that_is_not_carried_out_is_an_error(api):
    w = DraWorld(api)
    result = {"request": "gpu", "driver": DRIVER, "pool": POOL, "device": ONE % 0}

    def config(strategy):
        return [{"source": "FromClaim", "requests": ["gpu"], "opaque": {"driver": DRIVER, "parameters": {
            "apiVersion": "resource.nvidia.com/v1beta1", "kind": "MigDeviceConfig", "sharing": {"strategy": strategy}}}}]
    bad = w.resource_claim("mps", result, devices_config=config("MPS"))
    assert "nobody runs control daemons" in w.driver.prepare(bad).error and not w.gpus()
    good = w.resource_claim("turns", result, devices_config=config("TimeSlicing"))
    assert not w.driver.prepare(good).error
    w.driver.unprepare(good)
    w.close()


def malformed_requests_are_refused(api):
    w = DraWorld(api)
    for message in (b"\xff\xff\xff", b"\x0a\x04\x12\x02\x2e\x2e"):
        for method in ("NodePrepareResources", "NodeUnprepareResources"):
            raw = w.driver.channel.unary_unary("/k8s.io.kubelet.pkg.apis.dra.v1.DRAPlugin/" + method)
            try:
                raw(message, timeout=10)
                raise AssertionError("was not refused")
            except grpc.RpcError as e:
                assert e.code() == grpc.StatusCode.INVALID_ARGUMENT, e
    assert w.driver.prepare_all([]) == {}
    w.close()


def a_claim_that_was_deleted_meanwhile_gives_its_slice_back(api):
    """kubelet has lost what it knew, and says nothing."""
    w = DraWorld(api)
    stays, goes, again = (w.resource_claim(n, ("gpu", ONE % i)) for i, n in enumerate(("stays", "goes", "again")))
    for claim in (stays, goes, again):
        w.driver.prepare(claim)
    w.stop()
    api.delete(CLAIMS + "/goes")
    api.delete(CLAIMS + "/again")
    w.resource_claim("again", ("gpu", ONE % 5))
    w.start()
    until("given back", lambda: w.gpus() == [(0, 0, 1, 1)])
    w.driver.unprepare(stays)
    w.close()


VIEWS = "/apis/inference.redhat.com/v1alpha1/namespaces/default/allocationclaims"


def allocationclaims_show_what_resourceclaims_have(api):
    w = DraWorld(api)
    claim = w.resource_claim("shown", ("a", ONE % 3), ("b", "gpu-1-mig-3g20gb-4"))
    uid = claim["metadata"]["uid"]
    api.call("PATCH", CLAIMS + "/shown/status", {"status": {"reservedFor": [{"resource": "pods", "name": "p", "uid": "7-8"}]}},
             "application/merge-patch+json")

    def views():
        return {v["metadata"]["name"]: v for v in api.get(VIEWS)["items"]}
    w.driver.prepare(claim)
    until("both in use", lambda: [v.get("status", {}).get("state") for v in views().values()] == ["inUse"] * 2)
    found = views()
    assert sorted(found) == [uid + "-0", uid + "-1"]
    assert sorted((v["spec"]["profile"], v["spec"]["gpuUUID"], v["spec"]["migPlacement"]["start"], v["spec"]["migPlacement"]["size"])
                  for v in found.values()) == [("1g.5gb", GPU % 0, 3, 1), ("3g.20gb", GPU % 1, 4, 4)]
    for v in found.values():
        assert v["spec"]["podRef"] == {"kind": "Pod", "namespace": "default", "name": "p", "uid": "7-8"}
        assert v["metadata"]["labels"] == {"slipway.dev/view": "ResourceClaim"} and v["spec"]["nodename"] == NODE
        assert v["metadata"]["annotations"]["slipway.dev/resource-claim"] == "shown"
        assert [(o["kind"], o["name"], o["uid"]) for o in v["metadata"]["ownerReferences"]] == [("ResourceClaim", "shown", uid)]
    # they are counted once, by nobody as a slice of the device plugin's
    assert len(free_memory(w, 0)) == 8
    w.stop()
    w.start()
    w.driver.prepare(claim)
    assert sorted(views()) == sorted(found)
    assert not w.driver.unprepare(claim).error
    until("gone with it", lambda: not views())
    w.close()


def views_can_be_switched_off(api):
    w = DraWorld(api, args=["--api=dra", "--claim-views=false"])
    claim = w.resource_claim("hidden", ("a", ONE % 3))
    w.driver.prepare(claim)
    until("status", lambda: api.get(CLAIMS + "/hidden")["status"].get("devices"))
    w.driver.unprepare(claim)
    w.close()
    assert not api.get(VIEWS)["items"]


# ---- what is published

def a_device_for_each_place_of_each_profile(api):
    w = DraWorld(api)
    slices = until("slices", lambda: len(w.slices()) == 2 and w.slices())
    assert slices[0]["metadata"]["ownerReferences"][0]["uid"] == api.node["metadata"]["uid"]
    assert {s["spec"]["pool"]["generation"] for s in slices} == {1}
    assert len(slices[0]["spec"]["sharedCounters"]) == 2
    devices = w.devices()
    assert ONE % 0 in devices and "gpu-1-mig-7g40gb-0" in devices
    is_ = {k: next(iter(v.values())) for k, v in devices[ONE % 3]["attributes"].items()}
    assert is_ == {
        "type": "mig", "profile": "1g.5gb", "parentUUID": GPU % 0, "index": 0, "placementStart": 3, "placementSize": 1,
        "productName": "NVIDIA A100-SXM4-40GB", "brand": "Nvidia", "architecture": "Ampere", "cudaComputeCapability": "8.0.0",
        "driverVersion": "580.159.4", "cudaDriverVersion": "13.0.0", "resource.kubernetes.io/pciBusID": "fff0:10:00.0"}, is_
    has = {k: v["value"] for k, v in devices["gpu-1-mig-3g20gb-4"]["capacity"].items()}
    assert has == {"memory": "19968Mi", "multiprocessors": "42", "copyEngines": "3", "decoders": "2", "encoders": "0",
                   "jpegEngines": "0", "ofaEngines": "0"}, has
    w.stop()
    w.start()
    time.sleep(0.3)
    # a start without news writes nothing
    assert w.slices() == slices
    w.close()


def devices_are_listed_anew_as_slices_are_taken_and_freed(api):
    w = DraWorld(api, args=("--api=dra", "--device-order=packed"))
    first = until("devices", lambda: list(w.devices()))
    claim = w.resource_claim("one", ("gpu", "gpu-0-mig-3g20gb-0"))
    assert not w.driver.prepare(claim).error
    # what fits no longer is behind all that does; a slice of the GPU that is begun comes before one of a whole
    then = until("another order", lambda: list(w.devices()) != first and list(w.devices()))
    assert sorted(then) == sorted(first)
    gone = [n for n in then if n in (ONE % 0, ONE % 3, "gpu-0-mig-2g10gb-2", "gpu-0-mig-3g20gb-0", "gpu-0-mig-7g40gb-0")]
    assert len(gone) == 5 and min(map(then.index, gone)) > then.index("gpu-1-mig-7g40gb-0"), then
    assert next(n for n in then if "3g20gb" in n) == "gpu-0-mig-3g20gb-4", then
    # one ResourceSlice was replaced: the pool was never incomplete
    assert {s["spec"]["pool"]["generation"] for s in w.slices()} == {1}
    assert not w.driver.unprepare(claim).error
    until("the order of empty GPUs", lambda: list(w.devices()) == first)
    w.close()


def the_order_of_devices_stays_unless_asked_otherwise(api):
    w = DraWorld(api)
    first = until("slices", lambda: len(w.slices()) == 2 and w.slices())
    assert not w.driver.prepare(w.resource_claim("one", ("gpu", "gpu-0-mig-3g20gb-0"))).error
    time.sleep(1)
    assert w.slices() == first
    w.close()


def classes_are_made_once(api):
    w = DraWorld(api)
    c = until("a class", lambda: api.get(CLASSES + "/mig-1g.5gb.slipway.dev"))
    assert c["spec"]["extendedResourceName"] == "nvidia.com/mig-1g.5gb"
    assert api.get(CLASSES + "/das-1g.5gb.slipway.dev")["spec"]["extendedResourceName"] == "mig.das.com/1g.5gb"
    api.call("PATCH", CLASSES + "/mig-1g.5gb.slipway.dev", {"metadata": {"annotations": {"mine": "yes"}}},
             "application/merge-patch+json")
    w.stop()
    w.start()
    time.sleep(0.3)
    assert api.get(CLASSES + "/mig-1g.5gb.slipway.dev")["metadata"]["annotations"] == {"mine": "yes"}
    w.close()


def classes_go_with_the_last_of_their_owners(api):
    """Of two releases neither takes the other's away."""
    roles = "/apis/rbac.authorization.k8s.io/v1/clusterroles"
    uids = {n: api.post(roles, {"metadata": {"name": n}, "rules": []})["metadata"]["uid"] for n in ("one", "two")}

    def owners(name):
        return [(o["kind"], o["name"], o["uid"], o.get("controller", False), o.get("blockOwnerDeletion", False))
                for o in api.get(CLASSES + "/" + name)["metadata"].get("ownerReferences", [])]
    for c in api.get(CLASSES)["items"]:
        api.delete(CLASSES + "/" + c["metadata"]["name"])
    mine = {"metadata": {"name": "gpu.slipway.dev"}, "spec": {"selectors": [{"cel": {"expression": "true"}}]}}
    api.post(CLASSES, mine)
    for n, args in enumerate((["one"], ["two"], ["one"], ["none"])):
        w = DraWorld(api, args=["--api=dra", "--class-owner=" + args[0]])
        w.close()
        wanted = [("ClusterRole", o, uids[o], False, False) for o in ("one", "two")[:n + 1]]
        for name in ("mig-1g.5gb.slipway.dev", "das-1g.5gb.slipway.dev", "mig.slipway.dev"):
            assert sorted(owners(name)) == wanted, (n, owners(name))
        assert not owners("gpu.slipway.dev")  # an administrator's
    for n in uids:
        api.delete(roles + "/" + n)
    for c in api.get(CLASSES)["items"]:
        api.delete(CLASSES + "/" + c["metadata"]["name"])


def a_gpu_that_fails_leaves_the_pool_and_is_told_of(api):
    w = DraWorld(api)
    until("slices", lambda: len(w.slices()) == 2)
    stream = w.driver.watch_health()
    assert {h.health for h in next(stream).devices} == {1}
    with open(w.dir + "/xid", "w") as f:
        f.write("1 79")
    until("left out", lambda: {n[:5] for n in w.devices()} == {"gpu-0"})
    health = {h.device.device_name[:5]: (h.health, h.message) for h in next(stream).devices}
    assert health == {"gpu-0": (1, ""), "gpu-1": (2, "its GPU reported Xid 79")}, health
    until("all of them", lambda: {s["spec"]["pool"]["generation"] for s in w.slices()} == {2})
    claim = w.resource_claim("late", ("a", "gpu-1-mig-1g5gb-0"))
    assert "no device" in w.driver.prepare(claim).error
    stream.cancel()
    w.close()


def slices_that_others_delete_come_again(api):
    w = DraWorld(api)
    until("slices", lambda: len(w.slices()) == 2)
    api.delete(SLICES + "/" + w.slices()[0]["metadata"]["name"])
    until("again", lambda: len(w.slices()) == 2 and len({s["spec"]["pool"]["generation"] for s in w.slices()}) == 1)
    w.close()


# ---- what others make

THREE = 4  # the row of 3g.20gb


def instances_that_others_made_are_published_as_taken(api):
    w = DraWorld(api)
    ours = w.resource_claim("ours", ("gpu", ONE % 0))
    assert not w.driver.prepare(ours).error
    at = make_instance(w.dir + "/gpus", 0, THREE, 4, 4)
    until("taken", lambda: free_memory(w, 0) == ["memory-%d" % i for i in range(4)])
    assert len(free_memory(w, 1)) == 8 and "3g.20gb at 4" in w.log()
    w.stop()
    w.start()
    assert free_memory(w, 0) == ["memory-%d" % i for i in range(4)]
    assert not w.driver.unprepare(ours).error and [g[:3] for g in w.gpus()] == [(0, 4, 4)]
    remove_instance(w.dir + "/gpus", at)
    until("free again", lambda: len(free_memory(w, 0)) == 8)
    assert w.nothing_left()
    w.close()


def a_place_that_another_took_is_published_as_taken_at_once(api):
    w = DraWorld(api)
    claim = w.resource_claim("late", ("gpu", "gpu-0-mig-3g20gb-4"))
    make_instance(w.dir + "/gpus", 0, THREE, 4, 4)
    assert "there is a GPU instance already" in w.driver.prepare(claim).error
    until("taken", lambda: len(free_memory(w, 0)) == 4, seconds=5)
    assert w.gpus() == [(0, 4, 4, 0)]
    w.close()


def one_gpu_at_first(api, order, then):
    """NVML does as the order says when it is first asked for the instances of a GPU."""
    w = DraWorld(api, start=False)
    w.fail(order)
    w.start(wait=False)
    w.driver = Driver(w.dir + "/kubelet")
    w.driver.register()
    until("one of two", lambda: len({n[:5] for n in w.devices()}) == 1)
    then(w)
    until("both", lambda: len({n[:5] for n in w.devices()}) == 2, seconds=30)
    w.close()


def a_gpu_that_does_not_answer_keeps_no_other_from_being_published(api):
    one_gpu_at_first(api, "gi_list wait", lambda w: os.unlink(w.dir + "/fail"))


def a_gpu_whose_instances_cannot_be_read_is_not_published(api):
    one_gpu_at_first(api, "gi_list 999 1", lambda w: None)


# ---- from one face to the other

R = "mig.das.com/1g.5gb"


def free_memory(w, gpu):
    """Memory slices that the counters of a GPU have."""
    return sorted(n for s in w.slices() for c in s["spec"].get("sharedCounters", []) if c["name"] == "gpu-%d" % gpu
                  for n, v in c["counters"].items() if n.startswith("memory") and v["value"] != "0")


def slices_of_the_device_plugin_stay_and_are_published_as_taken(api):
    w = DraWorld(api, start=False, args=["--api=deviceplugin"])
    w.start(wait=False)
    World.ready(w)
    pod = w.pod("old", {R: 1})
    w.claim(pod, "1g.5gb", 3, 1, 0)
    promised = w.pod("promised", {R: 1})
    promise = w.claim(promised, "1g.5gb", 6, 1, 0)
    w.kubelet.allocate(R, "1g.5gb-0")
    until("inUse", lambda: "inUse" in w.states())
    w.stop()
    w.args = ["--api=dra"]
    w.start()
    assert os.listdir(w.dir + "/kubelet/device-plugins") == ["kubelet.sock"]
    until("taken", lambda: free_memory(w, 0) == ["memory-%d" % i for i in (0, 1, 2, 4, 5, 7)])
    assert w.gpus() == [(0, 3, 1, 1)] and len(w.cdi()) == 1
    accelerator = until("says so", lambda: [
        c for c in api.get(ACCELERATOR)["status"]["conditions"]
        if c["type"] == "DynamicResourceAllocation" and c["status"] == "True"])
    assert accelerator[0]["reason"] == "ResourceClaims" and accelerator[0]["message"] == "--api"
    claim = w.resource_claim("beside", ("gpu", ONE % 0))
    assert not w.driver.prepare(claim).error
    w.end_pod("old")
    api.delete("/apis/inference.redhat.com/v1alpha1/namespaces/%s/allocationclaims/%s" % (NS, promise))
    until("free again", lambda: len(free_memory(w, 0)) == 8 and w.gpus() == [(0, 0, 1, 1)])
    assert not w.driver.unprepare(claim).error
    until("nothing left", w.nothing_left)
    w.close()


def what_was_promised_to_pods_that_are_gone_is_free_again(api):
    w = DraWorld(api, start=False)
    gone = {"metadata": {"name": "gone", "uid": "0-1"}}
    other = {"metadata": {"name": "kept", "uid": "0-2"}}  # a pod of that name is there, another one
    w.claim(gone, "1g.5gb", 0, 1, 0, state=None)
    w.claim(other, "1g.5gb", 1, 1, 0)
    kept = w.claim(w.pod("kept", {R: 1}), "1g.5gb", 2, 1, 0)
    w.start()
    assert free_memory(w, 0) == ["memory-%d" % i for i in (3, 4, 5, 6, 7)]
    until("collected", lambda: list(w.claims()) == [kept])
    until("free again", lambda: free_memory(w, 0) == ["memory-%d" % i for i in (0, 1, 3, 4, 5, 6, 7)])
    w.close()


def slices_of_claims_stay_when_the_device_plugin_is_back(api):
    w = DraWorld(api)
    until("slices", lambda: len(w.slices()) == 2)
    claim = w.resource_claim("old", ("gpu", ONE % 0))
    before = w.driver.prepare(claim)
    w.stop()
    w.args = ["--api=deviceplugin"]
    w.kubelet.registered = {}
    w.start(wait=False)
    World.ready(w)
    until("withdrawn", lambda: not w.slices())
    assert len(w.kubelet.registered) == 7

    def healthy():
        return [g.get("healthy", True) for g in api.get(ACCELERATOR)["status"]["nodeResources"]["nodeGpus"]]
    until("nothing new beside it", lambda: healthy() == [False, True])
    # kubelet reaches the driver as long as it has to
    w.driver.register()
    assert w.driver.prepare(claim) == before and w.gpus() == [(0, 0, 1, 1)]
    assert not w.driver.unprepare(claim).error
    until("all well", lambda: healthy() == [True, True])
    assert w.nothing_left()
    w.close()


def nvidias_plugin(api):
    """Without its pod the emulator takes back what NVIDIA's driver has published."""
    pods = "/api/v1/namespaces/default/pods"
    api.post(pods, {"metadata": {"name": "nvidia", "labels": {"app": "nvidia-dra-driver-kubelet-plugin"}},
                    "spec": {"nodeName": NODE, "containers": [{"name": "gpus", "image": "gpus"}]}})
    api.call("PATCH", pods + "/nvidia/status", {"status": {"conditions": [{"type": "Ready", "status": "True"}]}},
             "application/merge-patch+json")
    return pods + "/nvidia"


def nvidias_slice(api, **attributes):
    """What NVIDIA's own driver publishes of this node."""
    api.post(SLICES, {"metadata": {"name": NODE + "-gpu.nvidia.com-1"}, "spec": {
        "driver": "gpu.nvidia.com", "nodeName": NODE,
        "pool": {"name": NODE, "generation": 1, "resourceSliceCount": 1},
        "devices": [{"name": "gpu-0-mig-1g5gb-19-0", "attributes": {k: {"string": v} for k, v in attributes.items()}}]}})


def published_gpus(w):
    return sorted({d["attributes"]["index"]["int"] for s in w.slices() if s["spec"]["driver"] == DRIVER
                   for d in s["spec"].get("devices", [])})


def gpus_of_nvidias_driver_are_left_to_it(api):
    plugin = nvidias_plugin(api)
    nvidias_slice(api, type="mig", profile="1g.5gb", uuid="MIG-1", parentUUID=GPU % 0)
    w = DraWorld(api)
    until("the other GPU alone", lambda: published_gpus(w) == [1])
    assert "GPUs left to another driver" in w.log()
    c, = until("said", lambda: [c for c in api.get(ACCELERATOR)["status"]["conditions"] if c["reason"] == "GPUOfOtherDriver"])
    assert GPU % 0 in c["message"]
    assert [g.get("healthy", True) for g in api.get(ACCELERATOR)["status"]["nodeResources"]["nodeGpus"]] == [False, True]
    api.delete(SLICES + "/" + NODE + "-gpu.nvidia.com-1")
    until("both", lambda: published_gpus(w) == [0, 1])
    claim = w.resource_claim("held", ("gpu", "gpu-1-mig-3g20gb-4"))
    assert not w.driver.prepare(claim).error
    nvidias_slice(api, type="gpu", uuid=GPU % 1)
    until("left", lambda: published_gpus(w) == [0])
    assert w.gpus() == [(1, 4, 4, 1)]  # what a pod has it keeps
    assert not w.driver.unprepare(claim).error
    until("nothing left", w.nothing_left)
    api.delete(plugin)
    w.close()


def gpus_of_nvidias_driver_get_nothing_new_from_the_scheduler(api):
    w = DraWorld(api, start=False, args=["--api=deviceplugin"])
    w.start(wait=False)
    World.ready(w)

    def healthy():
        found = (api.get(ACCELERATOR) or {}).get("status", {"nodeResources": {"nodeGpus": []}})
        return [g.get("healthy", True) for g in found["nodeResources"]["nodeGpus"]]
    until("both", lambda: healthy() == [True, True])
    plugin = nvidias_plugin(api)
    nvidias_slice(api, type="mig", profile="1g.5gb", uuid="MIG-1", parentUUID=GPU % 0)
    until("left", lambda: healthy() == [False, True])
    api.delete(plugin)
    until("taken back", lambda: healthy() == [True, True])
    w.close()


def auto_takes_what_the_api_server_serves(api):
    w = DraWorld(api, args=["--api=auto"])
    assert "api=dra" in w.log() and "counters in ResourceSlices" in w.log()
    assert not w.kubelet.registered
    w.close()


def devices_are_not_published_where_the_server_drops_their_counters(api):
    old = Emulator("1.35")
    try:
        w = DraWorld(old, start=False)
        old.post(SLICES, {"metadata": {"name": "of-before"}, "spec": {
            "driver": DRIVER, "nodeName": w.node, "devices": [{"name": ONE % 0}],
            "pool": {"name": POOL, "generation": 1, "resourceSliceCount": 1}}})
        w.start(wait=False)
        w.driver = Driver(w.dir + "/kubelet")
        w.driver.register()
        until("what was there is gone", lambda: not w.slices())
        until("said", lambda: "DRAPartitionableDevices" in w.http("/readyz")[1])
        assert w.http("/readyz")[0] != 200 and not w.slices()
        w.close()
    finally:
        old.close()


main([f for name, f in list(globals().items()) if callable(f) and getattr(f, "__module__", "") == "__main__"
      and name not in ("cdi_ids", "has_device_nodes", "caps_of", "free_memory", "nvidias_plugin", "nvidias_slice", "published_gpus", "one_gpu_at_first") and (len(sys.argv) < 2 or sys.argv[1] in name)], version="1.36")
