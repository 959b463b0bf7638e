/// What journals say about the files of a part of a manifest: a byte for every 16 bytes of it that they mention.
struct JournalFindings {
  /// What the journals say about one file.
  struct Finding: OptionSet {
    let rawValue: UInt8

    /// The server accepted the file.
    static let accepted = Finding(rawValue: 1)
    /// It accepted the file once more, and that is not harmless.
    static let acceptedAgain = Finding(rawValue: 2)
    /// The server may have accepted the file in another run than the one that says so.
    static let maybeDuplicate = Finding(rawValue: 4)
    /// A request began, and how it ended is not known.
    static let unknown = Finding(rawValue: 8)
    static let failed = Finding(rawValue: 16)
    /// The file was missing or could not be read.
    static let unreadable = Finding(rawValue: 32)
    static let sourceChanged = Finding(rawValue: 64)
    static let retryable = Finding(rawValue: 128)
  }

  /// The shortest record of a manifest has more bytes than this, so two never share a byte.
  private static let bytesPerFile: Int64 = 16
  private static let filesPerPage: Int64 = 65536

  private var pages: [Int64: [UInt8]] = [:]
  /// Where files may have been sent that no journal mentions any more.
  var lost: [Range<Int64>] = []

  /// Whether journals may have lost what they said about the file whose record begins at an offset.
  func mayBeLost(_ offset: Int64) -> Bool { lost.contains { $0.contains(offset) } }

  /// What is known about the file whose record begins at an offset.
  subscript(offset: Int64) -> Finding {
    get {
      let (page, index) = Self.place(of: offset)
      return Finding(rawValue: pages[page]?[index] ?? 0)
    }
    set {
      let (page, index) = Self.place(of: offset)
      pages[page, default: [UInt8](repeating: 0, count: Int(Self.filesPerPage))][index] =
        newValue.rawValue
    }
  }

  private static func place(of offset: Int64) -> (page: Int64, index: Int) {
    let (page, index) = (offset / bytesPerFile).quotientAndRemainder(dividingBy: filesPerPage)
    return (page, Int(index))
  }
}
