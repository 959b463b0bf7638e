/// Where the bytes of a part come from, after its file or descriptor was looked up.
enum PartContent {
  case memory(MemoryBytes)
  case file(FileExtent)
  case stream(StreamOrigin)
  case form(Form)
}

/// Reads the first bytes of a part before its headers are written. For a one-shot stream, `content`
/// then includes these bytes again.
final class ContentPreview {
  /// The maximum number of bytes that are read. No detection needs more.
  static let maximum = 1024 * 1024
  /// The minimum number of bytes that are read from a stream, unless fewer are requested or the
  /// stream ends earlier. A single read from a pipe may return one byte, which is not enough to
  /// detect a type.
  private static let minimumFromStream = 4096

  private(set) var content: PartContent
  /// Why reading failed.
  private(set) var failure: MultipartError?
  private let part: String
  private let keepsFile: Bool
  private var previewed: [UInt8]?

  /// - Parameter keepsFile: whether the file stays open for its first reader.
  init(_ content: PartContent, of part: String, keepsFile: Bool) {
    self.content = content
    self.part = part
    self.keepsFile = keepsFile
  }

  var isOneShot: Bool {
    if case .stream(let origin) = content { origin.isOneShot } else { false }
  }

  /// The first bytes. Later calls return no more bytes than the first call.
  func firstBytes(upTo count: Int) -> [UInt8] {
    let count = min(max(count, 0), Self.maximum)
    if let previewed { return Array(previewed.prefix(count)) }
    var head: [UInt8] = []
    do throws(MultipartError) {
      head = try readFirstBytes(count)
    } catch {
      failure = error
    }
    previewed = head
    return head
  }

  private func readFirstBytes(_ count: Int) throws(MultipartError) -> [UInt8] {
    switch content {
    case .memory(let bytes):
      var head: [UInt8] = []
      bytes.withBytes { head = Array($0.prefix(count)) }
      return head
    case .file(let extent):
      let reader = try FileReader(extent, part: part, opened: extent.kept?.take())
      let head = try reader.firstBytes(upTo: count)
      if keepsFile, extent.kept == nil {
        var extent = extent
        extent.kept = KeptFile(reader.file)
        content = .file(extent)
      }
      return head
    case .stream(let origin):
      let source = PeekedSource(try origin.open(for: part))
      let head = try source.peek(Self.minimumFromStream, upTo: count, of: part)
      // A replayable stream is opened again, so its bytes are not kept.
      if origin.isOneShot { content = .stream(origin.resuming(source)) }
      return head
    case .form:
      return []
    }
  }
}
