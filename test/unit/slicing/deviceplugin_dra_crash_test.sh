# slipway-device-plugin killed before each of its actions, and inside each call of NVML, while it prepares
# and unprepares ResourceClaims.
. test/kubelet/run.sh dra_crash_test.py
