# slipway-device-plugin killed before each of its actions, and inside each call of NVML: nothing is
# left behind, and what is not its own is never touched.
. test/kubelet/run.sh crash_test.py
