"""The rooms of the library: no circle, no full folder, few floors, no import that hides."""

import house

MOST_FILES = 12
MOST_FLOORS = 8


def test_no_modules_import_each_other() -> None:
    assert house.circles() == []


def test_no_rooms_import_each_other() -> None:
    # Problems are errors, and errors print plain words.
    assert house.circles_of_rooms() == [{"_common", "errors"}]


def test_no_import_hides_in_a_function() -> None:
    assert sorted(house.hidden()) == []


def test_the_facade_has_no_import_that_is_gone() -> None:
    found = {(module, i.module) for module in house.modules() for i in house.imports(module) if i.is_hidden}
    assert found >= house.FACADE


def test_a_folder_has_at_most_twelve_files() -> None:
    assert {folder: n for folder, n in house.folders().items() if n > MOST_FILES} == {}


def test_every_room_has_a_folder_of_tests() -> None:
    rooms = {path.parent.name for path in (house.PACKAGES / "chappe").glob("*/__init__.py")}
    assert rooms - {path.name for path in (house.ROOT / "tests").iterdir()} == set()


def test_there_are_at_most_eight_floors() -> None:
    assert house.floors() <= MOST_FLOORS


def test_a_circle_is_found() -> None:
    assert house._circles({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": {"a"}}) == [{"b", "c"}]
