"""Live runs: programs of this machine on simulated nodes.

Where the machine allows no namespaces, the tests that need them require that the refusal says what is missing and the
way out, and pytest's summary has a warning.
"""

import contextlib
import functools
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import chappe
import pytest
from chappe.scenario.endpoints import with_endpoints
from command import CHAPPE, PATIENCE_S, REPOSITORY, environment, parsed
from command import chappe as command

EXAMPLES = sorted((REPOSITORY / "examples" / "live").glob("*.toml"))

CHAIN = """
extends = "linux-tun"
run.stop = "60 s"
topology.hops = 2
routing.protocol = "shortest_path"
"""

NODES = """
import os, signal, socket, sys, time
from pathlib import Path
def udp(version=4):
    s = socket.socket(socket.AF_INET if version == 4 else socket.AF_INET6, socket.SOCK_DGRAM)
    s.settimeout(60)
    return s
def node(number, version=4):
    return f"10.0.{number}.1" if version == 4 else f"fd00::{number:x}:1".replace("::0:", "::")
"""
"""Begin of every program."""

ECHO = """
signal.signal(signal.SIGINT, signal.SIG_IGN)
s = udp(version)
s.bind((node(2, version), 7))
while True:
    data, other = s.recvfrom(65535)
    s.sendto(data, other)
"""

ASK = """
s = udp(version)
for number in range(tries):
    s.sendto(bytes([number]) * size, (node(2, version), 7))
    assert s.recv(65535) == bytes([number]) * size
print("all answered", flush=True)
"""

MILL = "node=[{nodes = 2, name = 'mill'}]"
NEVER_LATE = ("-s", "live.late_limit=60 s")
ALWAYS_LATE = ("-s", "live.late_limit=1 ns")

Live = Callable[..., "subprocess.CompletedProcess[str]"]


def text(program: str, **values: int) -> str:
    return NODES + "".join(f"{name} = {value}\n" for name, value in values.items()) + program


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    (tmp_path / "chain.toml").write_text(CHAIN, encoding="utf-8")
    return tmp_path


@pytest.fixture
def live(scenario: Path) -> Live:
    """Runs ``chappe live`` with programs in Python on node 2 and on node 0."""

    def run(*options: str, on_2: str | None = None, on_0: str | None = None) -> "subprocess.CompletedProcess[str]":
        return command("live", "chain.toml", *words(scenario, on_2, on_0, *options), cwd=scenario)

    return run


def words(folder: Path, on_2: str | None, on_0: str | None, *options: str) -> list[str]:
    """Words of a command line; the programs are files of the folder."""
    found = list(options)
    for name, program in (("on_2.py", on_2), ("on_0.py", on_0)):
        if program is not None:
            (folder / name).write_text(program, encoding="utf-8")
    if on_2 is not None:
        found += ["--node", "2", f"exec {sys.executable} on_2.py"]
    if on_0 is not None:
        found += ["--", sys.executable, "on_0.py"]
    return found


def is_refused(done: "subprocess.CompletedProcess[str]") -> bool:
    """True if the machine allows no such run; the refusal then names what is missing, and the way out."""
    if done.returncode != 1 or not done.stderr.startswith("error: cannot "):
        return False
    assert re.search(
        r"cannot (make|open|follow|write|put) .+; .*(run as root|let root|install|with the cap)", done.stderr
    )
    assert "Traceback" not in done.stderr
    warnings.warn(f"not tested on this machine: {done.stderr.strip()}", stacklevel=2)
    return True


def test_programs_see_their_nodes_and_nothing_else(live: Live) -> None:
    before = Path("/etc/hosts").read_text(encoding="utf-8")
    looks = """
print(*(os.environ[f"CHAPPE_{name}"] for name in ("NODE", "ADDRESS", "ADDRESS6", "NODE2")))
print(sorted({found[4][0] for found in socket.getaddrinfo("node2", 7)}))
for address in ("192.0.2.1", "8.8.8.8", "2001:db8::1"):
    try:
        socket.create_connection((address, 80), timeout=5)
    except OSError as e:
        print(e.strerror)
print(Path("/etc/resolv.conf").read_text() if Path("/etc/resolv.conf").exists() else "")
s = udp()
s.bind(("127.0.0.1", 0))
s.sendto(b"here", s.getsockname())
print(s.recv(9).decode())
sys.exit(7)
"""
    done = live("--quiet", on_0=text(looks))
    if is_refused(done):
        return
    assert done.stdout.splitlines() == [
        "0 10.0.0.1 fd00::1 10.0.2.1",
        "['10.0.2.1', 'fd00::2:1']",
        *["Network is unreachable"] * 3,
        "",
        "here",
    ]
    assert (done.returncode, done.stderr) == (7, "")
    assert Path("/etc/hosts").read_text(encoding="utf-8") == before


