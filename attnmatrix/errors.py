"""What goes wrong before a verdict: requests that cannot be read, names that lead nowhere."""

from __future__ import annotations


class RequestError(ValueError):
    """A request that cannot be read: `field` is what is wrong, the message what is accepted."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(f"{field}: {message}")
        self.field = field


class UnknownName(KeyError):
    """A name that the matrix does not hold; the message lists those that it does."""

    def __str__(self) -> str:
        return str(self.args[0])
