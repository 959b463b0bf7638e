/// Where a part's bytes come from, once that has been looked at.
enum PartContent {
  case memory(MemoryBytes)
  case file(FileExtent)
  case stream(StreamOrigin)
  case form(Form)
}

/// A look at a part's first bytes, before its headers are made. Of what can be read once nothing is lost:
/// `content` then begins with what was seen.
final class ContentPreview {
  /// A pipe gives what it has, be it a byte; no type is told by so few.
  private static let enoughOfStream = 4096

  private(set) var content: PartContent
  /// Why nothing could be seen.
  private(set) var failure: MultipartError?
  private let part: String
  private let keepsFile: Bool
  private var seen: [UInt8]?

  /// - Parameter keepsFile: whether a file that is opened stays open for its first reader.
  init(_ content: PartContent, of part: String, keepsFile: Bool) {
    self.content = content
    self.part = part
    self.keepsFile = keepsFile
  }

  var isOneShot: Bool {
    if case .stream(let origin) = content { origin.isOneShot } else { false }
  }

  /// The first bytes. Asked again, it gives no more than the first time.
  func firstBytes(upTo count: Int) -> [UInt8] {
    if let seen { return Array(seen.prefix(count)) }
    var head: [UInt8] = []
    do throws(MultipartError) {
      head = try look(count)
    } catch {
      failure = error
    }
    seen = head
    return head
  }

  private func look(_ count: Int) throws(MultipartError) -> [UInt8] {
    switch content {
    case .memory(let bytes):
      var head: [UInt8] = []
      bytes.withBytes { head = Array($0.prefix(count)) }
      return head
    case .file(let extent):
      let reader = try FileReader(extent, part: part)
      let head = try reader.head(upTo: count)
      if keepsFile {
        var extent = extent
        extent.kept = KeptFile(reader.file)
        content = .file(extent)
      }
      return head
    case .stream(let origin):
      let source = PeekedSource(try origin.open(for: part))
      let head = try source.peek(Self.enoughOfStream, upTo: count, of: part)
      // One that can be opened again is, and its bytes need not be kept until then.
      if origin.isOneShot { content = .stream(origin.resuming(source)) }
      return head
    case .form:
      return []
    }
  }
}
