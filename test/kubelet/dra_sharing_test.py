"""Devices that containers share: intervals of whole GPUs by nvidia-smi, MPS by a control daemon for each claim."""
import os
import shutil
import signal

from dra import CLAIMS, DraWorld
from dra_crash import again, live
from sharing import SharingWorld, config, need_mounts
from world import GPU, main, until

SLICE = "gpu-0-mig-1g5gb-%d"


def interval(name, **how):
    return config("TimeSlicing", kind="GpuConfig", timeSlicingConfig={"interval": name}, **how)


def smi(gpu, value):
    return "compute-policy -i %s --set-timeslice %d" % (GPU % gpu, value)


def alive(pid):
    try:
        os.kill(pid, 0)
        return True
    except ProcessLookupError:
        return False


def intervals_are_set_and_set_back(api):
    w = SharingWorld(api, whole=True)
    claim = w.resource_claim("turns", ("a", "gpu-0"), ("b", "gpu-1"), devices_config=[
        interval("Long", requests=["a"]), interval("Short", requests=["b"])])
    answer = w.driver.prepare(claim)
    assert not answer.error, answer.error
    assert w.lines("smi.log") == [smi(0, 3), smi(1, 1)]
    assert w.driver.prepare(claim) == answer and len(w.lines("smi.log")) == 2
    w.stop(9)
    w.start()
    assert w.driver.prepare(claim) == answer and len(w.lines("smi.log")) == 2
    assert not w.driver.unprepare(claim).error
    assert w.lines("smi.log")[2:] == [smi(1, 0), smi(0, 0)]
    default = w.resource_claim("default", ("a", "gpu-0"), devices_config=[interval("Default")])
    assert not w.driver.prepare(default).error and not w.driver.unprepare(default).error
    assert len(w.lines("smi.log")) == 4
    assert w.nothing_left()
    w.close()


def what_nvidia_smi_says_is_the_claims_error(api):
    w = SharingWorld(api, whole=True, driver="/run/nvidia/driver")
    claim = w.resource_claim("turns", ("a", "gpu-0"), devices_config=[interval("Medium")])
    w.write("smi.fail", "Not supported on this GPU.")
    error = w.driver.prepare(claim).error
    assert "time slice of " + GPU % 0 in error and error.endswith("Not supported on this GPU."), error
    until("nothing left", w.nothing_left)
    assert w.lines("smi.log") == [smi(0, 2)]  # what was refused is not set back
    w.write("smi.fail")
    assert not w.driver.prepare(claim).error
    # what cannot be set back is tried again
    w.write("smi.fail", "Busy")
    assert "Busy" in w.driver.unprepare(claim).error
    w.write("smi.fail")
    until("set back", w.nothing_left)
    assert w.lines("smi.log")[-1] == smi(0, 0)
    shutil.rmtree(w.root + "/usr/bin")
    error = w.driver.prepare(claim).error
    assert "nvidia-smi" in error and "No such file" in error, error
    until("nothing left", w.nothing_left)
    w.close()


def a_claim_of_slices_has_one_daemon(api):
    w = SharingWorld(api)
    claim = w.resource_claim("mps", ("a", SLICE % 0), ("b", SLICE % 1), ("alone", SLICE % 2), devices_config=[
        config("MPS", requests=["a", "b"], mpsConfig={
            "defaultActiveThreadPercentage": 40, "defaultPinnedDeviceMemoryLimit": "2Gi",
            "defaultPerDevicePinnedMemoryLimit": {"1": "512Mi"}})])
    uid = claim["metadata"]["uid"]
    answer = w.driver.prepare(claim)
    assert not answer.error, answer.error
    ids = {d.request_names[0]: d.cdi_device_ids[0] for d in answer.devices}
    env, mounts, _ = w.container(ids["a"])
    assert env["CUDA_MPS_PIPE_DIRECTORY"] == "/tmp/nvidia-mps"
    assert mounts["/tmp/nvidia-mps"] == "/run/slipway/mps/%s/pipe" % uid
    assert mounts["/dev/shm"] == "/dev/shm/slipway-mps-" + uid
    assert os.listdir(w.host + mounts["/dev/shm"]) == ["of-the-daemon"]
    assert os.stat(w.host + mounts["/dev/shm"]).st_mode & 0o7777 == 0o1777
    assert not [n for n in os.listdir(w.host + "/dev/shm") if n == "of-the-daemon"] and not os.listdir(w.host + "/tmp")
    other, mounts, _ = w.container(ids["alone"])
    assert "CUDA_MPS_PIPE_DIRECTORY" not in other and "/dev/shm" not in mounts
    uuids = [w.container_env(ids[r])["NVIDIA_VISIBLE_DEVICES"] for r in "ab"]
    assert w.lines("mps.started") == [",".join(uuids) + " -f"]
    assert w.lines("mps.told") == ["set_default_active_thread_percentage 40",
                                   "set_default_device_pinned_mem_limit %s 2048M" % uuids[0],
                                   "set_default_device_pinned_mem_limit %s 512M" % uuids[1]]
    assert w.modes() == [0, 0]
    # a second pod that shares the claim
    assert w.driver.prepare(claim) == answer and len(w.lines("mps.started")) == 1
    pid = w.pid(claim)
    assert alive(pid)
    assert not w.driver.unprepare(claim).error
    assert not alive(pid) and not w.mps() and w.nothing_left()
    assert not w.driver.unprepare(claim).error
    w.close()


