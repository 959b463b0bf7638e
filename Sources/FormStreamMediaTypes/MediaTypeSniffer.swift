public import FormStreamMultipart

/// Detects the media types of files and bytes.
///
/// A sniffer may be used from any thread, and one is enough for a program. It reads at most the
/// first 64 KiB of a file.
public final class MediaTypeSniffer: Sendable {
  /// The maximum number of bytes that are read from a file.
  public static let headSize = 64 * 1024

  /// What decides the type.
  public let policy: SniffingPolicy
  /// Why contents are not used although the policy requires them: libmagic's database is unusable.
  /// Extensions and overrides then decide alone.
  public let warning: MediaTypesError?

  /// Whether the types of text include a charset, if it is detected.
  public let includesCharset: Bool

  private let overrides: [TypeOverride]
  private let extensions: ExtensionTable
  private let magic: Magic?

  /// Creates a sniffer with the database at the path that a text names.
  public convenience init(
    policy: SniffingPolicy = .auto, overrides: [TypeOverride] = [],
    extensions: ExtensionTable = .system, database: String, includesCharset: Bool = false
  ) {
    self.init(
      policy: policy, overrides: overrides, extensions: extensions, database: LocalPath(database),
      includesCharset: includesCharset)
  }

  /// Creates a sniffer. If it needs libmagic's database, the database is loaded here.
  ///
  /// - Parameters:
  ///   - policy: what decides the type.
  ///   - overrides: rules that take precedence over the policy; the first that matches a file
  ///     decides.
  ///   - extensions: the types of file name extensions.
  ///   - database: a compiled database of libmagic (`magic.mgc`); nil means the system's.
  ///   - includesCharset: whether the types of text include a charset, such as `text/plain;
  ///     charset=utf-8`. It is a guess from the first bytes, and receivers will trust it.
  public init(
    policy: SniffingPolicy = .auto, overrides: [TypeOverride] = [],
    extensions: ExtensionTable = .system, database: LocalPath? = nil, includesCharset: Bool = false
  ) {
    self.policy = policy
    self.includesCharset = includesCharset
    self.overrides = overrides
    self.extensions = extensions
    guard policy == .content || policy == .auto else {
      (magic, warning) = (nil, nil)
      return
    }
    do throws(MediaTypesError) {
      magic = try Magic(database, includesCharset: includesCharset)
      warning = nil
    } catch {
      magic = nil
      warning = error
    }
  }

  /// The type of a file name, if there are no contents. It comes from the overrides, or from the
  /// extension if the policy uses extensions.
  public func type(forFilename filename: String) -> SniffedType {
    if let type = typeByName(filename, path: nil) { return type }
    guard policy == .auto, let type = extensions.firstType(of: filename) else { return .unknown }
    return SniffedType(type: type, source: .extension)
  }

  /// The type of bytes.
  ///
  /// - Parameters:
  ///   - bytes: the first bytes; at most `headSize` of them are used.
  ///   - filename: the file name, if there is one.
  public func type(of bytes: UnsafeRawBufferPointer, filename: String = "") -> SniffedType {
    typeByName(filename, path: nil)
      ?? typeByContent(UnsafeRawBufferPointer(rebasing: bytes.prefix(Self.headSize)), filename)
  }

  /// The type of a file.
  ///
  /// - Throws: `inputMissing`; `inputUnreadable` if the file must be read, but reading fails, or
  ///   the file is a directory, a FIFO or a device.
  public func type(of path: some LocalPathConvertible) throws(MediaTypesError) -> SniffedType {
    let path = try Self.localPath(path)
    let filename = path.lastComponent
    if let type = typeByName(filename, path: path) { return type }
    let head: [UInt8]
    do {
      head = try FormStreamMediaTypes.head(of: path, limit: Self.headSize)
    } catch {
      let reason = error.isOfOtherFile ? "it is a FIFO, a device or a socket" : "\(error)"
      throw MediaTypesError(
        error.isPathMissing ? .inputMissing : .inputUnreadable, on: path.description,
        "The file \(path.description.quoted) can't be sniffed: \(reason). "
          + "Name a regular file that can be read.", underlying: error)
    }
    return head.withUnsafeBytes { typeByContent($0, filename) }
  }

  private static func localPath(
    _ path: some LocalPathConvertible
  ) throws(MediaTypesError) -> LocalPath {
    do throws(MultipartError) {
      return try path.localPath()
    } catch {
      throw MediaTypesError(
        .inputUnreadable, on: error.subject, error.description, underlying: error)
    }
  }

