extension ExtensionTable {
  /// The types in IANA's registry; for formats that are not registered, the most common type.
  static let builtInText = """
    text/plain txt text log conf ini
    text/html html htm
    text/css css
    text/csv csv
    text/tab-separated-values tsv
    text/markdown md markdown
    text/javascript js mjs cjs
    text/calendar ics
    text/vcard vcf
    text/x-python py
    text/x-c c h
    text/x-c++ cpp cc cxx hpp
    text/x-java java
    text/x-go go
    text/x-rust rs
    text/x-swift swift
    text/x-diff diff patch
    application/json json map
    application/ld+json jsonld
    application/geo+json geojson
    application/x-ndjson ndjson jsonl
    application/yaml yaml yml
    application/toml toml
    application/xml xml xsl xsd
    application/xhtml+xml xhtml xht
    application/rss+xml rss
    application/atom+xml atom
    application/sql sql
    application/x-sh sh bash
    application/rtf rtf
    application/pdf pdf
    application/zip zip
    application/gzip gz
    application/x-bzip2 bz2
    application/x-xz xz
    application/zstd zst
    application/x-tar tar
    application/x-7z-compressed 7z
    application/vnd.rar rar
    application/java-archive jar
    application/epub+zip epub
    application/wasm wasm
    application/vnd.sqlite3 sqlite sqlite3
    application/msword doc dot
    application/vnd.ms-excel xls
    application/vnd.ms-powerpoint ppt
    application/vnd.openxmlformats-officedocument.wordprocessingml.document docx
    application/vnd.openxmlformats-officedocument.spreadsheetml.sheet xlsx
    application/vnd.openxmlformats-officedocument.presentationml.presentation pptx
    application/vnd.oasis.opendocument.text odt
    application/vnd.oasis.opendocument.spreadsheet ods
    application/vnd.oasis.opendocument.presentation odp
    image/png png
    image/jpeg jpg jpeg
    image/gif gif
    image/webp webp
    image/avif avif
    image/heic heic
    image/heif heif
    image/bmp bmp
    image/tiff tif tiff
    image/svg+xml svg svgz
    image/vnd.microsoft.icon ico
    audio/mpeg mp3
    audio/mp4 m4a
    audio/ogg ogg oga opus
    audio/flac flac
    audio/wav wav
    video/mp4 mp4 m4v
    video/webm webm
    video/quicktime mov
    video/matroska mkv
    audio/matroska mka
    video/mp2t ts
    text/plain ts tsx
    font/ttf ttf
    font/otf otf
    font/collection ttc otc
    font/woff woff
    font/woff2 woff2
    """
}