@pytest.mark.parametrize("door", ["tun", "nfqueue"])
@pytest.mark.parametrize("version", [4, 6])
def test_packets_of_all_sizes_come_back(live: Live, door: str, version: int) -> None:
    for size in (0, 100, 4000):  # 4,000 B are three fragments
        options = ("--quiet", "--door", door, *NEVER_LATE)
        done = live(*options, on_2=text(ECHO, version=version), on_0=text(ASK, version=version, size=size, tries=5))
        if is_refused(done):
            return
        assert (done.returncode, done.stdout, done.stderr) == (0, "all answered\n", "")


def test_a_record_repeats_a_run(live: Live, scenario: Path) -> None:
    options = ("--json", "--record", "record", *NEVER_LATE, "-s", 'run.record=["packets"]')
    done = live(*options, on_2=text(ECHO, version=4), on_0=text(ASK, version=4, size=500, tries=20))
    if is_refused(done):
        return
    assert done.stderr == "all answered\n"
    seen = json.loads(done.stdout)
    about = seen.pop("live")
    assert (about["exit_code"], about["door"], about["late"]) == (0, "tun", 0)
    assert about["entered"] == about["delivered"] + about["lost"] >= 40
    recorded = ("--json", "-s", 'run.record=["packets"]', *NEVER_LATE)
    again = command("run", "chain.toml", *recorded, "--replay", "record", cwd=scenario)
    assert json.loads(again.stdout) == seen
    (flow,) = [f for f in seen["flows"] if (f["src"], f["dst"]) == (2, 0)]
    assert flow["packets_delivered"] == 20
    # The scenario may be another one: nothing gets through without the relay.
    other = chappe.run(
        chappe.Scenario.load(scenario / "chain.toml", {"event": [{"action": "node_down", "node": 1, "at": "0 s"}]}),
        replay=scenario / "record",
    )
    assert other.flows["packets_delivered"].sum() == 0


def test_a_record_is_not_replaced_by_accident(scenario: Path) -> None:
    (scenario / "mine").write_text("mine", encoding="utf-8")
    done = command("live", "chain.toml", "--record", "mine", "--", "true", cwd=scenario)
    assert (done.returncode, (scenario / "mine").read_text(encoding="utf-8")) == (2, "mine")
    assert "mine is there, and is not a record that Chappe wrote" in done.stderr
    done = command("run", "chain.toml", "--replay", "mine", cwd=scenario)
    assert done.returncode == 2
    assert "--replay mine: line 1 of the record: expected `chappe-record 1`" in done.stderr


def test_marks_and_codepoints_are_those_of_headers(live: Live) -> None:
    receives = """
s = udp()
s.bind((node(2), 7))
s.setsockopt(socket.IPPROTO_IP, socket.IP_RECVTOS, 1)
seen = [s.recvmsg(2000, 100)[1][0][2][0] for _ in range(40)]
s.sendto(bytes(seen), (node(0), 7))
time.sleep(60)
"""
    sends = """
s = udp()
s.bind((node(0), 7))
s.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, 10 << 2 | 2)
for _ in range(40):
    s.sendto(bytes(1000), (node(2), 7))
print(sorted(set(s.recv(100))))
"""
    red = {"min_threshold": 1, "max_threshold": 100, "max_p": 0.5, "weight": 0.9, "adaptive": "false"}
    queue = {"discipline": "red", "limit": 100, **{f"red.{name}": value for name, value in red.items()}}
    sets = [word for name, value in queue.items() for word in ("-s", f"queue.{name}={value}")]
    done = live("--quiet", *NEVER_LATE, *sets, on_2=text(receives), on_0=text(sends))
    if is_refused(done):
        return
    # A kernel drops packets whose checksum is wrong.
    assert (done.stdout, done.stderr) == (f"{[10 << 2 | 2, 10 << 2 | 3]}\n", "")


