public import FormStreamMultipart

/// Which files are listed.
public struct ListingOptions: Sendable {
  /// Whether files and directories whose names begin with a dot are listed, if they were found in a directory. A path
  /// that is named is listed anyway.
  public var includesHidden = false
  /// Whether links are followed. A link that leads out of the directory that was named is an error of that entry.
  public var followsLinks = false
  /// If there are any, only files that match one of them are listed. They don't apply to files that are named directly.
  public var includes: [NamePattern] = []
  /// Files and directories that match one of them are left out, even if they match one of ``includes``. They don't
  /// apply to what is named directly.
  public var excludes: [NamePattern] = []
  /// Whether a path that is named directly may be missing: it becomes an entry that can't be sent.
  public var keepsGoing = false
  /// Where the names of many files are remembered, in a file without a name, to list each file once.
  public var temporaryDirectory: LocalPath = "/tmp"
  /// The directory of the journals, which is left out: its files change while they would be sent.
  package var journals: FileIdentity?

  /// Lists all files that are not hidden, and follows no links.
  public init() {}
}

extension ListingOptions {
  /// Whether a directory below the root is left out, with everything in it.
  func leavesOut(directory relative: [UInt8]) -> Bool {
    excludes.contains { $0.matches(relative, isDirectory: true) }
  }

  /// Whether a file below the root is left out.
  func leavesOut(file relative: [UInt8]) -> Bool {
    !includes.isEmpty && !includes.contains { $0.matches(relative, isDirectory: false) }
      || excludes.contains { $0.matches(relative, isDirectory: false) }
  }
}

/// How many entries were found and not listed.
public struct LeftOutEntries: Hashable, Sendable {
  /// Names that begin with a dot.
  public var hidden = 0
  /// Symbolic links.
  public var links = 0
  /// FIFOs, sockets and devices.
  public var special = 0
  /// Files and directories that patterns leave out.
  public var excluded = 0
  /// Directories that a list names: only the files that it names are listed.
  public var directories = 0
  /// Names of files that were named before: each file is listed once.
  public var repeated = 0

  /// Nothing was left out.
  public init() {}
}
