import FormStreamPlatform
import FormStreamDigest
import FormStreamMultipart

/// The arguments of `get` about where responses go.
struct DownloadArguments {
  /// Where the response from one URL goes.
  enum Output {
    /// The value of `-o`.
    case file(Argument)
    /// `-O`: a file with the name at the end of the URL.
    case remoteName

    var flag: String { if case .file = self { "-o" } else { "-O" } }
  }

  /// The outputs of the first URL, the second, and so on.
  var outputs: [Output] = []
  /// `--remote-name-all`: whether `-O` applies to each URL that has no output of its own.
  var namesAll = false
  /// Whether the server names the files that are not named by `-o`.
  var usesServerNames = false
  /// The directory for relative names of files.
  var directory: Argument?
  var makesDirectories = false
  var resumes = false
  /// The first byte that is asked for: the value of `-C N`. Nil without `-C N`, or if N is 0.
  var firstByte: Int64?
  /// The value of `--range`.
  var givenRange: RequestedRange?
  /// Which bytes are asked for; nil for all.
  var range: RequestedRange? { givenRange ?? firstByte.map { .from($0, to: nil) } }
  /// The flag that chooses the range.
  var rangeFlag: String { givenRange == nil ? "-C" : "--range" }
  /// The value of `-z`.
  var condition: Argument?
  /// Whether a file gets the time of the server's Last-Modified.
  var setsTime = false
  /// Whether no file is replaced.
  var keepsExisting = false
  /// Whether a URL is not requested if its file exists.
  var skipsExisting = false
  /// Whether an incomplete file is removed if the download fails.
  var removesOnError = false
  /// The digests of the first URL, the second, and so on.
  var digests: [SHA256Digest] = []
  /// The words that were typed for the digests.
  var digestArguments: [Argument] = []

  /// Whether each URL of a list gets a file of its own.
  var namesLists: Bool {
    namesAll || usesServerNames || outputs.contains { if case .remoteName = $0 { true } else { false } }
  }

  /// The path of a file. A relative name is relative to the directory of `--output-dir`.
  func path(of name: [UInt8]) -> LocalPath {
    guard let directory, name.first != UInt8(ascii: "/") else { return LocalPath(bytes: name) }
    return LocalPath(bytes: directory.bytes + [UInt8(ascii: "/")] + name)
  }
}
