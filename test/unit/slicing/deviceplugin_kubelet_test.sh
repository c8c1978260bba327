# slipway-device-plugin and a kubelet played by Python's grpcio: every message kind, pods' lives,
# restarts of either side, hostile peers.
. test/kubelet/run.sh kubelet_test.py
