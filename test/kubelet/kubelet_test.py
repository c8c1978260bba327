"""The plugin as kubelet sees it."""
import json
import os
import socket
import subprocess
import sys
import time
import uuid

import grpc

from messages import V1BETA1
from world import CLAIMS, NODE, NS, PLUGIN, World, main, until

R = "mig.das.com/1g.5gb"
ACCELERATOR = "/apis/inference.redhat.com/v1alpha1/namespaces/%s/nodeaccelerators/%s" % (NS, NODE)


def refused(call):
    try:
        call()
    except grpc.RpcError as e:
        return e
    raise AssertionError("was not refused")


def registers_every_profile_with_its_names(api):
    w = World(api)
    assert sorted(w.kubelet.registered) == ["mig.das.com/" + p for p in (
        "1g.10gb", "1g.5gb", "1g.5gb-plus-me", "2g.10gb", "3g.20gb", "4g.20gb", "7g.40gb")]
    r = w.kubelet.registered["mig.das.com/1g.5gb-plus-me"]
    assert r.version == "v1beta1" and r.endpoint == "mig.das.com_1g.5gb-plus-me.sock"
    assert r.options.get_preferred_allocation_available and r.options.pre_start_required
    options = w.kubelet.method(R, "GetDevicePluginOptions", V1BETA1.DevicePluginOptions)(V1BETA1.Empty())
    assert options == r.options
    w.close()


def registers_again_until_it_is_taken(api):
    w = World(api, start=False)
    w.kubelet.refuse = 3
    w.start()
    until("all registered", lambda: len(w.kubelet.registered) == 7)
    w.close()


def lists_as_many_devices_as_the_gpus_hold(api):
    w = World(api)
    for resource, n in ((R, 14), ("mig.das.com/1g.5gb-plus-me", 2), ("mig.das.com/3g.20gb", 4),
                        ("mig.das.com/7g.40gb", 2)):
        first = next(iter(w.kubelet.watch(resource)))
        assert len(first.devices) == n, (resource, len(first.devices))
        assert {d.health for d in first.devices} == {"Healthy"}
    assert {d.ID for d in first.devices} == {"7g.40gb-0", "7g.40gb-1"}
    w.close()


def publishes_the_node_accelerator(api):
    w = World(api)
    a = until("NodeAccelerator", lambda: (api.get(ACCELERATOR) or {}).get("status") and api.get(ACCELERATOR))
    assert a["spec"]["acceleratorType"] == "nvidia-mig"
    assert a["metadata"]["ownerReferences"][0]["uid"] == api.node["metadata"]["uid"]
    resources = a["status"]["nodeResources"]
    assert len(resources["nodeGpus"]) == 2 and resources["nodeGpus"][0]["gpuUuid"].startswith("GPU-")
    assert [p["start"] for p in resources["migPlacement"]["3g.20gb"]["placements"]] == [0, 4]
    c = a["status"]["conditions"][0]
    assert (c["type"], c["status"], c["reason"]) == ("Ready", "True", "GPUsAccessible")
    version = a["metadata"]["resourceVersion"]
    w.stop()
    w.start()
    # a start without news writes nothing
    time.sleep(0.3)
    assert api.get(ACCELERATOR)["metadata"]["resourceVersion"] == version
    w.close()


def das_may_write_the_node_accelerator_again(api):
    w = World(api)
    until("NodeAccelerator", lambda: (api.get(ACCELERATOR) or {}).get("status"))
    w.stop()
    theirs = {"apiVersion": "inference.redhat.com/v1alpha1", "kind": "NodeAccelerator",
              "status": {"nodeResources": {"nodeGpus": []},
                         "conditions": [{"type": "Ready", "status": "True", "reason": "GPUsAccessible", "message": "DAS's",
                                         "lastTransitionTime": "2026-01-02T03:04:05Z"}]}}
    # as its daemonset does, without force
    api.call("PATCH", ACCELERATOR + "/status?fieldManager=das-daemonset", theirs, "application/apply-patch+yaml")
    assert api.get(ACCELERATOR)["status"]["conditions"][0]["message"] == "DAS's"
    w.close()


def prefers_what_must_be_and_then_any(api):
    w = World(api)
    request = V1BETA1.PreferredAllocationRequest(container_requests=[
        V1BETA1.ContainerPreferredAllocationRequest(
            available_deviceIDs=["a", "b", "c"], must_include_deviceIDs=["c"], allocation_size=2)])
    answer = w.kubelet.method(R, "GetPreferredAllocation", V1BETA1.PreferredAllocationResponse)(request)
    assert list(answer.container_responses[0].deviceIDs) == ["c", "a"]
    w.close()


