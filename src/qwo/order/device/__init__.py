"""The QWO engine on a GPU, with a stand-in of the same kernels for machines without one."""

from qwo.order.device.covariance import gpu_moments
from qwo.order.device.engine import GpuEngine, Improvement
from qwo.order.device.stand_in import HostKernels

__all__ = ["GpuEngine", "HostKernels", "Improvement", "gpu_moments"]
