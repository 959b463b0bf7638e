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

  /// For the first URL, the second, and so on.
  var outputs: [Output] = []
  /// Whether all URLs without an output of their own have a file with the name at their end.
  var namesAll = false
  /// Whether the server names the files that are not named by `-o`.
  var usesServerNames = false
  /// The directory of relative names.
  var directory: Argument?
  var makesDirectories = false
  var resumes = false
  /// The first byte that is asked for, of `-C N`; nil if that is the first of all.
  var firstByte: Int64?
  /// The value of `--range`.
  var givenRange: RequestedRange?
  /// Which bytes are asked for; nil for all.
  var range: RequestedRange? { givenRange ?? firstByte.map { .from($0, to: nil) } }
  /// The flag that chooses them.
  var rangeFlag: String { givenRange == nil ? "-C" : "--range" }
  /// The value of `-z`.
  var condition: Argument?
  /// Whether a file gets the time at which the server changed it last.
  var setsTime = false
  /// Whether no file is replaced.
  var keepsExisting = false
  /// Whether what has arrived of a file is removed if the download fails.
  var removesOnError = false
  /// For the first URL, the second, and so on.
  var digests: [SHA256Digest] = []
  /// The words that were typed for the digests.
  var digestArguments: [Argument] = []

  /// A file in the directory of `--output-dir`.
  func path(of name: [UInt8]) -> LocalPath {
    guard let directory, name.first != UInt8(ascii: "/") else { return LocalPath(bytes: name) }
    return LocalPath(bytes: directory.bytes + [UInt8(ascii: "/")] + name)
  }
}
