"""Writes a file of each kind into the directory that is named: small, but true to its format."""

import gzip
import io
import json
import lzma
import bz2
import pathlib
import random
import sqlite3
import struct
import sys
import tarfile
import wave
import zipfile
import zlib

place = pathlib.Path(sys.argv[1])


def put(name, content):
    (place / name).write_bytes(content if isinstance(content, bytes) else content.encode())


def chunk(kind, content):
    return struct.pack(">I", len(content)) + kind + content + struct.pack(
        ">I", zlib.crc32(kind + content))


def box(kind, *content):
    content = b"".join(content)
    return struct.pack(">I", len(content) + 8) + kind + content


def riff(kind, *chunks):
    content = kind + b"".join(
        name + struct.pack("<I", len(data)) + data + b"\0" * (len(data) % 2) for name, data in chunks)
    return b"RIFF" + struct.pack("<I", len(content)) + content


def zipped(*entries):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, content in entries:
            # The entry that names the format is stored uncompressed, as the formats require.
            method = zipfile.ZIP_STORED if name == "mimetype" else zipfile.ZIP_DEFLATED
            archive.writestr(zipfile.ZipInfo(name), content, method)
    return packed.getvalue()


def office(folder, part):
    return zipped(
        ("[Content_Types].xml", "<?xml version='1.0'?><Types/>"),
        ("_rels/.rels", "<?xml version='1.0'?><Relationships/>"),
        (f"{folder}/{part}.xml", "<?xml version='1.0'?><x/>"))


def opendocument(kind):
    return zipped(("mimetype", f"application/vnd.oasis.opendocument.{kind}"), ("content.xml", "<x/>"))


pixel = zlib.compress(b"\0\xff\0\0")
png = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0)) + chunk(
    b"IDAT", pixel) + chunk(b"IEND", b"")
svg = '<?xml version="1.0"?>\n<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"></svg>\n'
noise = random.Random(7).randbytes(4096)

# Pictures.
put("photo.png", png)
put("photo.jpg", b"\xff\xd8\xff\xe0" + struct.pack(">H", 16) + b"JFIF\0\1\1\0\0\1\0\1\0\0" + b"\xff\xd9")
put("photo.gif", b"GIF89a\1\0\1\0\x80\0\0\0\0\0\xff\xff\xff,\0\0\0\0\1\0\1\0\0\2\2D\1\0;")
put("photo.webp", riff(b"WEBP", (b"VP8L", b"\x2f\0\0\0\0\7\x10\xfd\x8f\xfe\7\x22\xa2\xff\1")))
put("photo.avif", box(b"ftyp", b"avif\0\0\0\0avifmif1miaf") + box(b"mdat", b"\0" * 32))
put("photo.heic", box(b"ftyp", b"heic\0\0\0\0mif1heic") + box(b"mdat", b"\0" * 32))
put("photo.bmp", b"BM" + struct.pack("<IHHIIiiHHIIiiII", 58, 0, 0, 54, 40, 1, 1, 1, 24, 0, 4, 0, 0, 0, 0) + b"\0" * 4)
put("photo.tif", b"II*\0\x08\0\0\0\1\0\0\1\3\0\1\0\0\0\1\0\0\0\0\0\0\0")
put("icon.ico", struct.pack("<HHHBBBBHHII", 0, 1, 1, 16, 16, 0, 0, 1, 32, len(png), 22) + png)
put("drawing.svg", svg)
put("drawing.svgz", gzip.compress(svg.encode()))

# Audio and video.
with wave.open(str(place / "sound.wav"), "wb") as sound:
    sound.setnchannels(1)
    sound.setsampwidth(2)
    sound.setframerate(8000)
    sound.writeframes(b"\0\0" * 100)
put("song.mp3", b"ID3\3\0\0\0\0\0\0" + (b"\xff\xfb\x90\x64" + b"\0" * 413) * 3)
put("song.flac", b"fLaC" + b"\x80\0\0\x22" + b"\x10\0\x10\0" + b"\0" * 6 + b"\x0a\xc4\x42\xf0" + b"\0" * 20)
put("song.ogg", b"OggS\0\2" + b"\0" * 20 + b"\1\x1e\1vorbis" + b"\0\0\0\0\1\x44\xac\0\0" + b"\0" * 14)
put("song.m4a", box(b"ftyp", b"M4A \0\0\0\0M4A mp42isom") + box(b"mdat", b"\0" * 32))
put("film.mp4", box(b"ftyp", b"isom\0\0\2\0isomiso2mp41") + box(b"mdat", b"\0" * 32))
put("film.mov", box(b"ftyp", b"qt  \0\0\2\0qt  ") + box(b"mdat", b"\0" * 32))
put("film.webm", b"\x1a\x45\xdf\xa3\x9fB\x86\x81\1B\xf7\x81\1B\xf2\x81\4B\xf3\x81\x08B\x82\x84webmB\x87\x81\2B\x85\x81\2"
    + b"\x18\x53\x80\x67\1\0\0\0\0\0\0\x10")
put("film.mkv", b"\x1a\x45\xdf\xa3\xa3B\x86\x81\1B\xf7\x81\1B\xf2\x81\4B\xf3\x81\x08B\x82\x88matroskaB\x87\x81\4B\x85\x81\2"
    + b"\x18\x53\x80\x67\1\0\0\0\0\0\0\x10")

