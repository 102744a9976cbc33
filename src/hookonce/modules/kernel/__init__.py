"""The kernel: mounts modules for its user and calls them, each call checked against what was granted."""

from hookonce.modules.kernel.kernel import Kernel

__all__ = ["Kernel"]