def a_pod_gets_its_slice_and_gives_it_back(api):
    w = World(api, emulated=False)
    pod = w.pod("one", {R: 1})
    claim = w.claim(pod, "1g.5gb", 3, 1, 1)
    answer = w.kubelet.allocate(R, "1g.5gb-0")
    uuid = answer.envs["NVIDIA_VISIBLE_DEVICES"]
    assert uuid.startswith("MIG-") and answer.envs["CUDA_VISIBLE_DEVICES"] == "0"
    device = "mig.das.com/c1g.5gb=" + uuid
    assert dict(answer.annotations) == {"cdi.k8s.io/mig.das.com_1g.5gb": device}
    assert not answer.cdi_devices
    assert w.gpus() == [(1, 3, 1, 1)]
    until("inUse", lambda: w.claims()[claim][0] == "inUse")
    c = api.get(CLAIMS + "/" + claim)["status"]["conditions"][0]
    assert (c["type"], c["status"], c["reason"]) == ("State", "True", "inUse") and all(c.values()), c
    assert w.cdi() == ["c1g.5gb_%s.cdi.json" % uuid]
    doc = json.load(open(w.dir + "/cdi/" + w.cdi()[0]))
    assert doc["kind"] == "mig.das.com/c1g.5gb" and doc["devices"][0]["name"] == uuid
    assert doc["devices"][0]["containerEdits"]["env"][0] == "NVIDIA_VISIBLE_DEVICES=" + uuid
    note = json.loads(doc["devices"][0]["annotations"]["mig.das.com/allocation"])
    assert note[0]["metadata"]["name"] == claim
    w.kubelet.hold("one", "c0", R, ["1g.5gb-0"])
    w.kubelet.start_container(R, "1g.5gb-0")
    w.end_pod("one")
    until("nothing left", w.nothing_left)
    w.close()


def a_pod_that_ends_by_itself_gives_its_slice_back(api):
    for phase in ("Succeeded", "Failed"):
        w = World(api, emulated=False)
        pod = w.pod("ends", {R: 1})
        w.claim(pod, "1g.5gb", 0, 1)
        w.kubelet.allocate(R, "1g.5gb-0")
        api.patch("/api/v1/namespaces/default/pods/ends/status", {"status": {"phase": phase}})
        until("nothing left", w.nothing_left)
        w.close()


def cdi_devices_by_strategy(api):
    w = World(api, args=["--device-list-strategy=cdi-cri"])
    pod = w.pod("cri", {R: 1})
    w.claim(pod, "1g.5gb", 0, 1)
    answer = w.kubelet.allocate(R, "1g.5gb-0")
    assert not answer.envs and not answer.annotations
    assert answer.cdi_devices[0].name.startswith("mig.das.com/c1g.5gb=MIG-")
    w.close()


def three_slices_in_one_container_are_one_device(api):
    w = World(api, emulated=False)
    pod = w.pod("three", {R: 3})
    for i in range(3):
        w.claim(pod, "1g.5gb", i, 1)
    answer = w.kubelet.allocate(R, "1g.5gb-0", "1g.5gb-1", "1g.5gb-2")
    assert len(set(answer.envs["NVIDIA_VISIBLE_DEVICES"].split(","))) == 3
    assert answer.envs["CUDA_VISIBLE_DEVICES"] == "0,1,2"
    assert len(w.cdi()) == 1 and len(w.gpus()) == 3
    until("inUse", lambda: w.states() == ["inUse"] * 3)
    w.end_pod("three")
    until("nothing left", w.nothing_left)
    w.close()


def several_profiles_in_one_container_see_the_same_list(api):
    w = World(api, emulated=False)
    pod = w.pod("mixed", {R: 1, "mig.das.com/2g.10gb": 1})
    w.claim(pod, "1g.5gb", 0, 1)
    w.claim(pod, "2g.10gb", 2, 2)
    one = w.kubelet.allocate(R, "1g.5gb-0").envs["NVIDIA_VISIBLE_DEVICES"]
    two = w.kubelet.allocate("mig.das.com/2g.10gb", "2g.10gb-0").envs["NVIDIA_VISIBLE_DEVICES"]
    assert one == two and len(one.split(",")) == 2
    until("inUse", lambda: w.states() == ["inUse"] * 2)
    w.end_pod("mixed")
    until("nothing left", w.nothing_left)
    w.close()


def init_containers_and_containers_each_get_theirs(api):
    w = World(api, emulated=False)
    pod = w.pod("init", {R: 1}, {R: 1}, init=1)
    w.claim(pod, "1g.5gb", 0, 1)
    w.claim(pod, "1g.5gb", 1, 1)
    # kubelet uses an init container's device again for the container
    first = w.kubelet.allocate(R, "1g.5gb-0").envs["NVIDIA_VISIBLE_DEVICES"]
    second = w.kubelet.allocate(R, "1g.5gb-0").envs["NVIDIA_VISIBLE_DEVICES"]
    assert first != second
    w.kubelet.hold("init", "c1", R, ["1g.5gb-0"])
    w.kubelet.start_container(R, "1g.5gb-0")
    w.end_pod("init")
    until("nothing left", w.nothing_left)
    w.close()


def waits_for_the_claim_and_the_pod(api):
    w = World(api)
    pod = w.pod("late", {R: 1})
    call = w.kubelet.method(R, "Allocate", V1BETA1.AllocateResponse).future(
        V1BETA1.AllocateRequest(container_requests=[
            V1BETA1.ContainerAllocateRequest(devicesIDs=["1g.5gb-0"])]), timeout=20)
    time.sleep(0.2)
    assert not call.done(), "there is no claim yet"
    w.claim(pod, "1g.5gb", 0, 1)
    assert call.result().container_responses[0].envs
    w.close()


def a_staged_claim_is_not_given_out(api):
    w = World(api)
    pod = w.pod("staged", {R: 1})
    name = w.claim(pod, "1g.5gb", 0, 1, state="staged")
    call = w.kubelet.method(R, "Allocate", V1BETA1.AllocateResponse).future(
        V1BETA1.AllocateRequest(container_requests=[
            V1BETA1.ContainerAllocateRequest(devicesIDs=["1g.5gb-0"])]), timeout=20)
    time.sleep(0.2)
    assert not call.done(), "it is given out"
    api.patch(CLAIMS + "/" + name + "/status", {"status": {"state": "created"}})
    assert call.result().container_responses[0].envs
    w.close()