def a_whole_gpu_is_the_daemons_alone(api):
    w = SharingWorld(api, whole=True, driver="/run/nvidia/driver")
    claim = w.resource_claim("mps", ("a", "gpu-1"), devices_config=[
        config("MPS", kind="GpuConfig", source="FromClass", mpsConfig={"multiUser": True})])
    assert not w.driver.prepare(claim).error
    assert w.modes() == [0, 3]
    assert w.lines("mps.started") == [GPU % 1 + " -f -multiuser-server"]
    assert w.lines("mps.told") == ["get_default_active_thread_percentage"]
    assert not w.driver.unprepare(claim).error
    assert w.modes() == [0, 0] and not w.mps() and w.nothing_left()
    w.close()


def the_daemon_outlives_the_plugin(api):
    w = SharingWorld(api)
    claim = w.resource_claim("mps", ("a", SLICE % 0), devices_config=[config("MPS")])
    answer = w.driver.prepare(claim)
    pid = w.pid(claim)
    for how in (9, 15):
        w.stop(how)
        assert alive(pid)
        w.start()
        assert w.driver.prepare(claim) == answer and w.pid(claim) == pid
    assert len(w.lines("mps.started")) == 1
    # one that dies is started again
    os.kill(pid, signal.SIGKILL)
    until("started again", lambda: len(w.lines("mps.started")) == 2)
    until("another one", lambda: os.path.exists("%s/run/slipway/mps/%s/ready" % (w.host, claim["metadata"]["uid"])))
    pid = w.pid(claim)
    # so is one whose parent dies
    os.kill(int(open("/proc/%d/stat" % pid).read().rsplit(")", 1)[1].split()[1]), signal.SIGKILL)
    until("gone with it", lambda: not alive(pid))
    until("started again", lambda: len(w.lines("mps.started")) == 3)
    until("another one", lambda: os.path.exists("%s/run/slipway/mps/%s/ready" % (w.host, claim["metadata"]["uid"])))
    pid = w.pid(claim)
    # and with the process that runs it
    w.unserve(signal.SIGKILL)
    until("gone with it", lambda: not alive(pid))
    w.serve()
    until("started again", lambda: len(w.lines("mps.started")) == 4)
    w.unserve()
    assert not w.driver.unprepare(claim).error  # nothing runs, and nobody is needed to say so
    assert not w.mps() and w.nothing_left()
    w.close()


def after_a_reboot_it_is_started_again(api):
    w = SharingWorld(api, whole=False)
    claim = w.resource_claim("mps", ("a", SLICE % 0), devices_config=[config("MPS")])
    before = w.driver.prepare(claim)
    old = w.lines("mps.started")[0]
    w.stop(9)
    w.unserve(signal.SIGKILL)
    until("gone", lambda: not alive(w.pid(claim)))
    w.reboot("boot-2")
    shutil.rmtree(w.host + "/run/slipway")
    shutil.rmtree(w.host + "/dev/shm")
    os.makedirs(w.host + "/dev/shm")
    w.serve()
    w.start()
    assert w.driver.prepare(claim) == before
    assert len(w.lines("mps.started")) == 2 and w.lines("mps.started")[1] != old
    assert not w.driver.unprepare(claim).error and not w.mps()
    w.close()


