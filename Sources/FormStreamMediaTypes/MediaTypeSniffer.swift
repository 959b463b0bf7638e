public import FormStreamMultipart

/// Tells the media types of files and bytes.
///
/// One is enough for a program, and may be used from any thread. It reads the first 64 KiB of a file at the
/// most.
public final class MediaTypeSniffer: Sendable {
  /// How much of a file is looked at.
  public static let headSize = 64 * 1024

  /// What decides.
  public let policy: SniffingPolicy
  /// Why content can't be looked at, where that is asked for and libmagic's database can't be used. All
  /// else goes on: extensions and overrides decide.
  public let warning: MediaTypesError?

  /// Whether the types of text bear their charset, where the content tells it.
  public let includesCharset: Bool

  private let overrides: [TypeOverride]
  private let extensions: ExtensionTable
  private let magic: Magic?

  /// - Parameters:
  ///   - policy: what decides.
  ///   - overrides: what goes before it; of those that match a file, the first.
  ///   - extensions: which types extensions stand for.
  ///   - database: libmagic's database, compiled (`magic.mgc`); its own where nil.
  ///   - includesCharset: whether text is told with its charset, as in `text/plain; charset=utf-8`. It is a
  ///     guess from the first bytes, and one that receivers believe.
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

  /// The type that a name tells, where nothing can be read: by the overrides, and by the extension where
  /// the policy is one that asks it.
  public func type(forFilename filename: String) -> SniffedType {
    if let type = typeByName(filename, path: nil) { return type }
    guard policy == .auto, let type = extensions.types(of: filename).first else { return .unknown }
    return SniffedType(type: type, source: .extension)
  }

  /// The type of bytes.
  ///
  /// - Parameters:
  ///   - bytes: the first bytes of what is to be told; more than `headSize` are not looked at.
  ///   - filename: what it is called.
  public func type(of bytes: UnsafeRawBufferPointer, filename: String = "") -> SniffedType {
    typeByName(filename, path: nil)
      ?? typeByContent(UnsafeRawBufferPointer(rebasing: bytes.prefix(Self.headSize)), filename)
  }

  /// The type of a file.
  ///
  /// - Throws: `inputMissing`, `inputUnreadable` where it has to be read and can't be, or is a directory, a
  ///   FIFO or a device.
  public func type(of path: LocalPath) throws(MediaTypesError) -> SniffedType {
    let filename = path.lastComponent
    if let type = typeByName(filename, path: path) { return type }
    let head: [UInt8]
    do {
      head = try FormStreamMediaTypes.head(of: path, limit: Self.headSize)
    } catch {
      throw MediaTypesError(
        error.isPathMissing ? .inputMissing : .inputUnreadable, on: path.description,
        "The file \(path.description.quoted) can't be sniffed: \(error). Name a regular file that can be "
          + "read.", underlying: error)
    }
    return head.withUnsafeBytes { typeByContent($0, filename) }
  }

  /// The type of a file that is open, whose place stays as it is.
  ///
  /// - Parameters:
  ///   - descriptor: a regular file, open for reading.
  ///   - filename: what it is called.
  /// - Throws: `inputUnreadable` where it has to be read and can't be.
  public func type(
    ofDescriptor descriptor: Int32, filename: String
  ) throws(MediaTypesError) -> SniffedType {
    if let type = typeByName(filename, path: nil) { return type }
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

  /// What can be said without looking at the content; nil where that has to be looked at.
  private func typeByName(_ filename: String, path: LocalPath?) -> SniffedType? {
    if let rule = overrides.first(where: { $0.matches(filename: filename, path: path) }) {
      return SniffedType(type: rule.type, source: .override)
    }
    if policy == .none { return .unknown }
    if magic != nil { return nil }
    guard policy != .content, let type = extensions.types(of: filename).first else {
      return .unknown
    }
    return SniffedType(type: type, source: .extension)
  }

  private func typeByContent(_ bytes: UnsafeRawBufferPointer, _ filename: String) -> SniffedType {
    // Of no bytes libmagic makes a type of its own, which nobody else knows. What it says otherwise passes
    // the same gate as what people say: it may come from any database.
    let content =
      bytes.isEmpty ? nil : magic?.type(of: bytes).flatMap { MediaType($0)?.withRegisteredName }
    let candidates = policy == .auto ? extensions.types(of: filename) : []
    let told = Arbitration.type(
      content: content.flatMap { MediaType($0.essence) }, candidates: candidates)
    return told.map { $0.bearing(content?.charset) } ?? .unknown
  }
}

extension MediaType {
  /// What libmagic says that text is encoded in; nil where it says nothing, or only that it does not know.
  fileprivate var charset: String? {
    // libmagic writes this one parameter, and no other.
    guard let place = description.utf8.lastIndex(of: UInt8(ascii: "=")) else { return nil }
    let name = String(description[description.utf8.index(after: place)...])
    return ["binary", "unknown-8bit"].contains(name) ? nil : name
  }
}

extension SniffedType {
  /// The type of text with its charset; any other as it is.
  fileprivate func bearing(_ charset: String?) -> SniffedType {
    guard let charset, type.essence.hasPrefix("text/"),
      let full = MediaType("\(type); charset=\(charset)")
    else { return self }
    return SniffedType(type: full, source: source)
  }
}

extension SniffedType {
  fileprivate static let unknown = SniffedType(type: .octetStream, source: .default)
}

extension MediaTypeSniffer: MediaTypeGuessing {
  /// The type of a part; nil where nothing tells it.
  public func mediaType(of part: UntypedPart) -> MediaType? {
    let told =
      typeByName(part.filename, path: part.path)
      ?? part.firstBytes(upTo: Self.headSize).withUnsafeBytes { typeByContent($0, part.filename) }
    return told.source == .default ? nil : told.type
  }
}
