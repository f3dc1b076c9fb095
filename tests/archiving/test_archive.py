"""`chappe archive`: equal folders give equal bytes, `check` finds every change, `run` and `sweep` repeat results."""

import hashlib
import json
import shutil
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from chappe import cli

Archive = dict[str, bytes]


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folders `run` and `study`, and the archives of both."""
    place = tmp_path_factory.mktemp("archives")
    file = place / "a.toml"
    file.write_text('run.stop = "1 s"\ntopology.hops = 2\n', "utf-8")
    assert cli.main(["run", str(file), "--out", str(place / "run"), "-q"]) == 0
    axes = ["--axis", "tcp.variant=newreno,vegas", "--axis", "topology.hops=1,2", "--seeds", "2"]
    assert cli.main(["sweep", str(file), *axes, "--out", str(place / "study"), "-q"]) == 0
    (place / "study" / "figure.svg").write_text("<svg/>", "utf-8")
    for name in ("run", "study"):
        assert cli.main(["archive", str(place / name), "-o", str(place / f"{name}.zip"), "-q"]) == 0
    return place


def files_in(path: Path) -> Archive:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def zipped(files: Archive, path: Path) -> str:
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return str(path)


def summed(files: Archive) -> Archive:
    """The files with right checksums, as one who changes an archive could make them."""
    rest = {n: data for n, data in files.items() if n != "manifest-sha256.txt"}
    lines = [f"{hashlib.sha256(data).hexdigest()}  {n}\n" for n, data in sorted(rest.items())]
    return {**rest, "manifest-sha256.txt": "".join(lines).encode()}


@pytest.mark.parametrize("name", ["run", "study"])
def test_an_archive_has_everything(name: str, folders: Path) -> None:
    files = files_in(folders / f"{name}.zip")
    for path in (folders / name).rglob("*"):
        if path.is_file():
            assert files[f"results/{path.relative_to(folders / name).as_posix()}"] == path.read_bytes()
    graph = {e["@id"]: e for e in json.loads(files["ro-crate-metadata.json"])["@graph"]}
    assert graph["ro-crate-metadata.json"]["conformsTo"] == {"@id": "https://w3id.org/ro/crate/1.1"}
    described = files.keys() - {"ro-crate-metadata.json", "manifest-sha256.txt"}
    assert {part["@id"] for part in graph["./"]["hasPart"]} == described
    for n in described:
        assert graph[n]["sha256"] == hashlib.sha256(files[n]).hexdigest()
    assert b"@misc{chappe," in files["references.bib"]
    assert b"chappe==" in files["requirements.txt"]
    assert summed(files) == files


@pytest.mark.parametrize("name", ["run", "study"])
def test_equal_folders_give_equal_bytes(name: str, folders: Path, tmp_path: Path) -> None:
    shutil.copytree(folders / name, tmp_path / name)
    assert cli.main(["archive", str(tmp_path / name), "-o", str(tmp_path / f"{name}.zip"), "-q"]) == 0
    assert (tmp_path / f"{name}.zip").read_bytes() == (folders / f"{name}.zip").read_bytes()


@pytest.mark.parametrize(("name", "command", "compared"), [("run", "run", 14), ("study", "sweep", 4)])
def test_an_archive_is_repeated_in_another_folder(
    name: str,
    command: str,
    compared: int,
    folders: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert cli.main([command, str(folders / f"{name}.zip"), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["files"], found["different"]) == (compared, [])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "command", "changed"),
    [("run", "run", "flows.parquet"), ("study", "sweep", "runs.parquet")],
)
def test_other_results_are_told(
    name: str, command: str, changed: str, folders: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = files_in(folders / f"{name}.zip")
    other = zipped(summed({**files, f"results/{changed}": b"other"}), tmp_path / "other.zip")
    assert cli.main(["check", other]) == 0
    assert cli.main([command, other]) == 1
    assert f"other bytes: {changed}" in capsys.readouterr().out


def without(*names: str) -> Callable[[Archive], Archive]:
    return lambda files: {n: data for n, data in files.items() if n not in names}


def of_other_epoch(files: Archive) -> Archive:
    about = json.loads(files["versions.json"])
    return summed({**files, "versions.json": json.dumps({**about, "results_epoch": 999}).encode()})


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda files: {**files, "README.md": b"x"}, ["README.md has changed"]),
        (without("README.md", "results/run.json"), ["README.md is missing", "results/run.json is missing"]),
        (lambda files: {**files, "new.txt": b""}, ["new.txt has no checksum"]),
        (without("manifest-sha256.txt"), ["manifest-sha256.txt is missing"]),
        (lambda files: summed(without("versions.json")(files)), ["versions.json is missing"]),
        (lambda files: {**files, "../a": b""}, ["../a lies outside of the archive"]),
        (of_other_epoch, ["its results have epoch 999"]),
    ],
)
def test_every_problem_is_told_at_once(
    change: Callable[[Archive], Archive],
    told: list[str],
    folders: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    bad = zipped(change(files_in(folders / "run.zip")), tmp_path / "bad.zip")
    for command in ("check", "run"):
        assert cli.main([command, bad]) == 2
        message = capsys.readouterr().err
        assert all(text in message for text in told)


def test_archives_of_the_other_command_and_options_are_refused(
    folders: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["sweep", str(folders / "run.zip")]) == 2
    assert "use that command" in capsys.readouterr().err
    assert cli.main(["run", str(folders / "run.zip"), "--seed", "2", "-s", "tcp.variant=vegas"]) == 2
    assert "without --set, --seed" in capsys.readouterr().err


def test_what_cannot_be_packed_is_refused(
    folders: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out = str(tmp_path / "out.zip")
    assert cli.main(["archive", str(tmp_path), "-o", out]) == 2
    assert "neither results nor a study" in capsys.readouterr().err
    (tmp_path / "mine.zip").write_text("mine", "utf-8")
    assert cli.main(["archive", str(folders / "run"), "-o", str(tmp_path / "mine.zip")]) == 2
    assert "is there, and is not an archive that Chappe wrote" in capsys.readouterr().err
    monkeypatch.setitem(sys.modules, "rocrate.rocrate", None)
    monkeypatch.setitem(sys.modules, "rocrate.model", None)
    assert cli.main(["archive", str(folders / "run"), "-o", out]) == 2
    assert 'pip install "chappe[archive]"' in capsys.readouterr().err
    assert not Path(out).exists()


def test_studies_with_cases_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.toml").write_text('run.stop = "1 s"\ntopology.hops = 2\n', "utf-8")
    (tmp_path / "s.toml").write_text('scenario = "a.toml"\n[cases.one]\n"tcp.variant" = "vegas"\n', "utf-8")
    assert cli.main(["sweep", str(tmp_path / "s.toml"), "--out", str(tmp_path / "s"), "-q"]) == 0
    assert cli.main(["archive", str(tmp_path / "s"), "-o", str(tmp_path / "s.zip")]) == 2
    assert "study with cases" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["check", "run"])
def test_an_archive_that_is_cut_off_is_told(
    command: str, folders: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "cut.zip").write_bytes((folders / "run.zip").read_bytes()[:5000])
    assert cli.main([command, str(tmp_path / "cut.zip")]) == 2
    assert "cut.zip" in (said := capsys.readouterr().err)
    assert "it cannot be read: File is not a zip file" in said
