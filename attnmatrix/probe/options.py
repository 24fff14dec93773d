"""The options of `attnmatrix probe`: apart, for every command's help reads them."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse


def add_options(parser: argparse.ArgumentParser) -> None:
    """The command's options."""
    add = parser.add_argument
    add("--kernel", action="append", default=[], metavar="NAME", help="this kernel alone")
    add(
        "--provider",
        action="append",
        default=[],
        metavar="DIST",
        help="the libraries of this distribution alone",
    )
    add(
        "--axis",
        action="append",
        default=[],
        metavar="NAME[=V,…]",
        help="vary this axis alone; with values, try these alone",
    )
    add("--quick", action="store_true", help="no two axes at once")
    add(
        "--case",
        action="append",
        default=[],
        metavar="KEY",
        help="one case, as a report names it: kernel=…,kv_format=…",
    )
    add("--resume", metavar="FILE", help="keep answers in FILE, and go on from it")
    add("--write", action="store_true", help="store the records")
    add("--out", default="evidence", metavar="DIR", help="where: %(default)s")
    add("--report", metavar="FILE.md", help="write a Markdown page")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--format", choices=["text", "json", "github"], default="text")
    form.add_argument("--json", dest="format", action="store_const", const="json")
    add("--time-limit", type=float, default=30.0, metavar="S", help="seconds a case, by default 30")
    add("--workers", type=int, default=0, metavar="N", help="processes at work, by default enough")
