from .proximal import ProximalL1 as ProximalL1
