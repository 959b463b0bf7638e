public import FormStreamMultipart

extension Receiver {
  /// How a receiver is set up.
  public struct Configuration: Sendable {
    /// The address to listen at: numeric IPv4 or IPv6 (without brackets), or `localhost`. `::` is all that
    /// there are, of both kinds.
    public var address = "127.0.0.1"
    /// The port; 0 takes one that is free.
    public var port: UInt16 = 0
    /// A certificate and its key; plain HTTP without.
    public var tls: TLSIdentity?
    /// What a client has to know: `Authorization: Bearer TOKEN`, or Basic with any user and the token for its
    /// password, which browsers ask people for.
    public var token: String?
    /// Whether SHA-256 is made of each part.
    public var makesDigests = true
    /// How names in forms are known to be escaped; they stand as they came where nil. See ``ContentDisposition``.
    public var escaping: EscapingProfile?
    /// Whether a page for uploading is served at `/`.
    public var servesPage = true
    /// How much a client may ask for.
    public var limits = Limits()

    /// A receiver at 127.0.0.1, at a port that is free.
    public init() {}
  }

  /// A certificate (with what stands between it and the root) and its key, as PEM text.
  public struct TLSIdentity: Hashable, Sendable {
    /// The certificates, the server's own first.
    public var certificate: String
    /// The private key, not encrypted.
    public var key: String

    /// A certificate and its key.
    public init(certificate: String, key: String) {
      self.certificate = certificate
      self.key = key
    }
  }

  /// How much a client may ask for. What goes past a limit is refused at once.
  public struct Limits: Hashable, Sendable {
    /// The most bytes in a request's body; no limit where nil.
    public var body: Int64?
    /// The most bytes in a request's head.
    public var head = 16 * 1024
    /// What a form may ask for: parts, headers, and so on.
    public var form: FormParser.Limits
    /// The most bytes of a text field that are kept for the record and not given to the handler; what is
    /// longer is the handler's.
    public var textField = 64 * 1024
    /// The most bytes of all text fields of a request that are kept.
    public var allTextFields = 256 * 1024
    /// The most connections at once; others wait to be accepted. Each has a thread, and up to half a megabyte of
    /// memory while a body comes fast; the record of a form that makes use of all limits takes about thirty,
    /// until its answer was read.
    public var connections = 256
    /// How long a connection may be without a request, and how long a request's head may take in all.
    public var headTime = Duration.seconds(30)
    /// How long a body may be silent; `minimumRate` is measured over as long.
    public var idleTime = Duration.seconds(60)
    /// The fewest bytes a second in which a body may come. Who keeps to it may keep a connection, and with a few
    /// hundred of these all others out, for as long as `body` lasts: that is a proxy's to see to.
    public var minimumRate = 100
    /// How long a client may take to read the answer.
    public var responseTime = Duration.seconds(60)

    /// The limits that are used unless others are given.
    public init() {
      form = FormParser.Limits()
      form.allHeaders = 512 * 1024
    }
  }
}

extension Receiver.Configuration {
  /// Whether only programs of this machine can reach it.
  package var isLoopbackOnly: Bool {
    address == "localhost" || address == "::1" || address.hasPrefix("127.")
  }
}
