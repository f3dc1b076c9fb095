"""CONTRIBUTING's recipes for parts of the simulator: their lines stand in the tree, and they are all that a part needs.

The second is tried: a copy of the tree gets one more part by each recipe, the blocks of code with another name.
"""

import re
import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest
from command import REPOSITORY, environment

COMPILING_S = 1200
"""Only a compiler that hangs takes so long on a busy machine."""

SCENARIO = 'run.stop = "1 s"\ntopology.hops = 2\n'


class Recipe(NamedTuple):
    """A recipe whose steps have blocks of Rust.

    Attributes:
        title: The heading.
        name: The part: the stem of the file that the first step adds.
        setting: The setting that chooses the part.
        lines: Lines that the steps add, in order, each with the file in which they stand.
    """

    title: str
    name: str
    setting: str
    lines: list[tuple[Path, str]]

    def renamed(self, text: str) -> str:
        """The text for a part of another name."""
        return text.replace(self.name, f"other_{self.name}").replace(camel(self.name), f"Other{camel(self.name)}")


def camel(name: str) -> str:
    return "".join(word.capitalize() for word in name.split("_"))


def pieces(block: str, files: list[Path]) -> list[tuple[Path, str]]:
    """The lines of a block with the file that has them.

    A comment `// in ...` parts what stands at different places; so do lines that are not in one file together.
    """
    found = []
    for part in filter(None, re.split(r"^// in .*\n", block, flags=re.MULTILINE)):
        together = any(part in (REPOSITORY / f).read_text(encoding="utf-8") for f in files)
        for lines in [part] if together else part.splitlines(keepends=True):
            there = [f for f in files if lines in (REPOSITORY / f).read_text(encoding="utf-8")]
            assert there, (files, lines)
            found.append((there[0], lines))
    return found


def recipes() -> list[Recipe]:
    page = (REPOSITORY / "CONTRIBUTING.md").read_text(encoding="utf-8")
    found = []
    for section in re.split(r"^## ", page, flags=re.MULTILINE)[1:]:
        title = section.partition("\n")[0]
        steps = [
            step.partition("```rust\n")
            for step in re.split(r"^\*\*\d\. ", section, flags=re.MULTILINE)[1:]
            if "```rust\n" in step
        ]
        if steps:
            chosen = re.search(r"`--set ([\w.]+)=(\w+)`", section)
            assert chosen is not None, title
            lines = []
            for said, _, rest in steps:
                named = [Path(f) for f in re.findall(r"`(crates/[\w/]+\.rs)`", said)]
                lines += pieces(rest.partition("```")[0], named)
            assert lines[0][0].stem == chosen[2], title
            found.append(Recipe(title, chosen[2], chosen[1], lines))
    return found


def apply(recipe: Recipe, tree: Path) -> None:
    """Adds one more part: each piece, with the other name, behind the piece that stands there."""
    own = recipe.lines[0][0]
    added = tree / own.with_stem(recipe.renamed(own.stem))
    added.write_text("\n".join(recipe.renamed(lines) for file, lines in recipe.lines if file == own), "utf-8")
    for file, lines in recipe.lines:
        if file != own and (others := recipe.renamed(lines)) != lines:
            text = (tree / file).read_text(encoding="utf-8")
            assert text.count(lines) == 1, (file, lines)
            (tree / file).write_text(text.replace(lines, lines + others), encoding="utf-8")


def test_recipes_say_what_the_tree_has() -> None:
    found = recipes()
    assert {r.setting for r in found} >= {"tcp.variant", "queue.discipline"}
    for recipe in found:
        assert len(recipe.lines) >= 4, recipe.title


@pytest.mark.slow
def test_a_part_needs_what_its_recipe_says(tmp_path: Path) -> None:
    shutil.copytree(REPOSITORY / "crates", tmp_path / "crates", copy_function=shutil.copy)
    for name in ("Cargo.toml", "Cargo.lock"):
        shutil.copy(REPOSITORY / name, tmp_path)
    for recipe in recipes():
        apply(recipe, tmp_path)
    # The program does without what tests need; Cargo leaves that out of the lock file, which `--locked` would refuse.
    manifest = tmp_path / "crates/core/Cargo.toml"
    text, of_tests, others = re.split(r"(?m)^(?=\[dev-dependencies\]|\[lints\])", manifest.read_text(encoding="utf-8"))
    assert "proptest" in of_tests
    manifest.write_text(text + others, encoding="utf-8")
    # Not optimized, and with what it depends on kept from run to run.
    compiled = REPOSITORY / "target/recipes"
    quickly = environment(CARGO_PROFILE_RELEASE_OPT_LEVEL="0", CARGO_PROFILE_RELEASE_CODEGEN_UNITS="16")
    how = ["--quiet", "--release", "--offline", "--target-dir", str(compiled)]
    subprocess.run(
        ["cargo", "build", *how, "--package", "chappe-scenario", "--example", "run"],
        cwd=tmp_path,
        env=quickly | {"RUSTFLAGS": "-D warnings"},
        timeout=COMPILING_S,
        check=True,
    )
    scenario = tmp_path / "two-hops.toml"
    scenario.write_text(SCENARIO, encoding="utf-8")

    def run(setting: str) -> "subprocess.CompletedProcess[str]":
        program = compiled / "release/examples/run"
        return subprocess.run([program, scenario, setting], capture_output=True, text=True, check=False)

    for recipe in recipes():
        done = run(f"{recipe.setting}={recipe.renamed(recipe.name)}")
        assert done.returncode == 0, (recipe.title, done.stderr)
        refused = run(f"{recipe.setting}=further_{recipe.name}")
        assert refused.returncode == 2
        assert recipe.renamed(recipe.name) in refused.stderr
