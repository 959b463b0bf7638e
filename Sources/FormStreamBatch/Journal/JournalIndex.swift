package import FormStreamMultipart
import FormStreamPlatform

/// What the journals of a manifest say about each of its files: for a run that goes on where others ended.
///
/// It has two bits for every 16 bytes of the manifest that the journals mention: about 24 MB for ten million files. What
/// is known about slices takes memory only for the files of which the server has some and not all.
package struct JournalIndex: Sendable {
  /// What is known about a file.
  package enum Standing: UInt8, Comparable, Sendable {
    /// It was not sent, or was refused for certain.
    case unsent = 0
    /// The server may have accepted it, in a request that does no harm if it is sent again.
    case repeatable = 1
    /// The server may have accepted it.
    case doubtful = 2
    /// The server accepted it.
    case accepted = 3

    package static func < (one: Standing, other: Standing) -> Bool {
      one.rawValue < other.rawValue
    }
  }

  /// The number of journals of the manifest.
  package private(set) var journalCount = 0
  /// Where the earlier runs sent to.
  package private(set) var urls: Set<String> = []
  /// What is known about all other files: any of them may have been sent if the system ended during a run, and took lines
  /// of its journal with it, or if the disk did.
  private var lost = Standing.unsent
  private var pages: [Int64: [UInt8]] = [:]
  private var slices: [Int64: SliceProgress] = [:]

  /// The shortest record of a manifest has more bytes than this, so two never share their bits.
  private static let bytesPerFile: Int64 = 16
  private static let filesPerPage: Int64 = 16384

  package init() {}

  /// Reads the journals of a manifest in a directory.
  ///
  /// - Parameters:
  ///   - boot: what names the current start of this machine's system.
  ///   - sliceSize: the size of the slices that files are sent in from here on; nil if they are sent in one piece.
  package init(
    of manifest: String, in directory: LocalPath, boot: String, sliceSize: Int64? = nil
  ) throws(BatchError) {
    for path in try JournalReader.journals(in: directory) {
      try add(path, of: manifest, boot: boot, sliceSize)
    }
  }

  /// What is known about the file at that offset of the manifest.
  package func standing(of offset: Int64) -> Standing {
    let (page, byte, shift) = Self.place(of: offset)
    let bits = pages[page].map { $0[byte] >> shift & 3 } ?? 0
    return max(Standing(rawValue: bits) ?? .doubtful, lost)
  }

  /// Which slices of the file at that offset are accepted; nil if none are.
  func progress(of offset: Int64) -> SliceProgress? { slices[offset] }

  /// Notes what a journal says. What is accepted stays so.
  mutating func note(_ offset: Int64, _ standing: Standing) {
    let (page, byte, shift) = Self.place(of: offset)
    let old = pages[page]?[byte] ?? 0
    guard standing.rawValue > old >> shift & 3 else { return }
    pages[page, default: [UInt8](repeating: 0, count: Int(Self.filesPerPage) / 4)][byte] =
      old & ~(3 << shift) | standing.rawValue << shift
    if standing == .accepted { slices[offset] = nil }
  }

  private static func place(of offset: Int64) -> (page: Int64, byte: Int, shift: UInt8) {
    let (page, number) = (offset / bytesPerFile).quotientAndRemainder(dividingBy: filesPerPage)
    return (page, Int(number / 4), UInt8(number % 4 * 2))
  }

  private mutating func add(
    _ path: LocalPath, of manifest: String, boot: String, _ sliceSize: Int64?
  ) throws(BatchError) {
    var head: JournalHead?
    var started: Set<Int64> = []
    /// Records of files that were not accepted. They count only if the journal turns out to be complete.
    var refused: [Int64] = []
    var (isClosed, isDamaged) = (false, false)
    try JournalReader.read(path) { line throws(BatchError) in
      switch line {
      case .head(let line): head = line
      case .damaged: isDamaged = true
      case .closed: isClosed = true
      case .started(let offset):
        if head?.manifest == manifest { started.insert(offset) }
      case .accepted(let offset, let accepted):
        if let head, head.manifest == manifest { note(offset, accepted, head, sliceSize) }
      case .record(let offset, let outcome, _):
        guard let head, head.manifest == manifest else { return }
        started.remove(offset)
        switch BatchState(rawValue: outcome) {
        case .ok: note(offset, .accepted)
        case .failed, .retryable, .sourceChanged, .skipped: refused.append(offset)
        case .unknown, nil: note(offset, head.doubt(sliceSize))
        }
      }
    }
    guard let head, head.manifest == manifest else { return }
    journalCount += 1
    urls.insert(head.url)
    let doubt = head.doubt(sliceSize)
    for offset in started { note(offset, doubt) }
    guard !isClosed || isDamaged else { return }
    for offset in refused { note(offset, doubt) }
    if isDamaged || head.boot != boot { lost = max(lost, doubt) }
  }

  private mutating func note(
    _ offset: Int64, _ accepted: AcceptedSlices, _ head: JournalHead, _ sliceSize: Int64?
  ) {
    guard let size = head.sliceSize, standing(of: offset) != .accepted else { return }
    let progress = SliceProgress(size: size, accepted: accepted)
    slices[offset] = slices[offset].map { $0.joined(progress, preferring: sliceSize) } ?? progress
  }
}

extension JournalHead {
  /// What is known about a file that may have been accepted. A slice has another idempotency key than the file, and than
  /// a slice of another size.
  fileprivate func doubt(_ sliceSize: Int64?) -> JournalIndex.Standing {
    isHarmlessTwice && self.sliceSize == sliceSize ? .repeatable : .doubtful
  }
}
