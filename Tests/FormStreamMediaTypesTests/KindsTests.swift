import FormStreamMediaTypes
import FormStreamMultipart
import FormStreamTestSupport
import Testing

/// Real kinds of files, and their types by each policy. The types for `auto` were written from
/// IANA's registry, before running it. For the few formats that are not registered (ELF,
/// TypeScript, and types with `x-`) they are the common name, or libmagic's.
@Suite struct KindsTests {
  private static let kinds: [(name: String, auto: String, content: String, extension: String)] = [
    ("photo.png", "image/png", "image/png", "image/png"),
    ("photo.jpg", "image/jpeg", "image/jpeg", "image/jpeg"),
    ("photo.gif", "image/gif", "image/gif", "image/gif"),
    ("photo.webp", "image/webp", "image/webp", "image/webp"),
    ("photo.avif", "image/avif", "image/avif", "image/avif"),
    ("photo.heic", "image/heic", "image/heic", "image/heic"),
    ("photo.bmp", "image/bmp", "image/bmp", "image/bmp"),
    ("photo.tif", "image/tiff", "image/tiff", "image/tiff"),
    (
      "icon.ico", "image/vnd.microsoft.icon", "image/vnd.microsoft.icon", "image/vnd.microsoft.icon"
    ),
    ("drawing.svg", "image/svg+xml", "image/svg+xml", "image/svg+xml"),
    ("drawing.svgz", "image/svg+xml", "application/gzip", "image/svg+xml"),
    // RFC 2361 mentions audio/vnd.wave; in use is this.
    ("sound.wav", "audio/wav", "audio/wav", "audio/wav"),
    ("song.mp3", "audio/mpeg", "audio/mpeg", "audio/mpeg"),
    ("song.flac", "audio/flac", "audio/flac", "audio/flac"),
    ("song.ogg", "audio/ogg", "audio/ogg", "audio/ogg"),
    ("song.m4a", "audio/mp4", "audio/mp4", "audio/mp4"),
    ("film.mp4", "video/mp4", "video/mp4", "video/mp4"),
    ("film.mov", "video/quicktime", "video/quicktime", "video/quicktime"),
    ("film.webm", "video/webm", "video/webm", "video/webm"),
    ("film.mkv", "video/matroska", "video/matroska", "video/matroska"),
    ("paper.pdf", "application/pdf", "application/pdf", "application/pdf"),
    ("letter.docx", docx, docx, docx), ("sheet.xlsx", xlsx, xlsx, xlsx),
    ("talk.pptx", pptx, pptx, pptx),
    ("letter.odt", odt, odt, odt), ("sheet.ods", ods, ods, ods),
    ("book.epub", "application/epub+zip", "application/epub+zip", "application/epub+zip"),
    ("letter.rtf", "application/rtf", "application/rtf", "application/rtf"),
    ("old.doc", "application/msword", "application/x-ole-storage", "application/msword"),
    (
      "old.xls", "application/vnd.ms-excel", "application/x-ole-storage", "application/vnd.ms-excel"
    ),
    ("pack.zip", "application/zip", "application/zip", "application/zip"),
    ("program.jar", "application/java-archive", "application/zip", "application/java-archive"),
    ("pack.gz", "application/gzip", "application/gzip", "application/gzip"),
    ("pack.bz2", "application/x-bzip2", "application/x-bzip2", "application/x-bzip2"),
    ("pack.xz", "application/x-xz", "application/x-xz", "application/x-xz"),
    ("pack.zst", "application/zstd", "application/zstd", "application/zstd"),
    (
      "pack.7z", "application/x-7z-compressed", "application/x-7z-compressed",
      "application/x-7z-compressed"
    ),
    ("pack.tar", "application/x-tar", "application/x-tar", "application/x-tar"),
    // No type is registered for ELF.
    ("program", "application/x-sharedlib", "application/x-sharedlib", "application/octet-stream"),
    ("module.wasm", "application/wasm", "application/wasm", "application/wasm"),
    (
      "data.sqlite", "application/vnd.sqlite3", "application/vnd.sqlite3", "application/vnd.sqlite3"
    ),
    // RFC 8081: font/sfnt is the container of both TrueType and OpenType.
    ("letters.ttf", "font/ttf", "font/sfnt", "font/ttf"),
    ("letters.otf", "font/otf", "font/otf", "font/otf"),
    ("letters.woff", "font/woff", "font/woff", "font/woff"),
    ("letters.woff2", "font/woff2", "font/woff2", "font/woff2"),
    ("page.html", "text/html", "text/html", "text/html"),
    ("page.xhtml", "application/xhtml+xml", "text/xml", "application/xhtml+xml"),
    ("style.css", "text/css", "text/plain", "text/css"),
    ("script.js", "text/javascript", "text/javascript", "text/javascript"),
    ("script.mjs", "text/javascript", "text/javascript", "text/javascript"),
    // No type is registered for TypeScript, and its extension is also that of a video.
    ("script.ts", "text/plain", "text/javascript", "video/mp2t"),
    ("table.csv", "text/csv", "text/csv", "text/csv"),
    ("table.tsv", "text/tab-separated-values", "text/plain", "text/tab-separated-values"),
    ("data.json", "application/json", "application/json", "application/json"),
    ("data.ndjson", "application/x-ndjson", "application/x-ndjson", "application/x-ndjson"),
    ("data.yaml", "application/yaml", "text/plain", "application/yaml"),
    ("data.toml", "application/toml", "text/plain", "application/toml"),
    ("data.xml", "application/xml", "text/xml", "application/xml"),
    ("note.md", "text/markdown", "text/x-c", "text/markdown"),
    ("event.ics", "text/calendar", "text/calendar", "text/calendar"),
    ("person.vcf", "text/vcard", "text/vcard", "text/vcard"),
    ("program.py", "text/x-python", "text/x-script.python", "text/x-python"),
    ("program.sh", "application/x-sh", "text/x-shellscript", "application/x-sh"),
    ("program.c", "text/x-c", "text/x-c", "text/x-c"),
    ("plain.txt", "text/plain", "text/plain", "text/plain"),
    ("utf-8.txt", "text/plain", "text/plain", "text/plain"),
    ("utf-16.txt", "text/plain", "text/plain", "text/plain"),
    ("latin-1.txt", "text/plain", "text/plain", "text/plain"),
    ("words", "text/plain", "text/plain", "application/octet-stream"),
    ("empty", "application/octet-stream", "application/octet-stream", "application/octet-stream"),
    ("empty.txt", "text/plain", "application/octet-stream", "text/plain"),
    (
      "one-byte", "application/octet-stream", "application/octet-stream", "application/octet-stream"
    ),
    (
      "one-zero", "application/octet-stream", "application/octet-stream", "application/octet-stream"
    ),
    ("noise", "application/octet-stream", "application/octet-stream", "application/octet-stream"),
    (
      "noise.bin", "application/octet-stream", "application/octet-stream",
      "application/octet-stream"
    ),
  ]

