public import FormStreamMultipart

/// Which files are listed.
public struct ListingOptions: Sendable {
  /// Whether files and directories whose names begin with a dot are listed, if they were found in a directory. A path that
  /// is named directly is listed anyway.
  public var includesHidden = false
  /// Whether links are followed. If a link leads out of the directory that was named, its entry has an error.
  public var followsLinks = false
  /// Patterns for the files to list. If there are any, only files that match one of them are listed. The patterns don't
  /// apply to files that are named directly.
  public var includes: [NamePattern] = []
  /// Patterns for files and directories to leave out, even if they match one of ``includes``. The patterns don't apply to
  /// paths that are named directly.
  public var excludes: [NamePattern] = []
  /// Whether the listing goes on if a path that is named directly can't be sent: the path then becomes an entry with an
  /// error.
  public var keepsGoing = false
  /// The directory for a temporary file. If many files are listed, the temporary file records them, so that each file is
  /// listed once.
  public var temporaryDirectory: LocalPath = "/tmp"
  /// How many files there must be. If fewer can be listed, nothing is sent: a folder may be empty because a disk is not mounted.
  public var minimumFiles = 0
  /// The directory of the journals. It is left out, because its files would change while they are sent.
  package var journals: FileIdentity?
  /// Ends the listing.
  var cancellation: BatchCancellation?

  /// Lists all files that are not hidden, and follows no links.
  public init() {}
}

extension ListingOptions {
  /// Whether a directory below the root is left out, with everything in it.
  func leavesOut(directory relative: [UInt8]) -> Bool {
    excludes.contains { $0.matches(relative, isDirectory: true) }
  }

  /// Whether a file below the root is left out. Notes the pattern of ``includes`` that the file matches.
  func leavesOut(file relative: [UInt8], _ leftOut: inout LeftOutEntries) -> Bool {
    if !includes.isEmpty {
      let matching = includes.indices.filter { includes[$0].matches(relative, isDirectory: false) }
      if matching.isEmpty { return true }
      leftOut.usedIncludes?.formUnion(matching)
    }
    return excludes.contains { $0.matches(relative, isDirectory: false) }
  }
}

/// How many entries were found but not listed.
public struct LeftOutEntries: Hashable, Sendable {
  /// Names that begin with a dot.
  public var hidden = 0
  /// Symbolic links.
  public var links = 0
  /// FIFOs, sockets and devices.
  public var special = 0
  /// Files and directories that patterns leave out.
  public var excluded = 0
  /// Directories that a list names. The files in them are not listed: a list stands only for the files that it names.
  public var directories = 0
  /// Further names of files that were listed before: each file is listed once.
  public var repeated = 0

  /// Which of ``ListingOptions/includes`` a file matched; nil if there are none, or if a manifest names the files.
  package var usedIncludes: Set<Int>?

  /// Nothing was left out.
  public init() {}
}