def test_all_that_is_known_of_a_run_is_known_of_a_live_one(live: Live, scenario: Path) -> None:
    options = ("--why", "--report", "run.html", "--pcap", "pcap", "--out", "out", *NEVER_LATE)
    events = "event=[{action = 'node_down', node = 1, at = '500 ms'}, {action = 'node_up', node = 1, at = '600 ms'}]"
    done = live(*options, "-s", events, on_2=text(ECHO, version=4), on_0=text(ASK, version=4, size=500, tries=3))
    if is_refused(done):
        return
    assert done.returncode == 0
    assert "all answered" in done.stdout
    assert re.search(r"Live \(TUN\): \d+ packets entered, \d+ arrived, \d+ lost", done.stdout)
    assert re.search(r"Lateness: median .* 0\.00 % later than 60000 ms", done.stdout)
    assert {p.name for p in (scenario / "pcap").iterdir()} == {"node-0.pcapng", "node-1.pcapng", "node-2.pcapng"}
    assert (scenario / "run.html").stat().st_size > 10_000
    kept = chappe.open(scenario / "out")
    assert isinstance(kept, chappe.Results)
    (flow,) = [f for f in kept.flows.to_dicts() if (f["src"], f["dst"]) == (0, 2)]
    assert flow["packets_delivered"] == 3
    assert "4 external flows" in done.stdout
    assert "it did not begin" not in done.stdout, "pairs without datagrams are no news"
    assert "The run was canceled" not in done.stdout


def test_the_end_of_the_run_ends_the_programs(live: Live) -> None:
    done = live("-s", "run.stop=1 s", on_0=text("time.sleep(1000)"))
    if is_refused(done):
        return
    assert done.returncode == 0
    assert "The programs were ended with the run (`run.stop`)." in done.stdout


def test_late_deliveries_are_told(live: Live) -> None:
    programs = {"on_2": text(ECHO, version=4), "on_0": text(ASK, version=4, size=100, tries=3)}
    warned = live("--quiet", *ALWAYS_LATE, **programs)
    if is_refused(warned):
        return
    assert warned.returncode == 0
    assert "warning: the simulation was late" in warned.stderr
    ended = live("--quiet", *ALWAYS_LATE, "-s", "live.when_late=stop", **programs)
    assert ended.returncode == 3
    assert re.search(r"error: a delivery was [\d.]+ ms late, and `live.when_late` is `stop`", ended.stderr)


def wait_until(holds: Callable[[], bool]) -> None:
    """Waits for something that has to become true."""
    until = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < until
        time.sleep(0.05)


def processes_with(word: str) -> list[str]:
    """Command lines with a word."""
    found = []
    for line in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            shown = line.read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if word in shown:
            found.append(shown)
    return found


def namespaces() -> set[str]:
    """Network namespaces of all processes that may be seen."""
    found = set()
    for link in Path("/proc").glob("[0-9]*/ns/net"):
        with contextlib.suppress(OSError):
            found.add(str(link.readlink()))
    return found


def are_gone(found: set[str]) -> bool:
    """True if none of these namespaces is left."""
    return not namespaces() & found


def begun(folder: Path, on_0: str) -> "subprocess.Popen[str] | None":
    """A live run whose program on node 0 has made the file ``begun``; ``None`` if it is refused."""
    (folder / "begun").unlink(missing_ok=True)
    command_line = [*CHAPPE, "live", "chain.toml", *words(folder, text(ECHO, version=4), on_0, "--quiet")]
    run = subprocess.Popen(
        command_line, cwd=folder, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8"
    )
    wait_until(lambda: (folder / "begun").exists() or run.poll() is not None)
    if run.poll() is None:
        return run
    out, err = run.communicate()
    assert is_refused(subprocess.CompletedProcess(run.args, run.returncode, out, err))
    return None


FLOOD = """
open("begun", "w").close()
s = udp()
while True:
    s.sendto(bytes(1000), (node(2), 7))
    time.sleep(0.001)
"""


