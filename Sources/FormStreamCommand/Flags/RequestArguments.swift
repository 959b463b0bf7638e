import FormStreamHTTP

/// The arguments about a request: its body, its delivery and its response.
struct RequestArguments {
  /// The values of `-T`.
  var uploads: [Argument] = []
  /// The type of the files of `-T`; nil if it was not typed.
  var uploadType: Argument?
  /// Whether `[ ] { }` are not special in the values of `-T`, and in the URLs of `get`.
  var isGlobbingOff = false
  var data: [DataArgument] = []
  var json: [Argument] = []

  var method: Argument?
  /// `-G`: whether the data goes into the URL.
  var putsDataIntoURL = false
  /// `-I`: whether only the head of the response is asked for.
  var asksForHead = false
  /// `--path-as-is`: whether `.` and `..` stay in the paths of URLs.
  var keepsPath = false
  /// `--request-target`: what stands in the request line in place of the URL's path and query.
  var requestTarget: Argument?
  /// Whether `--proto` allows only https.
  var requiresHTTPS = false
  /// Header lines, and files of header lines, in the order in which they were typed.
  var headers: [HeaderArgument] = []
  var userAgent: Argument?
  var query: [Argument] = []
  /// The data of `--url-query`.
  var queryData: [DataArgument] = []
  private(set) var credentials: CredentialsArgument?
  /// The scheme for user and password; nil if none was typed.
  private(set) var passwordScheme: PasswordScheme?
  var usesNetrc = false
  var isNetrcOptional = false
  /// The netrc file, in place of `~/.netrc`.
  var netrcFile: Argument?
  var allowsInsecureAuth = false
  /// The values of `-b`: cookies, and files of cookies.
  var cookies: [Argument] = []
  /// `-j`: whether session cookies, which have no expiry date, are left out when a file of cookies
  /// is read.
  var skipsSessionCookies = false
  /// Where cookies are written at the end.
  var cookieJar: Argument?
  /// The file that contains a secret URL.
  var urlFile: Argument?
  var idempotencyKey: Argument?
  var expectation = ExpectMode.auto
  var continueTimeout: Duration?
  /// How many bytes of a pipe are read before the request.
  var readAhead = 1 << 20

  /// The options of requests and sessions that need no further planning.
  var options = TransferOptions()
  var session = TransferSession.Configuration()
  /// The version of TLS that `--tlsv1.2` or `--tlsv1.3` demands; nil if neither was typed.
  private(set) var minimumTLSVersion: TLSSettings.Version?
  var pinnedKeys: Argument?
  private(set) var passphrase: PassphraseArgument?
  var proxy = ProxyArguments()

  /// The value of `--max-redirs`.
  var redirectLimit: Int?
  /// Whether `--retry` was typed.
  var isRetryGiven = false
  var responseLimit: Int?
  var outputsAnyStatus = false
  /// `-f`: whether the response of a refused request is not printed.
  var hidesRefused = false
  /// `-i`: whether the heads of responses come before the body.
  var includesHeads = false
  /// The file for the heads of responses.
  var headFile: Argument?
  /// The format of `-w`.
  var writeOut: Argument?
  /// `-s`. With `-S`, which sets `showsErrors`, it does not hide why a request failed.
  var isSilent = false
  var showsErrors = false
  var isQuiet = false
  var isVerbose = false
  var progress = ProgressMode.auto
  var printsCurlLine = false
  var isDryRun = false

  /// Whether a request is sent. If not, standard input is not read.
  var isSent: Bool { !isDryRun && !printsCurlLine }

  mutating func set(_ credentials: CredentialsArgument) throws(Failure) {
    if self.credentials != nil {
      throw .usage(
        "-u, --user-file, --token-file, --token-env and --oauth2-bearer all set the credentials: give one of them."
      )
    }
    self.credentials = credentials
  }

  mutating func set(_ scheme: PasswordScheme, of flag: String) throws(Failure) {
    if let passwordScheme, passwordScheme != scheme {
      throw .usage(
        "\(flag) and another flag both name the scheme of the password: give one of them.")
    }
    passwordScheme = scheme
  }

  mutating func demand(_ version: TLSSettings.Version) {
    (minimumTLSVersion, session.tls.minimumVersion) = (version, version)
  }

  mutating func set(_ passphrase: PassphraseArgument) throws(Failure) {
    if self.passphrase != nil {
      throw .usage(
        "--pass, --pass-file and what follows the colon of --cert all set the passphrase: give one of them, once."
      )
    }
    self.passphrase = passphrase
  }

  /// Fails if flags contradict each other.
  ///
  /// - Parameter keepsResponse: whether the record contains the response's body.
  func check(keepsResponse: Bool) throws(Failure) {
    if isDryRun, printsCurlLine {
      throw .usage("--dry-run and --to-curl print two different things: choose one of them.")
    }
    if responseLimit != nil, !keepsResponse {
      throw .usage(
        "--max-response limits the response's body in the record of --json: without --json, or with -o, the "
          + "complete body is written.")
    }
    if session.tls.key != nil, session.tls.certificate == nil {
      throw .usage("--key is the key of a certificate, and there is none: add --cert FILE.")
    }
    if passphrase != nil, session.tls.certificate == nil {
      throw .usage(
        "The passphrase is that of a certificate's key, and there is none: add --cert FILE.")
    }
  }
}

/// One piece of data, with curl's meaning of the flag.
struct DataArgument {
  enum Kind {
    /// `-d`: text, or a file without its line breaks.
    case text
    /// `--data-raw`: text, even if it begins with `@`.
    case raw
    /// `--data-binary`: text, or an unchanged file.
    case binary
    /// `--data-urlencode`: a name, and content that is encoded.
    case encoded
  }

  let kind: Kind
  let argument: Argument
}

/// A header as it was typed.
enum HeaderArgument {
  case line(Argument)
  /// A file of secret header lines.
  case file(Argument)
}

/// The credentials of a request, as they were typed.
enum CredentialsArgument {
  case user(Argument)
  case userFile(Argument)
  case token(Argument)
  case tokenFile(Argument)
  /// The name of a variable of the environment.
  case tokenVariable(Argument)
}

/// The value of `--expect`.
enum ExpectMode: String, CaseIterable, CustomStringConvertible {
  case auto, always, never

  var description: String { rawValue }
}
