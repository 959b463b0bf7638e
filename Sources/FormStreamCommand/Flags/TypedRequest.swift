import FormStreamTransfer

/// What was typed of a request: what it carries, how it goes out, and what is done with its answer.
struct TypedRequest {
  var upload: Argument?
  var data: [TypedData] = []
  var json: Argument?

  var method: Argument?
  /// Header lines and files of them, in order.
  var headers: [TypedHeader] = []
  var userAgent: Argument?
  var query: [Argument] = []
  var credentials: TypedCredentials?
  var idempotencyKey: Argument?
  var expectation = ContinuePolicy.automatic
  var continuePatience: Duration?

  /// All that a session and a request take as it was typed.
  var options = TransferOptions()
  var session = TransferSession.Configuration()

  var answerLimit: Int?
  var isQuiet = false
  var isVerbose = false
  var progress = ProgressMode.auto
  var printsCurlLine = false
}

/// One piece of data, as curl's `-d` and its kin take it.
struct TypedData {
  enum Kind {
    /// `-d`: text, or a file without its line breaks.
    case text
    /// `--data-raw`: text, whatever it begins with.
    case raw
    /// `--data-binary`: text, or a file as it is.
    case binary
    /// `--data-urlencode`: a name and what is to be encoded.
    case encoded
  }

  let kind: Kind
  let argument: Argument
}

/// A header as it was typed.
enum TypedHeader {
  case line(Argument)
  /// A file of secret header lines.
  case file(Argument)
}

/// Who sends a request, as it was typed.
enum TypedCredentials {
  case user(Argument)
  case userFile(Argument)
  case tokenFile(Argument)
}