def test_nothing_is_left_of_a_run_that_is_killed(scenario: Path) -> None:
    word = str(scenario)
    before = namespaces()
    for _ in range(3):
        run = begun(scenario, text(f"# {word}\n{FLOOD}"))
        if run is None:
            return
        devices = os.listdir("/sys/class/net")
        assert len(processes_with("on_0.py")) >= 1
        ours = namespaces() - before
        assert len(ours) >= 2, "one for each node with a program"
        run.kill()
        run.communicate()
        wait_until(lambda: not [p for p in processes_with("on_0.py") + processes_with("on_2.py") if "python" in p])
        wait_until(functools.partial(are_gone, ours))
        assert os.listdir("/sys/class/net") == devices


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_ends_the_programs_first(scenario: Path, number: signal.Signals) -> None:
    asks = """
def ends(*_):
    s = udp()
    s.sendto(b"last", (node(2), 7))
    print(s.recv(9).decode(), flush=True)
    sys.exit(5)
signal.signal(signal.SIGINT, ends)
open("begun", "w").close()
while True:
    time.sleep(1)
"""
    run = begun(scenario, text(asks))
    if run is None:
        return
    os.kill(run.pid, number)
    out, err = run.communicate(timeout=PATIENCE_S)
    assert (out, err, run.returncode) == ("last\n", "", 130)


def test_what_keeps_a_user_from_namespaces_is_named(scenario: Path) -> None:
    limited = "echo 0 > /proc/sys/user/max_user_namespaces && exec setpriv --bounding-set=-all --inh-caps=-all "
    command_line = ("live", "chain.toml", "--", "true")
    done = subprocess.run(
        ["unshare", "--user", "--map-root-user", "sh", "-c", f'{limited} "$@"', *CHAPPE[:1], *CHAPPE, *command_line],
        cwd=scenario,
        env=environment(),
        capture_output=True,
        encoding="utf-8",
        timeout=PATIENCE_S,
        check=False,
    )
    # Without namespaces for the test itself, the refusals of the other tests say so.
    assert done.returncode == 1
    if not done.stderr.startswith("unshare: "):
        assert "cannot make namespaces: " in done.stderr
        assert "let root set `sysctl user.max_user_namespaces=10000`" in done.stderr


BOTH_WAYS = 'flow=[{src = 0, dst = 2, app = "external"}, {src = 2, dst = 0, app = "external"}]'
"""Flows of a connection of QUIC."""


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("chain.toml",), "there is no program"),
        (("chain.toml", "--node", "3", "true"), "--node: there is no node 3; the scenario has 3 nodes"),
        (
            ("chain.toml", "--node", "x", "true"),
            "--node: no node is named 'x'; nodes have no names here: give a number",
        ),
        (("chain.toml", "-s", MILL, "--node", "mil", "true"), "no node is named 'mil'; did you mean 'mill'?"),
        (("chain.toml", "-s", MILL, "--node", "roof", "true"), "no node is named 'roof'; names are mill"),
        (("chain.toml", "-s", "live.late_limit=soon", "--", "true"), "`live.late_limit` cannot be"),
        (("chain.toml", "-s", "live.when_late=wait", "--", "true"), "known: warn, stop"),
        (("chain.toml", "-s", "topology.hops=0", "--", "true"), "topology.hops"),
        (("chain.toml", "-s", "topology.hops=40", "--", "true"), "programs are on 1 node"),
        (("chain.toml", "-s", "quic.congestion_control=bbr", "-s", BOTH_WAYS, "--", "true"), "no library for QUIC"),
        (("none.toml", "--", "true"), "cannot read none.toml"),
    ],
)
def test_mistakes_are_told_before_anything_is_made(scenario: Path, arguments: tuple[str, ...], expected: str) -> None:
    done = command("live", *arguments, cwd=scenario)
    assert done.returncode == 2
    assert expected in done.stderr
    assert "Traceback" not in done.stderr


def test_a_program_that_is_not_there_is_named(scenario: Path) -> None:
    named = "node=[{nodes = 0, name = 'roof-17'}]"
    done = command("live", "chain.toml", "-s", named, "--", "/no/such/program", cwd=scenario)
    if is_refused(done):
        return
    assert done.returncode == 2
    assert "cannot run /no/such/program on node roof-17: No such file" in done.stderr