  /// The type of an open file. Its file offset does not change.
  ///
  /// - Parameters:
  ///   - descriptor: a regular file, open for reading.
  ///   - filename: the file name.
  /// - Throws: `inputUnreadable` if the file must be read, but reading fails.
  public func type(
    ofDescriptor descriptor: Int32, filename: String
  ) throws(MediaTypesError) -> SniffedType {
    try type(ofDescriptor: descriptor, filename: filename, path: nil)
  }

  /// The type of an open file whose path is known: overrides may match the path.
  package func type(
    ofDescriptor descriptor: Int32, filename: String, path: LocalPath?
  ) throws(MediaTypesError) -> SniffedType {
    if let type = typeByName(filename, path: path) { return type }
    let head: [UInt8]
    do {
      head = try FormStreamMediaTypes.head(ofDescriptor: descriptor, limit: Self.headSize)
    } catch {
      throw MediaTypesError(
        .inputUnreadable, on: filename,
        "The file \(filename.quoted), open as descriptor \(descriptor), can't be sniffed: \(error). Open a "
          + "regular file for reading.", underlying: error)
    }
    return head.withUnsafeBytes { typeByContent($0, filename) }
  }

  /// The type if the contents are not needed; nil if they are.
  private func typeByName(_ filename: String, path: LocalPath?) -> SniffedType? {
    if let rule = overrides.first(where: { $0.matches(filename: filename, path: path) }) {
      return SniffedType(type: rule.type, source: .override)
    }
    if policy == .none { return .unknown }
    if magic != nil { return nil }
    guard policy != .content, let type = extensions.firstType(of: filename) else {
      return .unknown
    }
    return SniffedType(type: type, source: .extension)
  }

  private func typeByContent(_ bytes: UnsafeRawBufferPointer, _ filename: String) -> SniffedType {
    // libmagic's type for empty contents is not registered, so it is not used. Its other types are
    // checked like any text, because they may come from any database.
    var content =
      bytes.isEmpty ? nil : magic?.type(of: bytes).flatMap { MediaType($0)?.withRegisteredName }
    // The database of libmagic 5.46 knows most archives of ZIP by their ends alone, which the first bytes don't have.
    if content.map({ $0.essence == "application/octet-stream" }) ?? true, bytes.beginArchiveOfZIP {
      content = MediaType("application/zip")
    }
    let detected = Arbitration.type(content: content.flatMap { MediaType($0.essence) }) {
      policy == .auto ? extensions.firstType(of: filename, where: $0) : nil
    }
    return detected.map { $0.including(content?.charset) } ?? .unknown
  }
}

extension UnsafeRawBufferPointer {
  /// Whether these bytes begin with the header of a file, or with the end of an archive that is empty (APPNOTE.TXT §4.3).
  fileprivate var beginArchiveOfZIP: Bool {
    starts(with: [0x50, 0x4B, 3, 4]) || starts(with: [0x50, 0x4B, 5, 6])
  }
}

extension MediaType {
  /// The charset that libmagic detected; nil if there is none, or it is unknown.
  fileprivate var charset: String? {
    // libmagic writes no other parameter.
    guard let equalsSign = description.utf8.lastIndex(of: UInt8(ascii: "=")) else { return nil }
    let name = String(description[description.utf8.index(after: equalsSign)...])
    return ["binary", "unknown-8bit"].contains(name) ? nil : name
  }
}

extension SniffedType {
  /// Adds the charset if this is a type of text.
  fileprivate func including(_ charset: String?) -> SniffedType {
    guard let charset, type.essence.hasPrefix("text/"),
      let full = MediaType("\(type); charset=\(charset)")
    else { return self }
    return SniffedType(type: full, source: source)
  }
}

extension SniffedType {
  fileprivate static let unknown = SniffedType(type: .octetStream, source: .default)
}

extension MediaTypeSniffer: MediaTypeDetector {
  /// The type of a part; nil if none was detected.
  public func mediaType(of part: UntypedPart) -> MediaType? {
    let detected =
      typeByName(part.filename, path: part.path)
      ?? part.firstBytes(upTo: Self.headSize).withUnsafeBytes { typeByContent($0, part.filename) }
    return detected.source == .default ? nil : detected.type
  }
}
