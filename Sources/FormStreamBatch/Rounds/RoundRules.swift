/// What a run with a journal sends, if the run before has gone through all its files.
public struct RoundRules: Hashable, Sendable {
  /// Whether such a run lists the files again, and sends those that are new or have changed. Otherwise, it only sends what is
  /// left of the last round.
  public var beginsRounds = true
  /// Whether a file is compared by its contents, if an earlier round knows its digest. Otherwise, it is compared by size and
  /// time.
  public var comparesContents = false
  /// Whether files that are unchanged and were accepted are sent again.
  public var sendsAll = false

  /// New and changed files are sent. Files are compared by size and time.
  public init() {}
}