def no_claim_is_a_clear_error_and_no_device(api):
    w = World(api, args=["--claim-timeout=1"])
    pod = w.pod("wants-two", {R: 2})
    w.claim(pod, "1g.5gb", 0, 1)
    e = refused(lambda: w.kubelet.allocate(R, "1g.5gb-0"))
    assert e.code() == grpc.StatusCode.FAILED_PRECONDITION
    assert "no AllocationClaim for 1 x 1g.5gb within 1 s" in e.details(), e.details()
    assert not w.cdi() and not w.journal() and w.states() == ["created"]
    w.close()


def malformed_requests_are_refused(api):
    w = World(api)
    channel = w.kubelet.channel(R)
    for method in ("Allocate", "PreStartContainer", "GetPreferredAllocation"):
        raw = channel.unary_unary("/v1beta1.DevicePlugin/" + method)
        assert refused(lambda: raw(b"\xff\xff\xff")).code() == grpc.StatusCode.INVALID_ARGUMENT
    raw = channel.unary_unary("/v1beta1.DevicePlugin/Allocate")
    assert refused(lambda: raw(b"")).code() == grpc.StatusCode.INVALID_ARGUMENT
    assert refused(lambda: w.kubelet.allocate(R)).code() == grpc.StatusCode.INVALID_ARGUMENT
    raw = channel.unary_unary("/v1beta1.DevicePlugin/Nonsense")
    assert refused(lambda: raw(b"")).code() == grpc.StatusCode.UNIMPLEMENTED
    e = refused(lambda: w.kubelet.start_container(R, "1g.5gb-9"))
    assert "no slice was made" in e.details()
    w.close()


def a_call_given_up_leaves_nothing_behind(api):
    w = World(api)
    e = refused(lambda: w.kubelet.allocate(R, "1g.5gb-0", timeout=0.3))
    assert e.code() == grpc.StatusCode.DEADLINE_EXCEEDED
    watch = w.kubelet.watch(R)
    next(iter(watch))
    watch.cancel()
    until("no waiting call", lambda: "slipway_device_plugin_waiting 0" in w.http("/metrics")[1])
    assert len(next(iter(w.kubelet.watch(R))).devices) == 14
    w.close()


def garbage_and_slow_peers_harm_nobody_else(api):
    w = World(api)
    path = "%s/kubelet/device-plugins/%s" % (w.dir, w.kubelet.registered[R].endpoint)
    preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\0\0\0\4\0\0\0\0\0"
    peers = []
    for bytes_ in (b"GET / HTTP/1.1\r\n\r\n", b"\0" * 64, preface + b"\xff" * 64,
                   preface + b"\0\0\4\x08\0\0\0\0\0\0\0\0\0", preface + b"\0\0\1\x01\4\0\0\0\1\xff",
                   preface[:10], b""):
        s = socket.socket(socket.AF_UNIX)
        s.connect(path)
        s.sendall(bytes_)
        peers.append(s)  # the slow ones: they neither read nor close
    assert len(next(iter(w.kubelet.watch(R))).devices) == 14
    pod = w.pod("beside", {R: 1})
    w.claim(pod, "1g.5gb", 0, 1)
    assert w.kubelet.allocate(R, "1g.5gb-0").envs
    for s in peers:
        s.close()
    w.close()


def too_many_connections_are_hung_up_on(api):
    w = World(api)
    path = "%s/kubelet/device-plugins/%s" % (w.dir, w.kubelet.registered[R].endpoint)
    peers = []
    for _ in range(40):
        s = socket.socket(socket.AF_UNIX)
        s.connect(path)
        peers.append(s)

    def is_closed(s):
        s.setblocking(False)
        try:
            while True:
                if s.recv(100) == b"":
                    return True
        except BlockingIOError:
            return False
        except ConnectionResetError:
            return True
    until("hung up on", lambda: sum(is_closed(s) for s in peers) >= 20)
    for s in peers:
        s.close()
    # as kubelet does: a connection that was hung up on is made again, for the plugin may take a new one
    # before it has seen that old ones are closed
    assert next(iter(w.kubelet.watch(R, wait_for_ready=True))).devices
    w.close()


def kubelet_restarts_and_hears_again(api):
    w = World(api)
    pod = w.pod("stays", {R: 1})
    w.claim(pod, "1g.5gb", 0, 1)
    before = w.kubelet.allocate(R, "1g.5gb-0").envs["NVIDIA_VISIBLE_DEVICES"]
    w.kubelet.stop()
    w.kubelet.start()
    until("registered again", lambda: len(w.kubelet.registered) == 7)
    assert len(next(iter(w.kubelet.watch(R))).devices) == 14
    assert w.cdi() == ["c1g.5gb_%s.cdi.json" % before]
    w.close()


def a_stream_that_breaks_is_registered_again(api):
    w = World(api)
    big = "mig.das.com/7g.40gb"
    lost, old = w.kubelet.watch(R), w.kubelet.watch(big)
    assert next(iter(lost)).devices and next(iter(old)).devices
    w.kubelet.n_registrations = 0
    endpoint = w.kubelet.registered[R]
    w.kubelet.registered = {big: w.kubelet.registered[big]}
    # of a second registration kubelet opens the new stream, then ends the old one: all is well
    new = w.kubelet.watch(big)
    assert next(iter(new)).devices
    old.cancel()
    # but the only one's end kubelet takes for the plugin's, and the devices away
    lost.cancel()
    until("registered again", lambda: w.kubelet.registered.get(R) == endpoint)
    assert len(next(iter(w.kubelet.watch(R))).devices) == 14
    assert w.kubelet.n_registrations == 1
    w.close()


