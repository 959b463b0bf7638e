/// What journals say about the files of a part of a manifest: two bytes for every 16 bytes of it that they mention.
///
/// Journals are added in groups: what those of one group accepted twice is stored once, or their runs knew of each other.
struct JournalFindings {
  /// What the journals say about one file.
  struct Finding: OptionSet {
    let rawValue: UInt16

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
    /// The server has some of the file, or something else in its place.
    static let partlyStored = Finding(rawValue: 256)
    /// A run of the group that is being added accepted it.
    static let acceptedInGroup = Finding(rawValue: 512)
    /// The server may have the file, or some of it, because of a run of the group that is being added, which is harmless in
    /// the group.
    static let unknownInGroup = Finding(rawValue: 1024)
    /// It was accepted in a group whose journals may have lost what they said about it.
    static let acceptedInLossyGroup = Finding(rawValue: 2048)
  }

  private typealias Pages = ManifestPages<UInt16>

  private var pages = Pages(of: 65536)
  /// Where files may have been sent that no journal mentions any more: the ranges of each group that has some.
  private var lost: [[Range<Int64>]] = []

  /// Whether journals may have lost what they said about the file whose record begins at an offset.
  func mayBeLost(_ offset: Int64) -> Bool { lossyGroups(at: offset) > 0 }

  /// Whether a file that was accepted may also have been accepted in a group that has lost it.
  func mayBeAcceptedAgain(_ offset: Int64) -> Bool {
    lossyGroups(at: offset) > (self[offset].contains(.acceptedInLossyGroup) ? 1 : 0)
  }

  private func lossyGroups(at offset: Int64) -> Int {
    lost.count { ranges in ranges.contains { $0.contains(offset) } }
  }

  /// What is known about the file whose record begins at an offset.
  subscript(offset: Int64) -> Finding {
    get { Finding(rawValue: pages[Pages.number(of: offset)]) }
    set { pages[Pages.number(of: offset)] = newValue.rawValue }
  }

  /// All journals of a group are added.
  ///
  /// - Parameter lost: where they may have lost what they said.
  mutating func endGroup(lost: [Range<Int64>]) {
    if !lost.isEmpty { self.lost.append(lost) }
    pages.update { index, value in
      guard value > Finding.partlyStored.rawValue else { return }
      var finding = Finding(rawValue: value)
      if finding.contains(.acceptedInGroup) {
        let offset = index * Pages.bytesPerFile
        // The record begins somewhere in these bytes.
        if lost.contains(where: { $0.overlaps(offset..<offset + Pages.bytesPerFile) }) {
          finding.insert(.acceptedInLossyGroup)
        }
      } else if finding.contains(.unknownInGroup) {
        finding.insert(.maybeDuplicate)
      }
      finding.subtract([.acceptedInGroup, .unknownInGroup])
      value = finding.rawValue
    }
  }
}
