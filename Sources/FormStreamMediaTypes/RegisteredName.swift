import FormStreamMultipart

extension MediaType {
  /// The type with its name in IANA's registry, if libmagic uses another name: an obsolete name, or
  /// a name from before the format was registered. Receivers know the registered names.
  var withRegisteredName: MediaType {
    guard let name = registeredNames[essence] else { return self }
    return MediaType(name + description.dropFirst(essence.utf8.count)) ?? self
  }
}

/// The registered names of formats that some version of libmagic names differently.
private let registeredNames = [
  // RFC 9239 §6: "application/javascript", "application/x-javascript" are obsolete aliases.
  "application/javascript": "text/javascript",
  "application/x-javascript": "text/javascript",
  // RFC 8081 §4.
  "application/font-sfnt": "font/sfnt",
  "application/font-woff": "font/woff",
  "application/vnd.ms-opentype": "font/otf",
  "application/x-font-otf": "font/otf",
  "application/x-font-ttf": "font/ttf",
  "application/x-font-woff": "font/woff",
  // RFC 6713, RFC 8878, and the vendor tree.
  "application/x-gzip": "application/gzip",
  "application/x-rar": "application/vnd.rar",
  "application/x-sqlite3": "application/vnd.sqlite3",
  "application/x-zip-compressed": "application/zip",
  "application/x-zstd": "application/zstd",
  // Both are registered; one format gets one name.
  "text/rtf": "application/rtf",
  // RFC 9639, RFC 4337, RFC 9559. No type for WAVE that is in use is registered: RFC 2361 mentions
  // audio/vnd.wave, but browsers send audio/wav.
  "audio/x-flac": "audio/flac",
  "audio/x-m4a": "audio/mp4",
  "audio/x-matroska": "audio/matroska",
  "audio/x-wav": "audio/wav",
  "image/x-icon": "image/vnd.microsoft.icon",
  "image/x-ms-bmp": "image/bmp",
  "video/x-m4v": "video/mp4",
  "video/x-matroska": "video/matroska",
  // RFC 6350 §10.1 and RFC 5545 §8.1.
  "text/x-vcard": "text/vcard",
  "text/x-vcalendar": "text/calendar",
]
