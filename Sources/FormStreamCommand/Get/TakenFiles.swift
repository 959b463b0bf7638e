import FormStreamBatch
import FormStreamPlatform

/// The files that responses go to. Their names are kept in bounded memory.
///
/// Names that differ only in upper and lower case count as one: many file systems (FAT, exFAT, shares of Windows) have one file
/// for them, and requests at the same time would replace each other's file.
struct TakenFiles {
  private let keys = SeenKeys(in: LocalPath(bytes: temporaryDirectory))
  /// The directory of the last file, and its path without links. Most files are in the same directory.
  private var last: (directory: [UInt8], canonical: [UInt8])?

  init(_ items: [GetPlan.Item]) throws(Failure) {
    for item in items {
      if let file = item.file { _ = try insert(file) }
    }
  }

  /// Fails if two requests at the same time would write one file.
  ///
  /// - Parameter remedy: what to do about it.
  static func check(_ items: [GetPlan.Item], _ remedy: String) throws(Failure) {
    var files = try TakenFiles([])
    for item in items {
      guard let file = item.file else { continue }
      guard try files.insert(file) else {
        throw .nameIsTaken(file, for: "The URL \(item.request.url)", remedy)
      }
    }
  }

  /// Adds a file. Returns false if it was added before.
  mutating func insert(_ file: LocalPath) throws(Failure) -> Bool {
    let path: [UInt8]
    switch try? OutputPlace(at: file) {
    case .standardOutput, .special: return true
    case .deadLink:
      throw .usage(
        "The file \"\(file)\" is a link to a file that does not exist, and another response may become that file: name the file itself."
      )
    // This follows a link to the file.
    case .file: path = canonical(file).bytes
    case .nothing, nil:
      let directory = file.bytes.prefix(file.bytes.count - file.name.bytes.count)
      if last?.directory.elementsEqual(directory) != true {
        let path = directory.isEmpty ? "." : LocalPath(bytes: directory)
        last = (Array(directory), canonical(path).bytes + [UInt8(ascii: "/")])
      }
      path = (last?.canonical ?? []) + file.name.bytes
    }
    let key = Self.folded(path)
    return try convertingErrors { () throws(BatchError) in try keys.insert(key) }
  }

  /// A path in which upper and lower case are the same. Names that are no UTF-8 are compared as they are.
  private static func folded(_ path: [UInt8]) -> [UInt8] {
    guard let text = String(validating: path, as: UTF8.self) else { return path }
    return Array(text.uppercased().lowercased().utf8)
  }
}

extension DownloadArguments {
  /// What to do if two URLs have one file. Only flags that may stand beside the others are advised.
  ///
  /// - Parameters:
  ///   - atOnce: how many requests are sent at the same time.
  ///   - isListed: whether the URL is from a list. Then `-o` can't name its file.
  func remedyForTakenNames(
    _ request: RequestArguments, _ atOnce: Int, isListed: Bool
  ) -> String {
    let other = isListed ? "leave it out" : "give it another name with -o"
    if skipsExisting { return other }
    let numbering = storesAsOnServer(request) ? "-J and --no-clobber number" : "--no-clobber numbers"
    return "\(other), or \(atOnce > 1 ? "leave -j out: then " : "")\(numbering) such files"
  }
}

extension Failure {
  /// - Parameter url: the URL and its place, in words.
  static func nameIsTaken(_ file: LocalPath, for url: String, _ remedy: String) -> Failure {
    .usage(
      "\(url) would be stored in the file \"\(file)\", and so would an earlier URL (upper and lower case count as the same): \(remedy)."
    )
  }
}