# Documents.
put("paper.pdf", b"%PDF-1.4\n1 0 obj<</Type/Catalog>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF\n")
put("letter.docx", office("word", "document"))
put("sheet.xlsx", office("xl", "workbook"))
put("talk.pptx", office("ppt", "presentation"))
put("letter.odt", opendocument("text"))
put("sheet.ods", opendocument("spreadsheet"))
put("book.epub", zipped(("mimetype", "application/epub+zip"), ("META-INF/container.xml", "<x/>")))
put("letter.rtf", r"{\rtf1\ansi Hello.}")
# A compound file: a header, one sector of its table, and a directory with only a root.
header = (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 16 + struct.pack(
    "<HHHHHHIIIIIIIII", 0x3E, 3, 0xFFFE, 9, 6, 0, 0, 0, 1, 1, 0, 4096, 0xFFFFFFFE, 0, 0xFFFFFFFE)
    + struct.pack("<I", 0) + struct.pack("<I", 0) + struct.pack("<I", 0xFFFFFFFF) * 108)
table = struct.pack("<II", 0xFFFFFFFD, 0xFFFFFFFE) + struct.pack("<I", 0xFFFFFFFF) * 126
root = "Root Entry".encode("utf-16-le").ljust(64, b"\0") + struct.pack("<HBB", 22, 5, 1) + struct.pack(
    "<III", 0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF) + b"\0" * 36 + struct.pack("<IQ", 0xFFFFFFFE, 0)
put("old.doc", header[:512] + table + root + b"\0" * 384)
put("old.xls", header[:512] + table + root + b"\0" * 384)

# Archives.
put("pack.zip", zipped(("a.txt", "text")))
put("program.jar", zipped(("META-INF/MANIFEST.MF", "Manifest-Version: 1.0\r\n\r\n"), ("A.class", b"\xca\xfe\xba\xbe")))
put("pack.gz", gzip.compress(b"text" * 100))
put("pack.bz2", bz2.compress(b"text" * 100))
put("pack.xz", lzma.compress(b"text" * 100))
put("pack.zst", b"\x28\xb5\x2f\xfd\x04\x00\x21\x00\x00text" + b"\0" * 4)
put("pack.7z", b"7z\xbc\xaf\x27\x1c\0\4" + b"\0" * 24)
with tarfile.open(place / "pack.tar", "w") as archive:
    archive.add(place / "photo.png", "photo.png")

# Programs and data.
put("program", pathlib.Path("/bin/true").read_bytes())
put("module.wasm", b"\0asm\1\0\0\0")
with sqlite3.connect(place / "data.sqlite") as database:
    database.execute("create table a (b)")
database.close()
put("letters.ttf", b"\0\1\0\0\0\x0a\0\x80\0\3\0\x20" + b"OS/2" + b"\0" * 300)
put("letters.otf", b"OTTO\0\x0a\0\x80\0\3\0\x20" + b"CFF " + b"\0" * 300)
put("letters.woff", b"wOFF\0\1\0\0" + b"\0" * 60)
put("letters.woff2", b"wOF2\0\1\0\0" + b"\0" * 60)

# Text in a language.
put("page.html", "<!DOCTYPE html>\n<html><head><title>A page</title></head><body></body></html>\n")
put("page.xhtml", '<?xml version="1.0"?>\n<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN" "x">\n<html xmlns="http://www.w3.org/1999/xhtml"></html>\n')
put("style.css", "body { color: #123456; }\n/* all */\n")
put("script.js", "export function add(one, other) {\n  return one + other;\n}\n")
put("script.mjs", "import { add } from './script.js';\nadd(1, 2);\n")
put("script.ts", "export const add = (one: number, other: number): number => one + other;\n")
put("table.csv", "name,age\nAda,36\nAlan,41\n")
put("table.tsv", "name\tage\nAda\t36\nAlan\t41\n")
put("data.json", json.dumps({"a": [1, 2, {"b": None}]}))
put("data.ndjson", '{"a":1}\n{"a":2}\n')
put("data.yaml", "a:\n  - 1\n  - 2\n")
put("data.toml", '[a]\nb = "c"\n')
put("data.xml", '<?xml version="1.0"?>\n<a><b/></a>\n')
put("note.md", "# A note\n\n#include <stdio.h> is C.\n")
put("event.ics", "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nEND:VCALENDAR\r\n")
put("person.vcf", "BEGIN:VCARD\r\nVERSION:3.0\r\nFN:A. Person\r\nEND:VCARD\r\n")
put("program.py", "#!/usr/bin/env python3\nimport sys\n\n\ndef main():\n    sys.exit(0)\n")
put("program.sh", "#!/bin/sh\nset -e\necho hello\n")
put("program.c", "#include <stdio.h>\n\nint main(void) {\n  return 0;\n}\n")

# Plain text, and bytes of no format.
put("plain.txt", "Just some words.\n")
put("utf-8.txt", "Größe: 1 µm\n")
put("utf-16.txt", "Größe\r\n".encode("utf-16"))
put("latin-1.txt", "Größe: groß\n".encode("latin-1"))
put("words", "Just some words.\n")
put("empty", b"")
put("empty.txt", b"")
put("one-byte", b"a")
put("one-zero", b"\0")
put("noise", noise)
put("noise.bin", noise)
