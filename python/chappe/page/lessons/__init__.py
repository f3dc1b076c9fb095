"""Lessons: pages with a text, a player, sliders, and questions whose answers are behind a button.

The numbers of a lesson are those of runs that are made with it.
"""

from collections.abc import Callable, Mapping
from importlib import resources
from typing import Any, NamedTuple

from chappe import text as show
from chappe.results.results import Results, run
from chappe.scenario.scenario import Scenario

Runs = Mapping[str, Results]
"""Runs of a lesson by name; the first is that of its player."""


class Lesson(NamedTuple):
    """A lesson.

    Attributes:
        title: Its title.
        about: What it is about, in one line.
        scenario: Name of its scenario.
        slider: Setting that the page proposes to change.
        variants: Changed settings of its runs, by name; the first is the scenario as it is.
        text: Function from the runs to paragraphs.
        tasks: What to do in the player.
        questions: Function from the runs to three questions with their answers.
    """

    title: str
    about: str
    scenario: str
    slider: str
    variants: Mapping[str, Mapping[str, Any]]
    text: Callable[[Runs], list[str]]
    tasks: tuple[str, ...]
    questions: Callable[[Runs], list[tuple[str, str]]]


def scenario_text(lesson: Lesson) -> str:
    """Text of the scenario file of a lesson."""
    return resources.files(__package__).joinpath(f"{lesson.scenario}.toml").read_text(encoding="utf-8")


def runs_of(lesson: Lesson) -> dict[str, Results]:
    """Makes the runs of a lesson."""
    base = Scenario._from_text(f"{lesson.scenario}.toml", scenario_text(lesson), [])
    return {name: run(base.with_settings(changes)) for name, changes in lesson.variants.items()}


def _goodput(results: Results) -> str:
    return show.rate(float(results.flows["goodput_bps"].sum()), 3)


def _lost(results: Results, counter: str) -> str:
    """Share of the data packets that left the network which were lost for a reason."""
    rows = results.packet_outcomes.filter(packet_class="data")
    lost, delivered = int(rows[counter].sum()), int(rows["delivered"].sum())
    return f"{100 * lost / max(lost + delivered, 1):.0f} %"


def _measure(results: Results, name: str) -> str:
    rows = results.summary().filter(measure=name)
    return show.number(rows["estimate"][0] if len(rows) else None, 3)


def _flow(results: Results, column: str) -> Any:
    return results.flows[column][0]


# ---- the hidden terminal ----


def _hidden_text(runs: Runs) -> list[str]:
    return [
        "Nodes 0 and 2 are 400 m apart, and a radio reaches 250 m: neither hears the other. Both send datagrams to "
        "node 1 between them, and both listen before they send. It does not help: what matters is whether the medium "
        "is free at the receiver, and a sender listens at its own place. Node 2 is a hidden terminal for node 0, and "
        "the reverse.",
        f"Of the packets {_lost(runs['as it is'], 'dropped_retry_limit')} are given up after too many attempts, and "
        f"the two flows together have {_goodput(runs['as it is'])}.",
        "An RTS frame asks the receiver first. Its answer, the CTS, is heard by everybody around the receiver, also by "
        "the hidden terminal, which then stays silent for the time that the CTS names (its NAV).",
    ]


def _hidden_questions(runs: Runs) -> list[tuple[str, str]]:
    always, near = runs["RTS before every frame"], runs["within hearing"]
    return [
        (
            "Each sender finds the medium free before it sends. Why do most of its frames die all the same?",
            "Carrier sense tells what is on the air at the sender. The frames meet at node 1, where both are heard, "
            "and neither can be decoded. Backoff makes it rarer, but frames are long compared with a slot: whoever "
            "begins while the other is on the air destroys both.",
        ),
        (
            "Set wlan.rts_threshold to 0 B in the page, and run again. What becomes better, and what does it cost?",
            f"Goodput rises from {_goodput(runs['as it is'])} to {_goodput(always)}, and only "
            f"{_lost(always, 'dropped_retry_limit')} of the packets are given up. Now the short RTS frames collide "
            "instead of the long data frames. The price is an RTS and a CTS for each data frame, also where nobody is "
            "hidden.",
        ),
        (
            "What happens without RTS if the nodes are only 100 m apart, so that all hear each other?",
            f"The senders defer to each other: {_goodput(near)}, and {_lost(near, 'dropped_retry_limit')} of the "
            "packets are given up. Frames collide only if both senders begin in the same slot.",
        ),
    ]