def test_nodes_are_called_by_their_names(live: Live, scenario: Path) -> None:
    looks = """
found = {name: sorted({f[4][0] for f in socket.getaddrinfo(name, 7)}) for name in ("mill", "node2", "Mill")}
print(found)
"""
    begins = text("open('where', 'w').write(os.environ['CHAPPE_NODE'])")
    (scenario / "begins.py").write_text(begins, encoding="utf-8")
    by_name = ("--node", "mill", f"exec {sys.executable} begins.py")
    done = live("--quiet", "-s", MILL, *by_name, on_0=text(looks))
    if is_refused(done):
        return
    addresses = ["10.0.2.1", "fd00::2:1"]
    assert done.stdout == f"{dict.fromkeys(('mill', 'node2', 'Mill'), addresses)}\n"
    assert (done.returncode, (scenario / "where").read_text(encoding="utf-8")) == (0, "2")


RULES = """
class Fixed:
    def on_ack(self, ack):
        return 3.0
    def on_congestion(self, signal):
        return 3.0

class Wrong(Fixed):
    def on_ack(self, ack):
        raise KeyError("no idea")
"""


def test_simulated_flows_have_rules_in_python(live: Live, scenario: Path) -> None:
    (scenario / "rules.py").write_text(RULES, encoding="utf-8")
    flow = ("-s", "flow=[{src = 2, dst = 0}]", "-s", "run.sample_interval=10 ms", "-s", "run.stop=2 s")
    done = live(
        "--json", *flow, "-s", "tcp.congestion_control=rules:Fixed", "--out", "out", on_0=text("time.sleep(60)")
    )
    if is_refused(done):
        return
    assert done.returncode == 0
    kept = chappe.open(scenario / "out")
    assert isinstance(kept, chappe.Results)
    windows = kept.samples.filter(kept.samples["time_s"] > 0.5)["cwnd_segments"].drop_nulls()
    assert len(windows) > 100
    assert set(windows) == {3.0}
    wrong = live("--quiet", *flow, "-s", "tcp.congestion_control=rules:Wrong", on_0=text("time.sleep(60)"))
    assert wrong.returncode == 1
    assert "on_ack of the congestion control `rules:Wrong` raised KeyError" in wrong.stderr
    missing = live("--quiet", *flow, "-s", "tcp.congestion_control=rules:Fixd", on_0=text("time.sleep(60)"))
    assert missing.returncode == 2
    assert "did you mean `Fixed`?" in missing.stderr


@pytest.mark.slow
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.name)
def test_the_commands_of_the_examples(example: Path, copies: Path) -> None:
    file = f"examples/live/{example.name}"
    commands = re.findall(r"^#   chappe (live .*)$", example.read_text(encoding="utf-8"), re.MULTILINE)
    assert commands
    # Programs in Python run with the interpreter of the tests, which has their libraries.
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    for arguments in map(shlex.split, commands):
        assert parsed(arguments).file == file
        at = arguments.index("--")
        done = command(*arguments[:at], "--quiet", *arguments[at:], cwd=copies, env=environment(PATH=path))
        if is_refused(done):
            return
        program = arguments[at + 1]
        if shutil.which(program, path=path) is None:
            assert (done.returncode, f"cannot run {program}" in done.stderr) == (2, True)
            warnings.warn(f"not tested on this machine: {done.stderr.strip()}", stacklevel=2)
        else:
            assert done.returncode == 0, (arguments, done.stderr)
            assert done.stdout


@pytest.mark.parametrize(
    ("own", "flows"),
    [
        ([{"src": 2, "dst": 0}], [(2, 0, "TCP")]),
        # A flow with a doubtful setting.
        ([{"src": 2, "dst": 0, "tcp.vegas.alpha": 2}], [(2, 0, "TCP")]),
        ([{"src": 0, "dst": 2, "app": "external"}, {"src": 1, "dst": 2}], [(0, 2, "UDP"), (1, 2, "TCP")]),
    ],
)
def test_flows_of_the_scenario_remain_beside_the_programs(own: list[dict[str, object]], flows: list[object]) -> None:
    scenario = with_endpoints(chappe.Scenario({"run.stop": "1 s", "topology.hops": 2, "flow": own}), [0, 1, 2])
    ends = {(src, dst) for _, src, dst in scenario._core.external()}
    assert ends == {(src, dst) for src in range(3) for dst in range(3) if src != dst}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rows = chappe.run(scenario).flows
    found = list(zip(rows["src"], rows["dst"], rows["transport"].str.to_uppercase(), strict=True))
    assert found[: len(flows)] == flows
    assert len(found) == 6 + sum(transport == "TCP" for *_, transport in found)
