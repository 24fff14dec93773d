"""The one error of the kernel layer."""

from __future__ import annotations

from collections.abc import Iterable


class KernelError(ValueError):
    """An argument that a kernel or a packer does not take; raised before any work is done.

    `field` names the argument, `value` is what was given and `accepted` what is taken instead: a
    sentence, or the accepted values. The message holds all three and `fix`, what to do about it.

        >>> raise KernelError("head_size", 584, (512,), "584 is its stored bytes; pass elements")
        KernelError: head_size is 584; accepted: 512; 584 is its stored bytes; pass elements
    """

    def __init__(self, field: str, value: object, accepted: object, fix: str = "") -> None:
        self.field = field
        self.value = value
        self.accepted = accepted
        self.fix = fix
        message = f"{field} is {_shown(value)}; accepted: {_listed(accepted)}"
        super().__init__(f"{message}; {fix}" if fix else message)

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle from the parts, so that an error crosses processes whole."""
        return type(self), (self.field, self.value, self.accepted, self.fix)


def _shown(value: object) -> str:
    return "not given" if value is None else str(value)


def _listed(accepted: object) -> str:
    if isinstance(accepted, str) or not isinstance(accepted, Iterable):
        return str(accepted)
    return ", ".join(str(value) for value in accepted)
