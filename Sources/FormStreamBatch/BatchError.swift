import FormStreamMultipart
public import FormStreamPlatform

/// An error in listing files, or in a manifest, journal or report. It says what failed, on what, and what to do about it.
public struct BatchError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The kind of failure. The set is open: later versions add to it.
  public struct Code: RawRepresentable, Hashable, Sendable {
    /// The code as written in records.
    public let rawValue: String

    /// Wraps the text of a code.
    public init(rawValue: String) {
      self.rawValue = rawValue
    }

    /// Uses the code that ``MultipartError`` has for the same failure.
    private init(_ code: MultipartError.Code) { rawValue = code.rawValue }

    /// The file does not exist.
    public static let inputMissing = Code(.inputMissing)
    /// The file or directory exists but can't be read.
    public static let inputUnreadable = Code(.inputUnreadable)
    /// The file can't be read to compare it with what earlier runs sent. The server has it, or may have it, so it is not sent,
    /// and the next round compares it again.
    public static let notCompared = Code(rawValue: "not-compared")
    /// This process, or the system, has too many files open. The file is not at fault: try again.
    public static let tooManyOpenFiles = Code(rawValue: "too-many-open-files")
    /// The path names something other than a regular file.
    public static let notAFile = Code(.notAFile)
    /// The path, or a link on the path, leads out of the directory that was to be sent.
    public static let outsideRoot = Code(rawValue: "outside-root")
    /// A link leads to a directory that contains it.
    public static let linkLoop = Code(rawValue: "link-loop")
    /// Directories are nested too deep to be listed.
    public static let nestedTooDeep = Code(.nestedTooDeep)
    /// Fewer files were listed than there must be.
    public static let tooFewFiles = Code(rawValue: "too-few-files")
    /// The file is not the one that the manifest or the listing describes.
    public static let sourceChanged = Code(.sourceChanged)
    /// A list of paths can't be read.
    public static let listUnreadable = Code(rawValue: "list-unreadable")
    /// Reading a list failed before its end.
    public static let readFailed = Code(.readFailed)
    /// A list has a path that is too long.
    public static let listMalformed = Code(rawValue: "list-malformed")
    /// A pattern for names is not valid.
    public static let invalidPattern = Code(rawValue: "invalid-pattern")
    /// A template has an unknown name in braces, or the text that a template makes for a file can't be used.
    public static let invalidTemplate = Code(rawValue: "invalid-template")
    /// A file can't be sent in one request with other files, or there are too many files for one request.
    public static let notPackable = Code(rawValue: "not-packable")
    /// The request for a file was not completed because of another file in the same request.
    public static let requestCutShort = Code(rawValue: "request-cut-short")
    /// A folder on the server that a file needs could not be made. The status and the response are those of the request that
    /// should have made it.
    public static let folderNotMade = Code(rawValue: "folder-not-made")
    /// A manifest can't be read.
    public static let manifestUnreadable = Code(rawValue: "manifest-unreadable")
    /// A manifest is not valid.
    public static let manifestMalformed = Code(rawValue: "manifest-malformed")
    /// Two settings of a batch contradict each other, or one is missing.
    public static let invalidSettings = Code(rawValue: "invalid-settings")
    /// The number of the shard, or the count of shards, is not valid or not known.
    public static let invalidShard = Code(rawValue: "invalid-shard")
    /// A journal can't be read.
    public static let journalUnreadable = Code(rawValue: "journal-unreadable")
    /// A journal is not valid, or belongs to another manifest.
    public static let journalMalformed = Code(rawValue: "journal-malformed")
    /// The directory of the journals can't be made or opened.
    public static let journalUnusable = Code(rawValue: "journal-unusable")
    /// Others can write to a journal, which names the URL of an upload that would go on.
    public static let journalNotTrusted = Code(rawValue: "journal-not-trusted")
    /// The directory of the journals would itself be sent, or it contains the journals of another listing or
    /// of runs to another URL.
    public static let journalMisplaced = Code(rawValue: "journal-misplaced")
    /// Another run is writing the manifest in the directory of the journals at the moment.
    public static let journalInUse = Code(rawValue: "journal-in-use")
    /// The task that starts a batch was cancelled. Programs get a `CancellationError` instead.
    static let cancelled = Code(rawValue: "cancelled")
    /// A manifest, journal or report could not be written.
    public static let writeFailed = Code(rawValue: "write-failed")
  }

  /// The kind of failure.
  public let code: Code
  /// What the failure is about: a path, a pattern, a shard.
  public let subject: String
  /// A sentence that says what failed and what to do.
  public var description: String { message.description }
  /// The sentence of ``description``, with the settings in it as values instead of text.
  package let message: Message
  /// The failed system call's error, if there was one.
  public let underlying: SystemError?

  package init(
    _ code: Code, on subject: String, _ message: Message, underlying: SystemError? = nil
  ) {
    self.code = code
    self.subject = subject
    self.message = message
    self.underlying = underlying
  }
}
