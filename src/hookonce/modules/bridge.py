"""A module that is reached in one way, offered in another: a program on stdio to those who speak HTTP."""

from msgspec import UNSET

from hookonce.model import Json, Object
from hookonce.modules.client import Link
from hookonce.modules.protocol import DEFAULT_TIMEOUT_S, Fault, error_document, parse_request


class Bridge:
    """Document handler that passes requests on to a link; invalid requests do not get across."""

    def __init__(self, link: Link, timeout: float = DEFAULT_TIMEOUT_S) -> None:
        self._link, self._timeout = link, timeout

    def answer(self, document: Json) -> Object:
        """The link's response to a request document, under the request's id."""
        request_id = document.get("id", UNSET) if type(document) is dict else UNSET
        try:
            response = self._link.ask(parse_request(document), self._timeout)
        except Fault as fault:
            response = error_document(fault.error)
        return response if request_id is UNSET else response | {"id": request_id}
