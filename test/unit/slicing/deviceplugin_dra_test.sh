# slipway-device-plugin's face for Dynamic Resource Allocation, and a kubelet played by Python's grpcio.
. test/kubelet/run.sh dra_test.py