def kubelet_restarts_while_it_asks_and_asks_again(api):
    w = World(api, emulated=False)
    pod = w.pod("asked", {R: 1})
    w.claim(pod, "1g.5gb", 0, 1)
    w.fail("gi_create wait")
    call = w.kubelet.method(R, "Allocate", V1BETA1.AllocateResponse).future(
        V1BETA1.AllocateRequest(container_requests=[
            V1BETA1.ContainerAllocateRequest(devicesIDs=["1g.5gb-0"])]), timeout=30)
    until("at work", lambda: w.states() == ["processing"])
    w.kubelet.stop()
    assert call.exception()
    w.kubelet.start()
    until("registered again", lambda: len(w.kubelet.registered) == 7)
    os.unlink(w.dir + "/fail")
    # it knows nothing of the device that it had chosen
    assert w.kubelet.allocate(R, "1g.5gb-7").envs["NVIDIA_VISIBLE_DEVICES"].startswith("MIG-")
    assert w.gpus() == [(0, 0, 1, 1)]
    w.kubelet.hold("asked", "c0", R, ["1g.5gb-7"])
    w.kubelet.start_container(R, "1g.5gb-7")
    until("inUse", lambda: w.states() == ["inUse"])
    w.end_pod("asked")
    until("nothing left", w.nothing_left)
    w.close()


def the_plugin_restarts_and_pods_keep_theirs(api):
    for how in (15, 9):
        w = World(api, emulated=False)
        pod = w.pod("keeps", {R: 1})
        w.claim(pod, "1g.5gb", 0, 1)
        w.kubelet.allocate(R, "1g.5gb-0")
        until("inUse", lambda: w.states() == ["inUse"])
        files = w.cdi()
        assert w.stop(how) in (0, -9)
        w.kubelet.registered = {}
        w.start()
        assert w.cdi() == files and w.gpus() == [(0, 0, 1, 1)] and w.states() == ["inUse"]
        w.end_pod("keeps")
        until("nothing left", w.nothing_left)
        w.close()


def of_two_plugins_the_second_waits_for_the_firsts_end(api):
    w = World(api, emulated=False)
    pod = w.pod("keeps", {R: 1})
    w.claim(pod, "1g.5gb", 0, 1)
    w.kubelet.allocate(R, "1g.5gb-0")
    until("inUse", lambda: w.states() == ["inUse"])
    first, before = w.process, w.kubelet.n_registrations
    w.start(wait=False)
    until("said", lambda: "another plugin is at work" in w.log())
    assert w.kubelet.n_registrations == before and first.poll() is None
    w.kubelet.registered = {}
    first.kill()
    first.wait()
    w.ready()
    until("registered", lambda: len(w.kubelet.registered) == 7)
    assert w.gpus() == [(0, 0, 1, 1)] and w.states() == ["inUse"]
    w.end_pod("keeps")
    until("nothing left", w.nothing_left)
    w.close()


def a_pod_that_ends_while_the_plugin_is_away_is_cleaned_up(api):
    w = World(api, emulated=False)
    pod = w.pod("gone", {R: 1})
    w.claim(pod, "1g.5gb", 0, 1)
    w.kubelet.allocate(R, "1g.5gb-0")
    until("inUse", lambda: w.states() == ["inUse"])
    w.stop(9)
    w.end_pod("gone")
    w.start()
    until("nothing left", w.nothing_left)
    w.close()


def two_equal_pods_in_the_other_order_swap_their_claims(api):
    w = World(api, emulated=False)
    old, young = w.pod("old", {R: 1}), w.pod("young", {R: 1})
    first, second = w.claim(old, "1g.5gb", 0, 1), w.claim(young, "1g.5gb", 1, 1)
    # kubelet admits the young one first, but does not say so
    one = w.kubelet.allocate(R, "1g.5gb-0").envs["NVIDIA_VISIBLE_DEVICES"]
    w.kubelet.hold("young", "c0", R, ["1g.5gb-0"])
    w.kubelet.start_container(R, "1g.5gb-0")
    until("swapped", lambda: {n: p for n, (_, p) in w.claims().items()} ==
          {first: "young", second: "old"})
    two = w.kubelet.allocate(R, "1g.5gb-1").envs["NVIDIA_VISIBLE_DEVICES"]
    assert one != two
    w.kubelet.hold("old", "c0", R, ["1g.5gb-1"])
    w.kubelet.start_container(R, "1g.5gb-1")
    until("inUse", lambda: w.states() == ["inUse"] * 2)
    w.end_pod("young")
    until("its slice is gone", lambda: w.gpus() == [(0, 1, 1, 1)] and list(w.claims()) == [second])
    w.end_pod("old")
    until("nothing left", w.nothing_left)
    w.close()


def both_admitted_before_kubelet_tells_swap_too(api):
    w = World(api, emulated=False)
    a, b = w.pod("aa", {R: 1}), w.pod("bb", {R: 1})
    first, second = w.claim(a, "1g.5gb", 0, 1), w.claim(b, "1g.5gb", 1, 1)
    w.kubelet.allocate(R, "1g.5gb-0")
    w.kubelet.allocate(R, "1g.5gb-1")
    w.kubelet.hold("bb", "c0", R, ["1g.5gb-0"])
    w.kubelet.hold("aa", "c0", R, ["1g.5gb-1"])
    w.kubelet.start_container(R, "1g.5gb-0")
    until("swapped", lambda: {n: p for n, (_, p) in w.claims().items()} == {first: "bb", second: "aa"})
    w.end_pod("bb")
    until("the right one went", lambda: w.gpus() == [(0, 1, 1, 1)])
    w.close()


