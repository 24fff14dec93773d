"""GitHub workflow commands, as a check prints them for a pull request."""

from __future__ import annotations


def annotation(level: str, title: str, message: str, place: tuple[str, int] | None) -> str:
    """One workflow command, with the signs that end a part written as GitHub asks."""
    properties = {"file": place[0], "line": str(place[1])} if place else {}
    properties["title"] = title
    listed = ",".join(
        f"{key}={_escape(value).replace(':', '%3A').replace(',', '%2C')}"
        for key, value in properties.items()
    )
    return f"::{level} {listed}::{_escape(message)}"


def _escape(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