_NEAR = {"topology.positions": [["0 m", "0 m"], ["100 m", "0 m"], ["200 m", "0 m"]]}

# ---- NewReno and Vegas over a chain ----


def _chain_text(runs: Runs) -> list[str]:
    newreno, vegas = runs["NewReno"], runs["Vegas"]
    return [
        "A file goes over seven hops. Nodes at a distance of three hops or less cannot send at the same time without "
        "disturbing each other, so that only about every fourth node can be on the air: more than two or three packets "
        "on the way bring no more goodput, only more collisions.",
        "NewReno does not know this. It enlarges its window until a packet is lost. In the Internet that is a full "
        "queue; here queues are nearly empty, and packets are lost because the MAC gives up after collisions with "
        "hidden terminals three hops away. AODV takes this for a broken link, and looks for a route that is still "
        "there: a false route failure.",
        "Vegas compares the round-trip time with the smallest one that it has seen. When packets begin to wait, it "
        "stops growing, before anything is lost.",
        f"NewReno: {_goodput(newreno)} with a mean window of {_measure(newreno, 'mean_window_segments')} segments. "
        f"Vegas: {_goodput(vegas)} with {_measure(vegas, 'mean_window_segments')} segments.",
    ]


def _chain_questions(runs: Runs) -> list[tuple[str, str]]:
    newreno, vegas, limited = runs["NewReno"], runs["Vegas"], runs["NewReno, window 3"]
    failures = "route_failures_per_10000"
    return [
        (
            "Which of the two has the larger window, and which has more goodput?",
            f"NewReno keeps {_measure(newreno, 'mean_window_segments')} segments on the way and has "
            f"{_goodput(newreno)}; Vegas keeps {_measure(vegas, 'mean_window_segments')} and has {_goodput(vegas)}. "
            "More packets on the way do not mean more packets at the other end.",
        ),
        (
            "Nobody moves. Why do routes fail, and how often?",
            "The MAC gives a packet up after several collisions, and AODV believes that the neighbor is gone. With "
            f"NewReno this happens {_measure(newreno, failures)} times for 10,000 packets, with Vegas "
            f"{_measure(vegas, failures)} times. Until the route is found again nothing is sent, and often the timer "
            "of TCP expires.",
        ),
        (
            "Pull the slider of tcp.receive_window down to 3. What has NewReno then, and why?",
            f"It has {_goodput(limited)}, with {_measure(limited, failures)} false route failures for 10,000 packets: "
            "the limit does what Vegas does by itself. A fixed limit, however, fits only one length of the path.",
        ),
    ]


# ---- a moving node ----


def _moving_text(runs: Runs) -> list[str]:
    aodv = runs["AODV"]
    return [
        "Node 5 gets a file from node 0. From the tenth second on it walks along the row of the others with 10 m/s, "
        "out of the range of one node and into that of the next: the path grows from one hop to several.",
        "Nobody tells AODV that a link is gone. A node finds out when the MAC gives up on a packet. It sends a route "
        "error back, the source floods a route request, and the first answer is the new route. Until then packets wait "
        "or are lost.",
        f"With AODV the path breaks {_flow(aodv, 'route_breaks')} times, the source has no route for "
        f"{show.number(_flow(aodv, 'no_route_s'), 3)} s, and the flow has {_goodput(aodv)}.",
    ]


