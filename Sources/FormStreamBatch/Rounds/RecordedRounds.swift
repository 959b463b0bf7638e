package import FormStreamMultipart
import FormStreamPlatform

/// The manifests of the rounds in a directory of journals: `manifest.jsonl`, `manifest-2.jsonl` and so on.
package struct RecordedRounds {
  private static let prefix = "manifest"
  private static let suffix = ".jsonl"
  private static let partialSuffix = ".partial.jsonl"

  /// The paths of the complete manifests, in the order of the rounds.
  package let manifests: [LocalPath]
  /// The number of the last round; 0 if there is none.
  let lastNumber: Int

  /// The number of the first round that has a manifest; 0 if there is none.
  let firstNumber: Int

  /// - Parameter state: sums up rounds, which are left out; nil if none are.
  /// - Throws: `journalUnreadable`.
  package init(in path: LocalPath, besides state: RecordedState? = nil) throws(BatchError) {
    var found: [(number: Int, path: LocalPath)] = []
    for name in try JournalReader.names(in: path) {
      guard let number = Self.number(of: name), state?.sumsUp(path.appending(name.bytes)) != true else { continue }
      found.append((number, path.appending(name.bytes)))
    }
    found.sort { $0.number < $1.number }
    (manifests, firstNumber) = (found.map(\.path), found.first?.number ?? 0)
    lastNumber = found.last?.number ?? state?.through ?? 0
  }

  static func name(of number: Int, isPartial: Bool = false) -> FileName {
    let place = number == 1 ? "" : "-\(number)"
    return FileName("\(prefix)\(place)\(isPartial ? partialSuffix : suffix)")
  }

  /// The number of the round that a manifest with this name is of; nil for another name.
  private static func number(of name: FileName, isPartial: Bool = false) -> Int? {
    let suffix = isPartial ? partialSuffix : suffix
    guard let text = String(validating: name.bytes, as: UTF8.self), text.hasPrefix(prefix),
      text.hasSuffix(suffix), text.utf8.count >= prefix.utf8.count + suffix.utf8.count
    else { return nil }
    let place = text.dropFirst(prefix.count).dropLast(suffix.count)
    let number = place.isEmpty ? 1 : Int(place.dropFirst())
    // Other spellings of a number, such as 02, are not ours.
    return number.flatMap { number in
      number <= Round.maximum && Self.name(of: number, isPartial: isPartial) == name ? number : nil
    }
  }

  /// Whether a file of that name is the manifest of a round.
  static func isManifest(_ name: FileName) -> Bool {
    number(of: name) != nil || number(of: name, isPartial: true) != nil
  }

  /// Whether a path has the name of a manifest that is still being written.
  package static func isPartial(_ manifest: LocalPath) -> Bool {
    number(of: manifest.name, isPartial: true) != nil
  }
}