def a_daemon_that_fails_is_one_clear_error(api):
    w = SharingWorld(api)
    claim = w.resource_claim("mps", ("a", SLICE % 0), devices_config=[config("MPS")])
    w.write("mps.fail", "Failed to allocate a context")
    error = w.driver.prepare(claim).error
    assert "MPS control daemon: " in error and error.endswith("Failed to allocate a context"), error
    until("nothing left", lambda: w.nothing_left() and not w.mps())
    w.write("mps.fail")
    assert not w.driver.prepare(claim).error
    assert not w.driver.unprepare(claim).error
    w.close()


def what_a_daemon_says_is_in_the_log_and_does_not_fill_the_memory(api):
    w = SharingWorld(api)
    claim = w.resource_claim("mps", ("a", SLICE % 0), devices_config=[config("MPS")])
    assert not w.driver.prepare(claim).error
    log = "%s/run/slipway/mps/%s/log/server.log" % (w.host, claim["metadata"]["uid"])
    with open(log, "w") as f:
        f.write("x" * (2 << 20))
    w.write("mps.speaks", "")
    until("said", lambda: "the daemon speaks" in open(w.dir + "/mps.log").read())
    until("cut", lambda: os.stat(log).st_size == 0)
    assert not w.driver.unprepare(claim).error
    w.close()


def what_one_daemon_cannot_be_told_is_refused(api):
    w = SharingWorld(api)
    limit = {"mpsConfig": {"defaultPerDevicePinnedMemoryLimit": {"2": "1Gi"}}}
    for n, (words, configs) in enumerate((
            ("none of them is that", [config("MPS", **limit)]),
            ("a claim has one control daemon", [config("MPS", requests=["a"]), config("MPS", requests=["b"])]),
            ("GpuConfig is for whole GPUs", [config("MPS", requests=["a"], kind="GpuConfig")]))):
        claim = w.resource_claim("bad-%d" % n, ("a", SLICE % 0), ("b", SLICE % 1), devices_config=configs)
        error = w.driver.prepare(claim).error
        assert words in error, error
    until("nothing left", lambda: w.nothing_left() and not w.mps())
    w.close()
    w = SharingWorld(api, mps=False)
    claim = w.resource_claim("off", ("a", SLICE % 0), devices_config=[config("MPS")])
    assert "nobody runs control daemons on this node" in w.driver.prepare(claim).error
    w.close()


def emulated_gpus_have_no_daemon(api):
    w = DraWorld(api, emulated=True)
    claim = w.resource_claim("mps", ("a", SLICE % 0), devices_config=[config("MPS")])
    answer = w.driver.prepare(claim)
    assert not answer.error and "CUDA_MPS_PIPE_DIRECTORY" not in w.container_env(answer.devices[0].cdi_device_ids[0])
    assert not w.driver.unprepare(claim).error
    w.close()


def killed_before_each_action(api):
    """of prepare and unprepare; kubelet asks again"""
    w = SharingWorld(api, whole=True)
    w.stop()
    n, died = 0, True
    while died:
        n += 1
        claim = w.resource_claim("claim-%d" % n, ("a", "gpu-0"), ("b", "gpu-1"), devices_config=[
            config("MPS", requests=["a"], kind="GpuConfig"), interval("Long", requests=["b"])])
        w.start(env={"SLIPWAY_TEST_DIE_AT": str(n)})
        first = w.process
        answer = again(w, "prepare", claim)
        assert w.modes() == [3, 0] and w.lines("smi.log")[-1] == smi(1, 3) and alive(w.pid(claim))
        assert again(w, "prepare", claim) == answer
        again(w, "unprepare", claim)
        until("nothing left", lambda: w.nothing_left() and not w.mps())
        assert w.modes() == [0, 0] and w.lines("smi.log")[-1] == smi(1, 0)
        died = w.process is not first or live(w)
        w.stop()
        api.delete(CLAIMS + "/claim-%d" % n)
    assert n > 12, n
    print("# %d actions" % (n - 1))
    w.start()
    w.close()


need_mounts("dra_sharing_test")
main([intervals_are_set_and_set_back, what_nvidia_smi_says_is_the_claims_error, a_claim_of_slices_has_one_daemon,
      a_whole_gpu_is_the_daemons_alone, the_daemon_outlives_the_plugin, after_a_reboot_it_is_started_again,
      a_daemon_that_fails_is_one_clear_error, what_a_daemon_says_is_in_the_log_and_does_not_fill_the_memory, what_one_daemon_cannot_be_told_is_refused, emulated_gpus_have_no_daemon,
      killed_before_each_action], version="1.36")
