# What ResourceClaims set besides slices: intervals of time slicing by nvidia-smi, MPS by control daemons, with programs
# of the driver that the test plays, in a root of its own.
. test/kubelet/run.sh dra_sharing_test.py