def a_pod_without_a_claim_does_not_start_with_anothers_slice(api):
    w = World(api, emulated=False)
    owner = w.pod("owner", {R: 1})
    w.pod("thief", {R: 1})
    claim = w.claim(owner, "1g.5gb", 0, 1)
    w.kubelet.allocate(R, "1g.5gb-0")
    w.kubelet.hold("thief", "c0", R, ["1g.5gb-0"])
    e = refused(lambda: w.kubelet.start_container(R, "1g.5gb-0"))
    assert "no claim of its pod covers" in e.details(), e.details()
    until("given back to its owner", lambda: w.claims().get(claim) == ("created", "owner"))
    assert w.kubelet.allocate(R, "1g.5gb-1").envs["NVIDIA_VISIBLE_DEVICES"]
    w.close()


def old_kubelets_pod_resources_are_understood(api):
    w = World(api, held_service="v1alpha1.PodResourcesLister")
    pod = w.pod("alpha", {R: 1})
    w.claim(pod, "1g.5gb", 0, 1)
    w.kubelet.allocate(R, "1g.5gb-0")
    w.kubelet.hold("alpha", "c0", R, ["1g.5gb-0"])
    w.kubelet.start_container(R, "1g.5gb-0")
    w.close()


def a_failing_gpu_is_tried_until_the_slice_is_gone(api):
    w = World(api, emulated=False)
    pod = w.pod("busy", {R: 1})
    w.claim(pod, "1g.5gb", 0, 1)
    w.kubelet.allocate(R, "1g.5gb-0")
    w.fail("ci_destroy 19 1", "gi_destroy 19 1")
    w.end_pod("busy")
    until("said", lambda: "trying again" in w.log())
    assert "In use by another client" in w.log()
    until("nothing left", w.nothing_left)
    w.close()


def a_slice_that_cannot_be_made_is_undone(api):
    for what in ("gi_create 999", "ci_create 999", "mig_by_index 999 64"):
        w = World(api, emulated=False)
        pod = w.pod("unlucky", {R: 2})
        claims = [w.claim(pod, "1g.5gb", i, 1) for i in range(2)]
        w.fail(what)
        e = refused(lambda: w.kubelet.allocate(R, "1g.5gb-0", "1g.5gb-1"))
        assert "slice 1g.5gb at 0" in e.details() and "NVML error 999" in e.details() or \
            "no MIG device" in e.details(), e.details()
        until("undone", lambda: not w.gpus() and not w.journal() and w.states() == ["created"] * 2)
        assert set(w.claims()) == set(claims)
        told = until("an Event", lambda: [e for e in api.get("/api/v1/namespaces/default/events")["items"]
                                          if e["involvedObject"].get("uid") == pod["metadata"]["uid"]])
        assert told[0]["reason"] == "SliceFailed" and told[0]["type"] == "Warning", told
        w.close()


def a_step_that_hangs_holds_nobody_else_up(api):
    w = World(api, emulated=False)
    running = w.pod("running", {R: 1})
    w.claim(running, "1g.5gb", 0, 1)
    w.kubelet.allocate(R, "1g.5gb-0")
    w.fail("gi_create wait")
    pod = w.pod("hangs", {R: 1})
    w.claim(pod, "1g.5gb", 1, 1)
    call = w.kubelet.method(R, "Allocate", V1BETA1.AllocateResponse).future(
        V1BETA1.AllocateRequest(container_requests=[
            V1BETA1.ContainerAllocateRequest(devicesIDs=["1g.5gb-1"])]), timeout=30)
    until("at work", lambda: len(w.journal()) == 2 and w.states() == ["inUse", "processing"])
    assert w.http("/healthz")[0] == 200
    assert len(next(iter(w.kubelet.watch(R))).devices) == 14
    w.kubelet.hold("running", "c0", R, ["1g.5gb-0"])
    w.kubelet.start_container(R, "1g.5gb-0")
    assert not call.done()
    os.unlink(w.dir + "/fail")
    assert call.result().container_responses[0].envs
    for name in ("running", "hangs"):
        w.end_pod(name)
    until("nothing left", w.nothing_left)
    w.close()


def what_lies_there_already_is_never_touched(api):
    w = World(api, emulated=False)
    # somebody else's instance, made by a plugin of another folder, at slices 0 to 3
    pod = w.pod("first", {"mig.das.com/3g.20gb": 1})
    w.claim(pod, "3g.20gb", 0, 4)
    w.kubelet.allocate("mig.das.com/3g.20gb", "3g.20gb-0")
    w.stop(9)
    subprocess.run(["rm", "-r", w.dir + "/journal", w.dir + "/cdi"], check=True)
    api.delete(CLAIMS + "/" + list(w.claims())[0])
    w.kubelet.registered = {}
    w.start()
    other = w.pod("second", {R: 1})
    w.claim(other, "1g.5gb", 2, 1)
    e = refused(lambda: w.kubelet.allocate(R, "1g.5gb-0"))
    assert "there is a GPU instance already" in e.details(), e.details()
    until("given up", lambda: not w.journal())
    w.end_pod("second")
    until("claim gone", lambda: not w.claims())
    assert w.gpus() == [(0, 0, 4, 1)]
    w.close()


