"""Programs of Mininet-WiFi: stations with positions. They are parsed, and never executed."""

import ast

from chappe.importing.source import MisreadError, Source
from chappe.importing.survey import Survey, address


def is_this(s: Source) -> bool:
    """True for a program that names Mininet-WiFi and adds stations."""
    return "mn_wifi" in s.text and ("addStation" in s.text or "addAccessPoint" in s.text)


def read(s: Source, survey: Survey) -> None:
    """Reads stations and access points whose arguments are constants, and wires between them."""
    try:
        program = ast.parse(s.text)
    except SyntaxError as e:
        raise MisreadError(f"line {e.lineno}: it is no Python program: {e.msg}; is the file cut off?") from None
    names = {}
    for call in (n for n in ast.walk(program) if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute)):
        assert isinstance(call.func, ast.Attribute)
        s.place = f"line {call.lineno}"
        if call.func.attr in ("addStation", "addAccessPoint", "addHost", "addCar"):
            if not (call.args and isinstance(call.args[0], ast.Constant)):
                survey.lose("station whose name is no constant")
                continue
            name = str(call.args[0].value)
            given = {k.arg: k.value.value for k in call.keywords if isinstance(k.value, ast.Constant)}
            keys = [
                f"{s.file}#{name}",
                *(a for k in ("mac", "ip") if (a := address(str(given.get(k, "")).split("/")[0]))),
            ]
            node = survey.node(*keys, file=s.file, name=name)
            if position := given.get("position"):
                x, y = (float(part) for part in str(position).split(",")[:2])
                node.xy = (x, y)
            if call.func.attr == "addHost":
                node.has_radio = False
            names[name] = keys[0]
    # `sta1 = net.addStation("sta1")`: links have the variables.
    variables = {
        target.id: names.get(str(n.value.args[0].value))
        for n in ast.walk(program)
        if isinstance(n, ast.Assign) and isinstance(n.value, ast.Call) and n.value.args
        and isinstance(n.value.args[0], ast.Constant)
        for target in n.targets
        if isinstance(target, ast.Name)
    }  # fmt: skip
    for call in (n for n in ast.walk(program) if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute)):
        assert isinstance(call.func, ast.Attribute)
        ends = [variables.get(a.id) for a in call.args[:2] if isinstance(a, ast.Name)]
        is_wire = call.func.attr == "addLink" and not any(k.arg == "cls" for k in call.keywords)
        if is_wire and len(ends) == 2 and ends[0] and ends[1]:
            survey.link(ends[0], ends[1], "wire")
            survey.link(ends[1], ends[0], "wire")
    s.place = ""
    if not names:
        raise MisreadError("it adds no station whose name is a constant")
