"""Entry point of the Python client: forwards a call to the daemon, or answers it in this process."""

import os

from hookonce.base.wire import MAX_FRAME_BYTES, encode_frame, write_reply
from hookonce.client.python import frame
from hookonce.client.python.call import ClientCall
from hookonce.client.python.connection import request_reply

_CALLER_STDERR_FD = 3  # where the shell has put the caller's stderr, away from what Python itself might say
_MAX_FRAME_BYTES = len(encode_frame([])) + MAX_FRAME_BYTES


def main(folder: str, install_lines: list[str], caller: int, argv: list[str]) -> int:
    """Answer a call; any exception leaves the answer to the shell that started us."""
    call = ClientCall(folder, install_lines, caller, argv)
    frame_bytes = frame.build_frame(call)
    skips_daemon = call.get_variable(b"HOOKONCE_COLD")  # to look at what Python does; the answers are the same
    reply = (
        request_reply(call, frame_bytes)
        if call.runtime_dir and not skips_daemon and len(frame_bytes) <= _MAX_FRAME_BYTES
        else None
    )
    if reply is None:
        return _answer_in_process(call, frame_bytes)
    return write_reply(_CALLER_STDERR_FD, *reply[2:])


def _answer_in_process(call: ClientCall, frame_bytes: bytes) -> int:
    """Answer in this process, which becomes the one-shot process that the native client would have started."""
    from hookonce.client.oneshot_call import answer_frame
    from hookonce.client.python.launch import acquire_slot, own_environment, set_descriptors

    slot = acquire_slot(call)
    descriptors = [None, 1, None, _CALLER_STDERR_FD, *([] if slot is None else [slot])]
    set_descriptors(descriptors)
    os.umask(call.umask)
    os.environb.clear()
    os.environb.update(own_environment(call))
    return answer_frame(call.folder, frame_bytes, call.caller, None if slot is None else len(descriptors) - 1)