def left_by_das(api, w, name, n=1, profile="1g.5gb", start=0, hold=True):
    """A pod that DAS's daemonset gave slices: instances, claims and a CDI file, and no record."""
    resource = "mig.das.com/" + profile
    pod = w.pod(name, {resource: n})
    claims = [w.claim(pod, profile, start + i, 1, n=i) for i in range(n)]
    ids = ["%s-%d" % (profile, start + i) for i in range(n)]
    uuids = w.kubelet.allocate(resource, *ids).envs["NVIDIA_VISIBLE_DEVICES"]
    until("inUse", lambda: all(w.claims()[c][0] == "inUse" for c in claims))
    if hold:
        w.kubelet.hold(name, "c0", resource, ids)
    device = str(uuid.uuid4())
    path = w.dir + "/cdi/c%s_%s.cdi.json" % (profile, device)
    return claims, path, {
        "cdiVersion": "0.8.0", "kind": "mig.das.com/c" + profile, "devices": [{
            "name": device,
            "annotations": {"mig.das.com/allocation": json.dumps([api.get(CLAIMS + "/" + c) for c in claims])},
            "containerEdits": {
                "env": ["NVIDIA_VISIBLE_DEVICES=" + uuids,
                        "CUDA_VISIBLE_DEVICES=" + ",".join(str(i) for i in range(n))],
                "hooks": [{"hookName": "poststop", "path": "/bin/rm", "args": ["-f", path]}]}}]}


def taken_over_from_das(w, *files):
    """The plugin that made what left_by_das() returned is gone, with all that DAS would not have written."""
    w.stop(9)
    for folder in "/journal", "/cdi":
        subprocess.run(["rm", "-r", w.dir + folder], check=True)
    os.mkdir(w.dir + "/cdi")
    for path, doc in files:
        json.dump(doc, open(path, "w"))
    w.kubelet.registered = {}
    w.start()


def what_das_left_is_kept_while_its_pod_runs_and_goes_with_it(api):
    w = World(api, emulated=False)
    claims, path, doc = left_by_das(api, w, "one")
    three, path3, doc3 = left_by_das(api, w, "three", n=3, start=2)
    before, versions = w.gpus(), [api.get(CLAIMS + "/" + c)["metadata"]["resourceVersion"] for c in claims + three]
    taken_over_from_das(w, (path, doc), (path3, doc3))
    until("recorded", lambda: len(w.journal()) == 2)
    # a container that starts again has the devices that kubelet names, and finds its CDI device
    until("known to kubelet's ids", lambda: "1g.5gb-0" in open(w.dir + "/journal/" + w.journal()[0]).read() +
          open(w.dir + "/journal/" + w.journal()[1]).read())
    w.kubelet.start_container(R, "1g.5gb-0")
    w.kubelet.start_container(R, "1g.5gb-2", "1g.5gb-3", "1g.5gb-4")
    e = refused(lambda: w.kubelet.start_container(R, "1g.5gb-9"))
    assert "no slice was made" in e.details()
    assert w.gpus() == before
    assert versions == [api.get(CLAIMS + "/" + c)["metadata"]["resourceVersion"] for c in claims + three]
    mine = json.load(open(path3))["devices"][0]
    assert mine["name"] == doc3["devices"][0]["name"]
    assert mine["containerEdits"] == {"env": doc3["devices"][0]["containerEdits"]["env"]}  # no hook
    # the old container's hook has removed it
    os.unlink(path)
    api.patch("/api/v1/namespaces/default/pods/one/status", {"status": {"phase": "Running"}})
    until("CDI file again", lambda: os.path.exists(path))
    w.stop()
    w.start()  # from the record now
    assert w.gpus() == before and len(w.journal()) == 2
    w.end_pod("one")
    until("one is gone", lambda: sorted(w.claims()) == sorted(three))
    until("its slice, too", lambda: len(w.gpus()) == 3 and not os.path.exists(path))
    w.end_pod("three")
    until("nothing left", w.nothing_left)
    w.close()


def what_das_left_of_a_pod_that_ended_meanwhile_goes(api):
    w = World(api, emulated=False)
    _, path, doc = left_by_das(api, w, "ended", hold=False)
    w.stop(9)
    w.end_pod("ended")
    taken_over_from_das(w, (path, doc))
    until("nothing left", w.nothing_left)
    w.close()


def records_of_before_das_do_no_harm_after_it(api):
    """slipway, then DAS, then slipway: at the place that a record names lies another pod's slice."""
    w = World(api, emulated=False)
    claims, path, doc = left_by_das(api, w, "new")
    name = w.journal()[0]
    old = json.load(open(w.dir + "/journal/" + name))
    old["pod"].update(name="old", uid="of-before")
    w.stop(9)
    subprocess.run(["rm", "-r", w.dir + "/cdi"], check=True)
    os.mkdir(w.dir + "/cdi")
    json.dump(old, open(w.dir + "/journal/" + name, "w"))
    json.dump(doc, open(path, "w"))
    before = w.gpus()
    w.kubelet.registered = {}
    w.start()
    until("the old record is gone", lambda: len(w.journal()) == 1 and name not in w.journal())
    assert w.gpus() == before and w.states() == ["inUse"] and os.path.exists(path)
    w.end_pod("new")
    until("nothing left", w.nothing_left)
    w.close()


