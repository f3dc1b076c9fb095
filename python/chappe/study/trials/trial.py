"""A change that advice tries: its settings, who can make it, and how a Linux host is told."""

from collections.abc import Mapping
from typing import Any, NamedTuple

OWNER, OPERATOR, VENDOR, SENDER = "owner", "operator", "vendor", "sender"

WHO = {
    OPERATOR: "the operator of the network",
    OWNER: "the owner of a node",
    SENDER: "the ends of the flows",
    VENDOR: "the vendor of the devices",
}
"""Who can make a change, in the order of output."""

COMMIT = "uci commit wireless; wifi"
COMMIT_NETWORK = "uci commit network; service network restart"
"""Commands that put changed settings of OpenWrt into effect, those of radios and those of networks."""


class Trial(NamedTuple):
    """A change.

    Attributes:
        change: Settings that differ.
        who: Who can make it, a key of :data:`WHO`.
        name: Its name; empty: its settings.
        command: Command for a host; empty: Linux has no switch.
        source: What documents the command, or why there is none.
        uci: Command for a host with OpenWrt, where it has one of its own.
    """

    change: Mapping[str, Any]
    who: str
    name: str = ""
    command: str = ""
    source: str = ""
    uci: str = ""

    @property
    def title(self) -> str:
        """Its name, or its settings."""
        return self.name or named(self.change)

    @property
    def said(self) -> str:
        """The commands with their sources."""
        command = f"`{self.command}`" if self.command else "no switch"
        more = "; ".join([*([self.source] if self.source else []), *([f"OpenWrt: `{self.uci}`"] if self.uci else [])])
        return f"{command} ({more})" if more else command


class LeftOut(NamedTuple):
    """A change that is not tried.

    Attributes:
        change: Its name.
        reason: Why not.
    """

    change: str
    reason: str


def named(change: Mapping[str, Any]) -> str:
    """Name of a change: its settings."""
    return ", ".join(
        f"{name} = {str(value).lower() if isinstance(value, bool) else value}" for name, value in change.items()
    )
