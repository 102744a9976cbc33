"""The module protocol: programs in any language that hookonce calls, and hookonce as one of them.

from hookonce.modules import module

m = module(name="greeter", kind="tool")

@m.op("greet")
def greet(name: str) -> str:
    return f"hello {name}"

m.run()
"""

from hookonce.modules.own import Module, module
from hookonce.modules.protocol import Fault, Request

__all__ = ["Fault", "Module", "Request", "module"]
