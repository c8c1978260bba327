"""Killed anywhere, the plugin leaves nothing behind in its next life."""
import grpc

from world import World, main, until

R = "mig.das.com/1g.5gb"


def one_life(w, n, name):
    """A pod with two slices comes and goes; the plugin may die at any moment. @return whether it did"""
    pod = w.pod(name, {R: 2})
    for i in range(2):
        w.claim(pod, "1g.5gb", 2 * i, 1, gpu=i)
    died = False
    try:
        if w.process.poll() is None:
            w.kubelet.allocate(R, "1g.5gb-0", "1g.5gb-1", timeout=20)
            until("inUse or dead", lambda: w.states() == ["inUse"] * 2 or w.process.poll() is not None)
    except grpc.RpcError:
        died = True
        w.process.wait(timeout=20)
    w.end_pod(name)  # kubelet fails the pod whose Allocate failed; this one is deleted, too
    until("clean or dead", lambda: w.process.poll() is not None or w.collect_claims() or w.nothing_left())
    return died or w.process.poll() is not None


def killed_before_each_action(api):
    n, died = 0, True
    w = World(api, emulated=False, start=False)
    while died:
        n += 1
        w.kubelet.registered = {}
        w.start(env={"SLIPWAY_TEST_DIE_AT": str(n)})
        died = one_life(w, n, "pod-%d" % n)
        code = w.stop()
        assert code in (0, 99), (n, code, w.log())
        w.kubelet.registered = {}
        w.start()
        w.collect_claims()
        until("clean after death %d" % n, w.nothing_left)
        assert w.stop() == 0
    assert n > 15, "too few actions: %d" % n
    print("# %d actions" % (n - 1))
    w.close()


def killed_before_each_action_when_the_pod_lives_on(api):
    """The next life goes on with what is ready, and gives back what is not."""
    n, died = 0, True
    w = World(api, emulated=False, start=False)
    while died:
        n += 1
        w.kubelet.registered = {}
        w.start(env={"SLIPWAY_TEST_DIE_AT": str(n)})
        pod = w.pod("pod-%d" % n, {R: 1})
        claim = w.claim(pod, "1g.5gb", 0, 1)
        answer = None
        try:
            answer = w.kubelet.allocate(R, "1g.5gb-0", timeout=20)
            until("inUse or dead", lambda: w.states() == ["inUse"] or w.process.poll() is not None)
        except grpc.RpcError:
            w.process.wait(timeout=20)
        died = w.process.poll() is not None
        w.stop()
        w.kubelet.registered = {}
        w.start()
        if answer:
            until("goes on %d" % n, lambda: w.states() == ["inUse"])
            assert len(w.gpus()) == 1 and w.cdi() == ["c1g.5gb_%s.cdi.json" % answer.envs["NVIDIA_VISIBLE_DEVICES"]]
        else:
            # no answer came, but the record may say ready: then it is kubelet's turn to end the pod
            until("goes on or gives back %d" % n, lambda: w.states() == ["inUse"] and len(w.gpus()) == 1 or
                  w.states() == ["created"] and not w.gpus() and not w.journal() and not w.cdi())
        assert list(w.claims()) == [claim]
        w.end_pod("pod-%d" % n)
        until("clean %d" % n, lambda: w.collect_claims() or w.nothing_left())
        w.stop()
    assert n > 8, n
    w.close()


def killed_inside_each_call_of_nvml(api):
    w = World(api, emulated=False)
    for n, call in enumerate(("gi_create", "ci_create", "mig_by_index", "ci_destroy", "gi_destroy")):
        w.fail("%s die" % call)
        assert one_life(w, n, "pod-%d" % n) or call == "mig_by_index"
        w.stop()
        w.fail()
        w.kubelet.registered = {}
        w.start()
        w.collect_claims()
        until("clean after %s" % call, w.nothing_left)
    w.close()


def others_instances_survive_every_death(api):
    w = World(api, emulated=False)
    pod = w.pod("other", {"mig.das.com/3g.20gb": 1})
    w.claim(pod, "3g.20gb", 4, 4)
    w.kubelet.allocate("mig.das.com/3g.20gb", "3g.20gb-0")
    until("inUse", lambda: w.states() == ["inUse"])
    others = w.gpus()
    for n in range(3, 18, 3):
        w.stop(9)
        w.kubelet.registered = {}
        w.start(env={"SLIPWAY_TEST_DIE_AT": str(n)}, wait=False)
        until("up or dead", lambda: len(w.kubelet.registered) == 7 or w.process.poll() is not None)
        mine = w.pod("mine-%d" % n, {R: 1})
        w.claim(mine, "1g.5gb", 0, 1, n=100 + n)
        try:
            if w.process.poll() is None:
                w.kubelet.allocate(R, "1g.5gb-0", timeout=20)
        except grpc.RpcError:
            pass
        w.end_pod("mine-%d" % n)
        w.stop(9)
        w.kubelet.registered = {}
        w.start()
        w.collect_claims()
        until("only the other's", lambda: w.gpus() == others and len(w.claims()) == 1 and len(w.journal()) == 1)
    w.close()


main([killed_before_each_action, killed_before_each_action_when_the_pod_lives_on,
      killed_inside_each_call_of_nvml, others_instances_survive_every_death])