def a_file_of_das_that_cannot_be_read_is_said_and_left(api):
    w = World(api, emulated=False)
    claims, path, doc = left_by_das(api, w, "odd")
    note = json.loads(doc["devices"][0]["annotations"]["mig.das.com/allocation"])
    note[0]["spec"]["gpuUUID"] = "../x"
    doc["devices"][0]["annotations"]["mig.das.com/allocation"] = json.dumps(note)
    taken_over_from_das(w, (path, doc))
    assert path in w.log() and "gpu" in w.log() and os.path.exists(path)
    assert len(w.gpus()) == 1
    w.close()


def a_sick_gpu_takes_its_share_of_the_devices(api):
    w = World(api, emulated=False)
    pod = w.pod("held", {R: 1})
    w.claim(pod, "1g.5gb", 0, 1, 1)
    w.kubelet.allocate(R, "1g.5gb-3")
    watch = iter(w.kubelet.watch(R))
    assert {d.health for d in next(watch).devices} == {"Healthy"}
    for xid, sick in ((31, False), (79, True)):  # a program's error first: nothing happens
        with open(w.dir + "/xid.new", "w") as f:
            f.write("0 %d" % xid)
        os.rename(w.dir + "/xid.new", w.dir + "/xid")
        until("read", lambda: not os.path.exists(w.dir + "/xid"))
        if not sick:
            until("said", lambda: "xid=31" in w.log())
    devices = {d.ID: d.health for d in next(watch).devices}
    assert sorted(devices.values()).count("Healthy") == 7 and devices["1g.5gb-3"] == "Healthy"
    a = until("condition", lambda: [c for c in api.get(ACCELERATOR)["status"]["conditions"]
                                    if c["reason"] == "GPUUnhealthy"])
    assert "Xid 79" in a[0]["message"]
    w.close()


def without_a_gpu_it_is_idle_and_says_so(api):
    for env, reason in (({"SLIPWAY_NVML_MODE": "none"}, "NoGPU"), ({"SLIPWAY_NVML_MODE": "off"}, "NoMIG")):
        w = World(api, emulated=False, start=False, env=env)
        w.start(wait=False)
        c = until("condition", lambda: (api.get(ACCELERATOR) or {}).get("status", {}).get("conditions"))[0]
        assert (c["status"], c["reason"]) == ("False", reason), c
        assert w.http("/healthz")[0] == 200 and w.http("/readyz")[0] == 200
        assert w.process.poll() is None and not w.kubelet.registered
        w.close()


def nothing_is_offered_before_the_gate_opens(api):
    path = "/api/v1/namespaces/default/configmaps/gate"
    args = ["--gate=v1/ConfigMap/gate", "--gate-namespace=default", "--gate-condition={.data.state} == ready"]
    api.delete(path)
    w = World(api, start=False)
    w.start(*args, wait=False)
    until("gate", lambda: "ConfigMap gate (v1) does not exist" in w.log())
    code, text = w.http("/readyz")
    assert code == 503 and "ConfigMap gate" in text
    assert not w.kubelet.registered and os.listdir(w.dir + "/kubelet/device-plugins") == ["kubelet.sock"]
    api.post("/api/v1/namespaces/default/configmaps", {"metadata": {"name": "gate"}, "data": {"state": "notReady"}})
    until("not ready", lambda: "is not ready" in w.log())
    assert not w.kubelet.registered
    api.patch(path, {"data": {"state": "ready"}})
    until("registered", lambda: len(w.kubelet.registered) == 7)
    # what a pod has stays its own when the gate shuts, new pods get nothing
    pod = w.pod("inside", {R: 1})
    w.claim(pod, "1g.5gb", 0, 1)
    w.kubelet.allocate(R, "1g.5gb-5")
    watch = iter(w.kubelet.watch(R))
    next(watch)
    api.patch(path, {"data": {"state": "notReady"}})
    healthy = [d.ID for d in next(watch).devices if d.health == "Healthy"]
    assert healthy == ["1g.5gb-5"], healthy
    api.patch(path, {"data": {"state": "ready"}})
    assert {d.health for d in next(watch).devices} == {"Healthy"}
    w.close()
    w = World(api, start=False)
    w.start(*args, "--gate-lost=keep")
    watch = iter(w.kubelet.watch(R))
    next(watch)
    api.patch(path, {"data": {"state": "notReady"}})
    until("seen", lambda: "is not ready" in w.log())
    assert len(next(iter(w.kubelet.watch(R))).devices) == 14
    w.close()
    api.delete(path)


def the_gpu_operators_policy_is_the_gate_of_real_gpus(api):
    group, plural = "nvidia.com", "clusterpolicies"
    crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    api.post(crds, {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
                    "metadata": {"name": plural + "." + group},
                    "spec": {"group": group, "scope": "Cluster",
                             "names": {"plural": plural, "singular": "clusterpolicy", "kind": "ClusterPolicy"},
                             "versions": [{"name": "v1", "served": True, "storage": True,
                                           "schema": {"openAPIV3Schema": schema}}]}})
    policies = "/apis/%s/v1/%s" % (group, plural)
    until("served", lambda: api.get(policies))
    condition = {"type": "Ready", "status": "False", "reason": "x", "message": "x",
                 "lastTransitionTime": "2026-01-01T00:00:00Z"}
    # OpenShift's documents call it gpu-cluster-policy, Helm's chart cluster-policy
    for name, ready in (("gpu-cluster-policy", {"state": "ready"}),
                        ("cluster-policy", {"conditions": [dict(condition, status="True")]})):
        api.post(policies, {"metadata": {"name": name}, "apiVersion": "nvidia.com/v1", "kind": "ClusterPolicy",
                            "status": {"state": "notReady", "conditions": [condition]}})
        w = World(api, emulated=False, start=False, gate=None)
        w.start(wait=False)
        until("said", lambda: "ClusterPolicy " + name in w.log() and "is not ready" in w.log())
        assert not w.kubelet.registered
        api.patch(policies + "/" + name, {"status": ready})
        until("registered", lambda: len(w.kubelet.registered) == 7)
        w.close()
        api.delete(policies + "/" + name)
    api.delete(crds + "/" + plural + "." + group)


