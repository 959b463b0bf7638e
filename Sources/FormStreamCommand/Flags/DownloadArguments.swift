import FormStreamDigest

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
  var range: RequestedRange?
  /// For the first URL, the second, and so on.
  var digests: [SHA256.Digest] = []
}
