/// One part of a form: a name, what stands in its headers, and where its bytes come from.
public struct Part: Sendable {
  /// The field's name.
  public var name: String
  /// The file name; a part that has one is a file to its receiver.
  public var filename: String?
  /// The media type. Where nil, a part with a file name has its type guessed when the form is laid
  /// out (`application/octet-stream` where no guess is made), and a part without one bears none.
  public var type: MediaType?
  /// Headers beside the derived ones.
  public var headers: PartHeaders
  /// Where the bytes come from.
  public var body: PartBody

  /// Makes a part of any kind. Names are checked when the form is laid out: the escaping profile
  /// decides what can be written.
  public init(
    name: String, filename: String? = nil, type: MediaType? = nil,
    headers: PartHeaders = PartHeaders(), body: PartBody
  ) {
    self.name = name
    self.filename = filename
    self.type = type
    self.headers = headers
    self.body = body
  }

  /// A text field.
  public static func text(_ name: String, _ text: String, type: MediaType? = nil) -> Part {
    Part(name: name, type: type, body: .text(text))
  }

  /// A file, called by its own name unless `filename` says otherwise.
  public static func file(
    _ name: String, _ path: LocalPath, filename: String? = nil, type: MediaType? = nil,
    range: FileRange? = nil, provenance: FileProvenance = .named
  ) -> Part {
    Part(
      name: name, filename: filename ?? path.lastComponent, type: type,
      body: .file(path, range: range, provenance: provenance))
  }

  /// A file whose path is in a string; see ``file(_:_:filename:type:range:provenance:)``.
  public static func file(
    _ name: String, path: String, filename: String? = nil, type: MediaType? = nil,
    range: FileRange? = nil, provenance: FileProvenance = .named
  ) -> Part {
    .file(
      name, LocalPath(path), filename: filename, type: type, range: range, provenance: provenance)
  }

  /// Bytes in memory, sent as a file where `filename` is given.
  public static func bytes<Bytes: Collection & Sendable>(
    _ name: String, _ bytes: Bytes, filename: String? = nil, type: MediaType? = nil
  ) -> Part where Bytes.Element == UInt8 {
    Part(name: name, filename: filename, type: type, body: .bytes(bytes))
  }

  /// A stream; see ``PartBody/stream(length:replay:_:)``.
  public static func stream(
    _ name: String, filename: String? = nil, type: MediaType? = nil, length: Int64? = nil,
    replay: Replay = .repeatable, _ open: @escaping @Sendable () throws -> any ByteSource
  ) -> Part {
    Part(
      name: name, filename: filename, type: type,
      body: .stream(length: length, replay: replay, open))
  }

  /// A form inside the form.
  public static func form(_ name: String, _ form: Form) -> Part {
    Part(name: name, body: .form(form))
  }
}