def after_a_reboot_the_same_slices_are_made_again(api):
    w = World(api)
    pod = w.pod("survivor", {R: 1})
    w.claim(pod, "1g.5gb", 0, 1)
    w.kubelet.allocate(R, "1g.5gb-0")
    until("inUse", lambda: w.states() == ["inUse"])
    files = w.cdi()
    w.stop(9)
    w.reboot("boot-2")
    w.start()
    until("made again", lambda: w.cdi() == files)
    assert w.states() == ["inUse"] and api.get("/api/v1/namespaces/default/pods/survivor")
    w.close()


def after_a_reboot_pods_whose_slices_are_others_now_go(api):
    w = World(api, emulated=False)
    pod = w.pod("stale", {R: 1})
    w.claim(pod, "1g.5gb", 0, 1)
    w.kubelet.allocate(R, "1g.5gb-0")
    until("inUse", lambda: w.states() == ["inUse"])
    w.stop(9)
    w.reboot("boot-2")
    w.start()
    until("pod deleted", lambda: "deletionTimestamp" in api.get("/api/v1/namespaces/default/pods/stale")["metadata"])
    w.end_pod("stale")  # kubelet has stopped it
    until("nothing left", w.nothing_left)
    assert "pod deleted" in w.log() and "booted anew" in w.log()
    w.close()


def records_that_cannot_be_read_are_said_and_left(api):
    w = World(api, start=False)
    os.makedirs(w.dir + "/journal")
    open(w.dir + "/journal/0123.json", "w").write('{"version":1,"id":"../../x"}')
    open(w.dir + "/journal/torn.json", "w").write('{"vers')
    w.start()
    assert "0123.json" in w.log() and "torn.json" in w.log() and "../../x" in w.log()
    assert w.journal() == ["0123.json", "torn.json"]
    w.close()


def metrics_and_probes(api):
    w = World(api)
    assert w.http("/healthz") == (200, "ok\n") and w.http("/readyz") == (200, "ok\n")
    text = w.http("/metrics")[1]
    assert 'slipway_device_plugin_devices{resource="mig.das.com/1g.5gb",health="Healthy"} 14' in text
    assert "slipway_device_plugin_registrations_total 7" in text
    w.close()


def flags(api):
    def run(*args, **env):
        p = subprocess.run([PLUGIN, *args], capture_output=True, text=True, timeout=30,
                           env=dict(os.environ, KUBECONFIG=api.kubeconfig, **env))
        return p.returncode, p.stdout, p.stderr
    code, out, _ = run("--help")
    assert code == 0 and "--emulated-model" in out
    assert run("--version")[1].startswith("slipway-device-plugin ")
    for args, words in ((["--nope=1"], "unknown option '--nope'"), (["--node-name"], "needs a value"),
                        ([], "--node-name or $NODE_NAME"),
                        (["--node-name=a", "--emulated-count=0"], "'0' is no number"),
                        (["--node-name=a", "--gate-lost=x"], "'x' is not one of withdraw|keep"),
                        (["--node-name=a", "--device-list-strategy=x"], "none of envvar"),
                        (["--node-name=a", "--emulated-mode", "--emulated-model=x",
                          "--journal-dir=" + api.dir, "--cdi-dir=" + api.dir], "none of the models: A30-24GB"),
                        (["--node-name=a", "--gate=x", "--journal-dir=" + api.dir, "--cdi-dir=" + api.dir],
                         "not apiVersion/Kind/name")):
        code, _, err = run(*args)
        assert code == 2 and words in err and len(err.splitlines()) == 1, (args, code, err)


def auto_stays_a_device_plugin_where_nothing_else_is_served(api):
    w = World(api, args=["--api=auto"])
    assert 'api=deviceplugin reason="resource.k8s.io/v1 is not served"' in w.log()
    c = until("says so", lambda: [c for c in ((api.get(ACCELERATOR) or {}).get("status") or {}).get("conditions", [])
                                  if c["type"] == "DynamicResourceAllocation"])[0]
    assert (c["status"], c["reason"]) == ("False", "DevicePlugin"), c
    w.close()


def every_model_can_be_emulated(api):
    for model, profile in (("H100-80GB", "1g.10gb"), ("H200-141GB", "1g.18gb"), ("A30-24GB", "1g.6gb"),
                           ("GB200-186GB", "7g.186gb")):
        w = World(api, args=["--emulated-model", model, "--emulated-count", "1"])
        until(profile, lambda: "mig.das.com/" + profile in w.kubelet.registered)
        w.close()


main([f for name, f in list(globals().items()) if callable(f) and getattr(f, "__module__", "") == "__main__"
      and name not in ("refused", "left_by_das", "taken_over_from_das") and (len(sys.argv) < 2 or sys.argv[1] in name)])
