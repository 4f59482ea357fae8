"""Zip archives that nobody has to trust: their members are counted and measured before any is unpacked.

Source: APPNOTE.TXT 6.3.10, 4.3.14 to 4.3.16 (the records at the end). An archive may stand behind another file, as
CHARX does behind a JPEG. Nothing is ever written to a disk.
"""

from __future__ import annotations

import io
import re
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from service.lore.errors import TooLarge, UnreadableFile

START = b"PK\x03\x04"
MAX_MEMBERS = 10_000
MAX_DIRECTORY = 4_000_000
"""Bytes of the list of members; 10,000 long names fit."""
_END = b"PK\x05\x06"
_LOCATOR_64 = b"PK\x06\x07"
_LONGEST_COMMENT = 0xFFFF
_UNSAFE = re.compile(r"^[/\\]|^[A-Za-z]:|(^|[/\\])\.\.([/\\]|$)")


@dataclass(frozen=True)
class Archive:
    """An open archive."""

    zip: zipfile.ZipFile

    def find(self, name: str) -> str | None:
        """The member of this name; without one, the least deep of those called so in any folder and any case."""
        names = [each for each in self.zip.namelist() if not each.endswith("/")]
        if name in names:
            return name
        called = [each for each in names if re.split(r"[/\\]", each)[-1].lower() == name]
        return min(called, key=lambda each: each.count("/"), default=None)

    def read(self, name: str, limit: int) -> bytes:
        """A member, unpacked. Raises `UnreadableFile` (fault `bad_zip` or `encrypted`), `TooLarge` beyond `limit`."""
        shown = repr(name[:80])
        try:
            member = self.zip.getinfo(name)
        except KeyError:
            raise _bad(f"the archive has no member {shown}") from None
        if member.flag_bits & 1:
            remedy = "Unpack it with its password, and import what is in it."
            raise UnreadableFile(f"{shown} is encrypted", fault="encrypted", remedy=remedy)
        if member.file_size > limit:
            raise TooLarge(
                f"{shown} unpacks to {member.file_size:,} bytes, and {limit:,} is the limit",
                limit=limit,
                actual=member.file_size,
                remedy="Raise WORLDBOOK_MAX_IMPORT_BYTES and WORLDBOOK_MAX_UNPACKED_BYTES if you trust the file.",
            )
        if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise _bad(f"{shown} is compressed in another way than deflate")
        with _plainly(), self.zip.open(member) as opened:
            return opened.read(member.file_size)  # without a size it would unpack whatever a liar packed

    def with_member(self, file: bytes, name: str, data: bytes, limit: int) -> bytes:
        """`file`, the bytes of this archive, with other `data` in one member; what stands before the archive stays.

        Raises as `read` does, and `TooLarge` when all members together unpack to more than `limit`.
        """
        members = {member.filename: member for member in self.zip.infolist()}.values()  # the last of one name counts
        if (size := sum(member.file_size for member in members)) > limit:
            remedy = "Raise WORLDBOOK_MAX_UNPACKED_BYTES if you trust the file."
            raise TooLarge(f"the archive unpacks to {size:,} bytes", limit=limit, actual=size, remedy=remedy)
        before = file[: min(member.header_offset for member in members)]
        made = io.BytesIO(before)
        with zipfile.ZipFile(made, "a" if before else "w") as copy:
            copy.comment = self.zip.comment
            for member in members:
                content = data if member.filename == name else self._whole(member)
                copy.writestr(_described(member), content, member.compress_type)
        return made.getvalue()

    def _whole(self, member: zipfile.ZipInfo) -> bytes:
        return b"" if member.is_dir() else self.read(member.filename, member.file_size)


def is_zip(file: bytes) -> bool:
    """Whether the file ends as an archive does."""
    return _end(file) >= 0


def archive(file: bytes) -> Archive:
    """The archive in a file.

    Raises `UnreadableFile` (fault `bad_zip` or `unsafe_path`), and `TooLarge` for too many members before they are
    listed.
    """
    _check_size(file)
    with _plainly():
        opened = zipfile.ZipFile(io.BytesIO(file))
    names = opened.namelist()
    if len(names) > MAX_MEMBERS:
        raise _too_many(len(names))
    unsafe = next((name for name in names if _UNSAFE.search(name)), None)
    if unsafe is not None:
        raise UnreadableFile(
            f"the archive has a member that would leave its folder: {unsafe[:80]!r}",
            fault="unsafe_path",
            remedy="No card has such a member: get the file from another source.",
        )
    return Archive(opened)


def _end(file: bytes) -> int:
    return file.rfind(_END, max(0, len(file) - _LONGEST_COMMENT - 22), max(0, len(file) - 18))


def _check_size(file: bytes) -> None:
    """What the record at the end says of the list of members, before it is read."""
    end = _end(file)
    if end < 0:
        raise _bad("the archive is cut off")
    count, size = struct.unpack_from("<HL", file, end + 10)
    if count > MAX_MEMBERS:
        raise _too_many(count)
    if size > MAX_DIRECTORY:
        raise TooLarge("the list of members is too long", limit=MAX_DIRECTORY, actual=size, remedy="Remove some.")
    if file[max(0, end - 20) : max(0, end - 16)] == _LOCATOR_64:  # would overrule both numbers
        raise _bad("the archive is of the kind for more than 4 GB")


def _described(member: zipfile.ZipInfo) -> zipfile.ZipInfo:
    """Name, date and rights of a member, without where it stands and how large it is."""
    found = zipfile.ZipInfo(member.filename, member.date_time)
    found.compress_type, found.comment = member.compress_type, member.comment
    found.create_system, found.external_attr = member.create_system, member.external_attr
    return found


@contextmanager
def _plainly() -> Iterator[None]:
    """What the standard library raises for damaged archives, as a domain error."""
    try:
        yield
    except (zipfile.BadZipFile, zlib.error, struct.error, EOFError, OSError, RuntimeError, ValueError) as error:
        raise _bad(f"the archive is damaged: {error}") from None


def _too_many(count: int) -> TooLarge:
    return TooLarge(
        f"{count:,} members in one archive, and {MAX_MEMBERS:,} is the limit",
        limit=MAX_MEMBERS,
        actual=count,
        remedy="A card needs few: remove those that are not its own.",
    )


def _bad(detail: str) -> UnreadableFile:
    return UnreadableFile(detail, fault="bad_zip", remedy="Download it again, or import the JSON that is in it.")
