"""A response: a status, an object or nothing, and whether the connection is kept."""

from time import gmtime, strftime

from hookonce.texts import dump

_REASON_PHRASES = {
    200: "OK",
    400: "Bad Request",
    401: "Unauthorized",
    403: "Forbidden",
    404: "Not Found",
    405: "Method Not Allowed",
    411: "Length Required",
    413: "Content Too Large",
    421: "Misdirected Request",
    431: "Request Header Fields Too Large",
    500: "Internal Server Error",
    501: "Not Implemented",
    503: "Service Unavailable",
}
CONTINUE_RESPONSE = b"HTTP/1.1 100 Continue\r\n\r\n"


def build_response(status: int, body: bytes, *header_lines: str, keep_alive: bool) -> bytes:
    """Build a whole response; `header_lines` are further lines of its head."""
    lines = [
        f"HTTP/1.1 {status} {_REASON_PHRASES[status]}",
        strftime("Date: %a, %d %b %Y %H:%M:%S GMT", gmtime()),
        "Content-Type: application/json",
        f"Content-Length: {len(body)}",
        *header_lines,
        *([] if keep_alive else ["Connection: close"]),
    ]
    return "\r\n".join([*lines, "", ""]).encode() + body


def error_body(message: str) -> bytes:
    """JSON body of an error."""
    return dump({"error": message})