  /// The types by content that libmagic names since version 5.46 in another way.
  private static let newer = ["page.xhtml": "application/xhtml+xml", "table.csv": "text/plain"]

  private static let office = "application/vnd.openxmlformats-officedocument."
  private static let docx = office + "wordprocessingml.document"
  private static let xlsx = office + "spreadsheetml.sheet"
  private static let pptx = office + "presentationml.presentation"
  private static let odt = "application/vnd.oasis.opendocument.text"
  private static let ods = "application/vnd.oasis.opendocument.spreadsheet"

  @Test func `each kind of file gets the right type from each policy`() async throws {
    let place = try TemporaryDirectory()
    let script = "\(#filePath)".replacing("KindsTests.swift", with: "make-kinds.py")
    let made = try run(program: "/usr/bin/env", ["python3", script, place.path])
    #expect(made.exit == 0, "\(made.stderr)")
    let there = try run(program: "/bin/ls", [place.path]).output.split(separator: "\n")
    #expect(Set(there.map(String.init)) == Set(Self.kinds.map(\.name)))
    #expect(Self.kinds.count >= 60)
    let version = try run(program: "/usr/bin/env", ["file", "--version"]).output.prefix { $0 != "\n" }
    let isNewer = Double(version.drop { $0 != "-" }.dropFirst()).map { $0 >= 5.46 } ?? false
    let byContent = Self.kinds.map { (isNewer ? Self.newer[$0.name] : nil) ?? $0.content }

    for (policy, expected) in [
      (SniffingPolicy.auto, Self.kinds.map(\.auto)), (.content, byContent),
      (.extension, Self.kinds.map(\.extension)),
      (.none, Self.kinds.map { _ in "application/octet-stream" }),
    ] {
      let sniffer = MediaTypeSniffer(policy: policy, extensions: .builtIn)
      #expect(sniffer.warning == nil)
      for (kind, expected) in zip(Self.kinds, expected) {
        let detected = try sniffer.type(of: place.local(kind.name))
        #expect(detected.type.description == expected, "\(kind.name) by \(policy)")
        #expect(!detected.type.description.hasPrefix("inode/"))
      }
    }
  }
}
