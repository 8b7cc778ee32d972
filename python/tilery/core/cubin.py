"""What a GPU's machine code says of itself."""

from __future__ import annotations

import struct


def registers(cubin: bytes) -> dict[str, int]:
    """{kernel: registers of a thread}; nothing of what is no machine code yet. Each kernel has an ELF section of its own, and
    the upper eight bits of its sh_info are their number."""
    if cubin[:4] != b"\x7fELF":
        return {}
    (start,) = struct.unpack_from("<Q", cubin, 40)
    _, count, names_at = struct.unpack_from("<HHH", cubin, 58)
    headers = [struct.unpack_from("<IIQQQQIIQQ", cubin, start + i * 64) for i in range(count)]
    names = headers[names_at][4]
    found = {}
    for header in headers:
        name = cubin[names + header[0] : cubin.index(b"\0", names + header[0])].decode(errors="replace")
        if name.startswith(".text."):
            found[name.removeprefix(".text.")] = header[7] >> 24
    return found
