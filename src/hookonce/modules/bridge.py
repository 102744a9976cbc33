"""A module that is reached in one way, offered in another: a program on stdio to those who speak HTTP."""

from msgspec import UNSET

from hookonce.model import Json, Object
from hookonce.modules.client import Link
from hookonce.modules.protocol import TIMEOUT, Fault, failure, request_of


class Bridge:
    """Answers with what somebody else answers; requests that are none do not get across."""

    def __init__(self, link: Link, timeout: float = TIMEOUT) -> None:
        self._link, self._timeout = link, timeout

    def answer(self, document: Json) -> Object:
        """The document that answers a document, under the id that it was asked with."""
        number = document.get("id", UNSET) if type(document) is dict else UNSET
        try:
            said = self._link.ask(request_of(document), self._timeout)
        except Fault as fault:
            said = failure(fault.error)
        return said if number is UNSET else said | {"id": number}