def _moving_questions(runs: Runs) -> list[tuple[str, str]]:
    aodv, dsdv, fast = runs["AODV"], runs["DSDV"], runs["20 m/s"]
    waits = show.number(_flow(aodv, "timeout_wait_s"), 3)
    return [
        (
            "The new route is found within milliseconds. Why does TCP lose so much more time?",
            "The packets that were on the way are lost, and nothing comes back that would start TCP again: it waits "
            f"for its timer, which doubles with each failure. Of the measured time TCP waits {waits} s for the timer, "
            f"and {show.number(_flow(aodv, 'no_route_s'), 3)} s are without a route.",
        ),
        (
            "Run it with routing.protocol = dsdv. Is a protocol better that keeps all routes ready all the time?",
            f"It has {_goodput(dsdv)}, AODV {_goodput(aodv)}. DSDV announces routes periodically; between two "
            "announcements it uses old ones, and does not look for a new one when a link breaks.",
        ),
        (
            "What changes if the node walks twice as fast (event 0: speed 20 m/s)?",
            f"It passes the row in half of the time: the path breaks {_flow(fast, 'route_breaks')} times instead of "
            f"{_flow(aodv, 'route_breaks')}, and the flow has {_goodput(fast)} instead of {_goodput(aodv)}. It is at "
            "the far end earlier, and the longest path takes more of the run: not the breaks alone decide.",
        ),
    ]


_FASTER = {
    "event": [
        {"at": "10 s", "action": "node_move", "node": 5, "destination": ["800 m", "100 m"], "speed": "20 m/s"},
    ]
}

LESSONS: dict[str, Lesson] = {
    "hidden-terminal": Lesson(
        "The hidden terminal",
        "why carrier sense is not enough, and what RTS and CTS do",
        "hidden-terminal",
        "wlan.rts_threshold",
        {"as it is": {}, "RTS before every frame": {"wlan.rts_threshold": "0 B"}, "within hearing": _NEAR},
        _hidden_text,
        (
            "Press c to go to a collision, and look at the lanes: which two frames are on the air at the same time?",
            "Choose node 1 below the map, and step from frame to frame with the arrow keys: on which frame is it "
            "locked?",
            "Set wlan.rts_threshold to 0 B, run again, and look for the NAV of the hidden node: the dashed ring.",
        ),
        _hidden_questions,
    ),
    "chain": Lesson(
        "Why NewReno fails on chains, and Vegas does not",
        "a window that is too large does harm without any full queue",
        "chain",
        "tcp.variant",
        {"NewReno": {}, "Vegas": {"tcp.variant": "vegas"}, "NewReno, window 3": {"tcp.receive_window": 3}},
        _chain_text,
        (
            "Press d to go to a lost packet: at which node was it lost, and who was on the air three hops away?",
            "Press t to go to a timeout, and look at the window before and after it.",
            "Set tcp.variant to vegas, run again, and compare the curve of the window.",
        ),
        _chain_questions,
    ),
    "moving-node": Lesson(
        "A moving node and its routes",
        "what a broken link costs, and who notices it when",
        "moving-node",
        "routing.protocol",
        {"AODV": {}, "DSDV": {"routing.protocol": "dsdv"}, "20 m/s": _FASTER},
        _moving_text,
        (
            "Press r to go to a route failure: which link broke, and how many frames were sent over it in vain?",
            "Play from there: who sends the route requests, and which way do the answers take?",
            "Look at the window after the new route is there: how long does TCP still wait?",
        ),
        _moving_questions,
    ),
}
"""Lessons by name."""


def page_of(name: str) -> str:
    """The page of a lesson as HTML; its runs are made.

    Args:
        name: A key of :data:`LESSONS`.
    """
    from chappe.page import Table, Taught, page

    lesson = LESSONS[name]
    runs = runs_of(lesson)
    rows = [
        (
            variant,
            _goodput(results),
            f"{results.flows['retransmissions'].sum():,}",
            f"{results.flows['timeouts'].sum():,}",
            _lost(results, "dropped_retry_limit"),
        )
        for variant, results in runs.items()
    ]
    columns = ("run", "goodput", "retransmitted", "timeouts", "given up by the MAC")
    table = Table("The runs of this lesson", columns, rows, f"The player has the first of them. {ONE_SEED}")
    taught = Taught(lesson.text(runs), lesson.tasks, lesson.questions(runs), table)
    return page(next(iter(runs.values())), lesson.title, lesson.slider, taught)


ONE_SEED = "Each is one run with seed 1: other seeds differ."
"""Note below the table of the runs."""
