/// What journals say about the files of a part of a manifest. The findings take two bytes for every 16 bytes of the
/// manifest that the journals mention.
///
/// Journals are added in groups. In a group, a file that was accepted twice is stored once, or each run knew what the runs
/// before it had sent.
struct JournalFindings {
  /// What the journals say about one file.
  struct Finding: OptionSet {
    let rawValue: UInt16

    /// The server accepted the file.
    static let accepted = Finding(rawValue: 1)
    /// The server accepted the file once more, and the repetition was not harmless.
    static let acceptedAgain = Finding(rawValue: 2)
    /// The server may have accepted the file in one more run than the journals say.
    static let maybeDuplicate = Finding(rawValue: 4)
    /// A request for the file began, and its outcome is not known.
    static let unknown = Finding(rawValue: 8)
    static let failed = Finding(rawValue: 16)
    /// The file was missing or could not be read.
    static let unreadable = Finding(rawValue: 32)
    static let sourceChanged = Finding(rawValue: 64)
    static let retryable = Finding(rawValue: 128)
    /// The server has some of the file, or something else in its place.
    static let partlyStored = Finding(rawValue: 256)
    /// The file was accepted in a run of the group that is being added.
    static let acceptedInGroup = Finding(rawValue: 512)
    /// The server may have the file, or some of it, from a run of the group that is being added. That is harmless within
    /// the group.
    static let unknownInGroup = Finding(rawValue: 1024)
    /// The file was accepted in a group whose journals may have lost lines about it.
    static let acceptedInLossyGroup = Finding(rawValue: 2048)
    /// Journals may have lost lines about the file.
    static let mayBeLost = Finding(rawValue: 4096)
  }

  private typealias Pages = ManifestPages<UInt16>

  private var pages = Pages(of: 65536)
  /// For each group whose journals may have lost lines: the ranges of the manifest in which files may have been sent
  /// without a line about them.
  private var lost: [[Range<Int64>]] = []

  /// Whether journals may have lost lines about the file whose record begins at an offset.
  func mayBeLost(_ offset: Int64) -> Bool { lossyGroups(at: offset) > 0 }

  /// Whether a file that was accepted may have been accepted again, in a group whose journals may have lost the line about
  /// it.
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

  /// Ends a group, after all its journals were added.
  ///
  /// - Parameter lost: the ranges of the manifest about which the group's journals may have lost lines.
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
