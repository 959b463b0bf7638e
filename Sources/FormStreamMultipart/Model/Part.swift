/// One part of a form: its name, its headers and where its bytes come from.
public struct Part: Sendable {
  /// The name of the field. In a form that is not form data, an empty name means that the part has no name.
  public var name: String
  /// The file name. Receivers treat a part with a file name as a file. Bytes that are not UTF-8 are shown as U+FFFD
  /// here, and sent as they are.
  public var filename: String? {
    didSet { filenameBeyondUTF8 = nil }
  }
  /// The bytes of the file name that are sent, before they are escaped. They need not be UTF-8, because the name of a
  /// file need not be UTF-8.
  public var filenameBytes: [UInt8]? {
    get { filenameBeyondUTF8 ?? filename.map { Array($0.utf8) } }
    set {
      filename = newValue.map { String(decoding: $0, as: UTF8.self) }
      guard let newValue, String(validating: newValue, as: UTF8.self) == nil else { return }
      filenameBeyondUTF8 = newValue
    }
  }
  /// The bytes of a file name that is not UTF-8.
  private(set) var filenameBeyondUTF8: [UInt8]?
  /// The media type. If it is nil, the type of a part with a file name is detected when the form is laid out. By
  /// default, it is detected by the extension of the file name. If no type is detected, the type is
  /// `application/octet-stream`. A part without a file name has no `Content-Type`.
  public var type: MediaType?
  /// Headers in addition to the derived ones.
  public var headers: HTTPHeaders

  /// The maximum number of bytes in the header block of a part, including derived headers.
  /// Receivers accept 16 KiB or less (Django: 1 KiB).
  public static let maximumHeaderBlockSize = 16 * 1024
  /// The maximum number of headers of a part, including derived ones.
  public static let maximumHeaderCount = 32
  /// Where the bytes come from.
  public var body: PartBody

  /// Creates a part of any kind. Names are checked when the form is laid out, because the escaping profile decides
  /// which names can be written.
  public init(
    name: String = "", filename: String? = nil, type: MediaType? = nil,
    headers: HTTPHeaders = [:], body: PartBody
  ) {
    self.name = name
    self.filename = filename
    self.type = type
    self.headers = headers
    self.body = body
  }

  /// A text field.
  public static func text(
    _ name: String, _ text: String, type: MediaType? = nil, headers: HTTPHeaders = [:]
  ) -> Part {
    Part(name: name, type: type, headers: headers, body: .text(text))
  }

  /// A number, a Boolean, or another value that has an exact text, such as `12` or `true`.
  public static func text(
    _ name: String, _ value: some LosslessStringConvertible, type: MediaType? = nil,
    headers: HTTPHeaders = [:]
  ) -> Part {
    .text(name, String(value), type: type, headers: headers)
  }

  /// A file.
  ///
  /// - Parameters:
  ///   - name: the name of the field.
  ///   - path: a path as text or bytes, or a file URL of Foundation. With any other URL, laying out the form throws
  ///     `notAFile`.
  ///   - filename: the file name; nil for the last component of the path, byte for byte.
  ///   - type: the media type; nil for the type that is detected.
  ///   - headers: other headers of the part.
  ///   - range: the bytes that are sent; nil for the complete file.
  ///   - growth: whether the file may grow while it is sent; see ``FileGrowth``.
  ///   - accepted: what may be at the path; see ``AcceptedFiles``.
  public static func file(
    _ name: String, _ path: some LocalPathConvertible, filename: String? = nil,
    type: MediaType? = nil, headers: HTTPHeaders = [:], range: FileRange? = nil,
    growing growth: FileGrowth = false, accepting accepted: AcceptedFiles = .any
  ) -> Part {
    var part = Part(
      name: name, filename: filename, type: type, headers: headers,
      body: .file(path, range: range, growing: growth, accepting: accepted))
    if filename == nil { part.filenameBytes = part.body.path?.lastComponentBytes }
    return part
  }

  /// Bytes in memory: a file part if `filename` is given.
  public static func bytes<Bytes: Collection & Sendable>(
    _ name: String, _ bytes: Bytes, filename: String? = nil, type: MediaType? = nil,
    headers: HTTPHeaders = [:]
  ) -> Part where Bytes.Element == UInt8 {
    Part(name: name, filename: filename, type: type, headers: headers, body: .bytes(bytes))
  }

  /// A stream; see ``PartBody/stream(length:replay:_:)``.
  public static func stream(
    _ name: String, filename: String? = nil, type: MediaType? = nil, headers: HTTPHeaders = [:],
    length: Int64? = nil, replay: Replay = .repeatable,
    _ open: @escaping @Sendable () throws -> any ByteSource
  ) -> Part {
    Part(
      name: name, filename: filename, type: type, headers: headers,
      body: .stream(length: length, replay: replay, open))
  }

  /// A form inside the form.
  public static func form(_ name: String, _ form: Form, headers: HTTPHeaders = [:]) -> Part {
    Part(name: name, headers: headers, body: .form(form))
  }
}
