"""A Parquet file that grows: row groups are appended, and the footer at the end lists all.

polars writes the rows of a file at once, or reads pieces and writes them again, which takes as long as the first time.
Here each piece is written once; only its footer, a structure in Thrift's compact protocol (parquet.thrift of Apache
Parquet), is read, and joined with the others.
"""

import io
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import polars as pl

MAGIC = b"PAR1"
_LEVEL = 1
"""Level of zstd: a fifth faster than the usual 3, in files larger by 4 %."""

# Types of the compact protocol: those of integers, and those of lists and sets.
_TRUE, _FALSE, _BYTE, _I16, _I64, _DOUBLE, _BINARY, _STRUCT = 1, 2, 3, 4, 6, 7, 8, 12
_INTEGERS, _LISTS = (_I16, 5, _I64), (9, 10)

Struct = dict[int, tuple[int, Any]]
"""Fields of a structure by number: type and value. A list is its type of elements and its elements."""

# Numbers of fields in parquet.thrift.
_FILE_ROWS, _FILE_GROUPS = 3, 4
_GROUP_COLUMNS, _GROUP_OFFSET, _GROUP_ORDINAL = 1, 5, 7
_COLUMN_OFFSET, _COLUMN_META = 2, 3
_COLUMN_INDEXES = (4, 5, 6, 7)
_INDEX_OFFSETS = (4, 6)
_META_OFFSETS = (9, 10, 11)


class Growing:
    """Writes tables of the same columns into one file, in constant memory.

    Attributes:
        path: Path of the file, which is complete after :meth:`close`.
    """

    def __init__(self, path: Path, metadata: Mapping[str, str]):
        """Creates an empty file.

        Args:
            path: Path of the file.
            metadata: Metadata of the file.
        """
        self.path = path
        self._metadata = dict(metadata)
        self._footer: Struct = {}
        self._end = 0
        self._write(MAGIC, "wb")

    def append(self, table: pl.DataFrame) -> None:
        """Writes the rows of a table.

        Raises:
            OSError: The file cannot be written.
        """
        buffer = io.BytesIO()
        table.write_parquet(buffer, compression_level=_LEVEL, metadata=self._metadata)
        piece = buffer.getbuffer()
        start = len(piece) - 8 - int.from_bytes(piece[-8:-4], "little")
        footer = _struct(piece[start:-8].tobytes(), 0)[0]
        groups = footer[_FILE_GROUPS][1][1]
        columns = [column for group in groups for column in group[_GROUP_COLUMNS][1][1]]
        # Page indexes follow the pages, and have offsets of their own.
        pages = min([start, *(column[i][1] for column in columns for i in _INDEX_OFFSETS if i in column)])
        by = self._end - len(MAGIC)
        for group in groups:
            _shift(group, (_GROUP_OFFSET,), by)
        for column in columns:
            for i in _COLUMN_INDEXES:
                column.pop(i, None)
            _shift(column, (_COLUMN_OFFSET,), by)
            _shift(column[_COLUMN_META][1], _META_OFFSETS, by)
        self._write(piece[len(MAGIC) : pages])
        if not self._footer:
            self._footer = footer
            return
        self._footer[_FILE_ROWS] = (_I64, self._footer[_FILE_ROWS][1] + footer[_FILE_ROWS][1])
        known = self._footer[_FILE_GROUPS][1][1]
        for group in groups:
            if _GROUP_ORDINAL in group:
                group[_GROUP_ORDINAL] = (_I16, len(known))
            known.append(group)

    def close(self) -> None:
        """Writes the footer.

        Raises:
            OSError: The file cannot be written.
        """
        footer = _struct_bytes(self._footer)
        self._write(footer + len(footer).to_bytes(4, "little") + MAGIC)

    def _write(self, data: bytes | memoryview, mode: Literal["ab", "wb"] = "ab") -> None:
        # Open for no longer than this, because a run may be cancelled.
        with self.path.open(mode, buffering=0) as file:
            rest = memoryview(data)
            try:
                while rest:
                    rest = rest[file.write(rest) :]
            except OSError as e:
                raise OSError(e.errno, os.strerror(e.errno or 0), str(self.path)) from None
        self._end += len(data)


def _shift(fields: Struct, offsets: tuple[int, ...], by: int) -> None:
    """Moves the offsets that are there; 0 means that there is none."""
    for i in offsets:
        if i in fields and fields[i][1]:
            fields[i] = (_I64, fields[i][1] + by)


def _varint(data: bytes, at: int) -> tuple[int, int]:
    number = shift = 0
    while True:
        byte = data[at]
        at += 1
        number |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return number, at


def _zigzag(data: bytes, at: int) -> tuple[int, int]:
    number, at = _varint(data, at)
    return (number >> 1) ^ -(number & 1), at


def _value(data: bytes, at: int, kind: int) -> tuple[Any, int]:
    """Reads a value of a type; the value, and the place after it."""
    if kind in _INTEGERS:
        return _zigzag(data, at)
    if kind == _BINARY:
        length, at = _varint(data, at)
        return data[at : at + length], at + length
    if kind in _LISTS:
        length, of = data[at] >> 4, data[at] & 0x0F
        at += 1
        if length == 0x0F:
            length, at = _varint(data, at)
        values = []
        for _ in range(length):
            value, at = _value(data, at, of)
            values.append(value)
        return (of, values), at
    if kind == _STRUCT:
        return _struct(data, at)
    size = {_TRUE: 1, _FALSE: 1, _BYTE: 1, _DOUBLE: 8}[kind]
    return data[at : at + size], at + size


def _struct(data: bytes, at: int) -> tuple[Struct, int]:
    fields: Struct = {}
    number = 0
    while (head := data[at]) != 0:
        at += 1
        if head >> 4:
            number += head >> 4
        else:
            number, at = _zigzag(data, at)
        kind = head & 0x0F
        value = None
        # A truth value is its type.
        if kind not in (_TRUE, _FALSE):
            value, at = _value(data, at, kind)
        fields[number] = (kind, value)
    return fields, at + 1


def _varint_bytes(number: int) -> bytes:
    out = bytearray()
    while number >= 0x80:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def _zigzag_bytes(number: int) -> bytes:
    return _varint_bytes(number << 1 if number >= 0 else (-number << 1) - 1)


def _value_bytes(kind: int, value: Any) -> bytes:
    if kind in _INTEGERS:
        return _zigzag_bytes(value)
    if kind == _BINARY:
        return _varint_bytes(len(value)) + bytes(value)
    if kind in _LISTS:
        of, values = value
        few = len(values) < 0x0F
        head = bytes([len(values) << 4 | of]) if few else bytes([0xF0 | of]) + _varint_bytes(len(values))
        return head + b"".join(_value_bytes(of, v) for v in values)
    return _struct_bytes(value) if kind == _STRUCT else bytes(value)


def _struct_bytes(fields: Struct) -> bytes:
    out, before = bytearray(), 0
    for number in sorted(fields):
        kind, value = fields[number]
        step = number - before
        out += bytes([step << 4 | kind]) if step <= 0x0F else bytes([kind]) + _zigzag_bytes(number)
        if kind not in (_TRUE, _FALSE):
            out += _value_bytes(kind, value)
        before = number
    return bytes(out) + b"\0"
