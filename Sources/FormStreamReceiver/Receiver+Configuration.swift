public import FormStreamMultipart
import FormStreamPlatform

extension Receiver {
  /// The settings of a receiver.
  public struct Configuration: Sendable {
    /// The address to listen on: a numeric IPv4 or IPv6 address (without brackets), or `localhost`. `::` means all
    /// addresses of both kinds.
    public var address = "127.0.0.1"
    /// The port; 0 means any free port.
    public var port: UInt16 = 0
    /// A certificate and its key; nil means plain HTTP.
    public var tls: TLSIdentity?
    /// The token that clients must send, as `Authorization: Bearer TOKEN`, or as the password of Basic authentication
    /// with any user name. Browsers prompt for this password. Nil means that no token is required. Printing the
    /// settings does not show the token.
    public var token: String? {
      get { hiddenToken.value }
      set { hiddenToken.value = newValue }
    }
    private var hiddenToken = Hidden<String?>(nil)
    /// Whether each part gets a SHA-256 digest.
    public var makesDigests = true
    /// How clients escape names in forms; nil leaves names as they are sent. See ``/FormStreamMultipart/ContentDisposition``.
    public var escaping: EscapingProfile?
    /// Whether a page for uploads is served at `/`.
    public var servesPage = true
    /// Responds to GET and HEAD requests, for example with JSON in a test of a client; if it returns nil, the page for uploads is
    /// served, or there is nothing at the URL. It is called from many threads at once, for requests that may see the page. If it
    /// throws an ``UploadRefusal``, the refusal is sent; for any other error, the status is 500.
    public var respondToGet: (@Sendable (UploadRequest) throws -> UploadResponse?)?
    /// The options of the page for uploads. The page always names the limits.
    public var page = Page()
    /// The limits for clients.
    public var limits = Limits()
    /// The options of resumable uploads; nil if no upload is resumable.
    public var resumableUploads: ResumableUploads?

    /// Settings for a receiver on any free port of 127.0.0.1.
    public init() {}
  }

  /// The options of the page for uploads.
  public struct Page: Hashable, Sendable {
    /// The owner of the machine that the files go to, such as `anna on sunbox`; nil if the page should not name the owner.
    public var owner: String?
    /// Whether directories can be chosen and dropped. Their files are sent one by one, each with its path as its file
    /// name; to keep the directories, use a handler that keeps paths.
    public var takesDirectories = false

    /// A page that names no owner, and takes files only.
    public init() {}
  }

  /// A certificate chain and its key, as PEM text.
  public struct TLSIdentity: Hashable, Sendable {
    /// The server's certificate, followed by the intermediate certificates.
    public var certificate: String
    /// The private key, not encrypted. Printing the identity does not show it.
    public var key: String {
      get { hiddenKey.value }
      set { hiddenKey.value = newValue }
    }
    private var hiddenKey: Hidden<String>

    /// Creates an identity.
    public init(certificate: String, key: String) {
      self.certificate = certificate
      hiddenKey = Hidden(key)
    }
  }

  /// The limits for clients. A request that exceeds a limit is refused at once.
  public struct Limits: Hashable, Sendable {
    /// The most bytes in a request's body; nil means no limit.
    public var body: Int64?
    /// The most bytes in a URL-encoded body. Larger bodies must be sent as forms, or by PUT.
    public var urlEncodedBody: Int64 = 16 * 1024 * 1024
    /// The most bytes in a request's head.
    public var head = 16 * 1024
    /// The limits for forms: parts, headers, and so on.
    public var form: FormParser.Limits
    /// The most bytes of a text field that are kept for the record. Longer fields are passed to the handler instead.
    public var textField = 64 * 1024
    /// The most bytes of all text fields of a request that are kept.
    public var allTextFields = 256 * 1024
    /// The most connections at once. There may be fewer if too few files can be open: each connection needs a socket and a
    /// file. Further clients wait to be accepted. If a client waits, the receiver closes a connection. Its first choice is the
    /// connection that has been idle for longest. Its second choice is the connection whose client has been reading its
    /// response for longest. Its third choice is the connection whose body arrives most slowly below `minimumRate`. Each
    /// connection has a thread, and uses up to half a megabyte of memory while a body arrives fast.
    public var connections = 256
    /// The most connections of one address at once; for IPv6, of one network of 64 bits. If the address has this many
    /// connections, and none of them is idle or slow, requests on further connections are refused with 503 (`overloaded`).
    /// Nil means three quarters of `connections`. Clients on this machine may then have all `connections`, because a proxy
    /// may run here.
    public var connectionsPerAddress: Int?
    /// About how many bytes of memory the records of all requests in progress may take together. A form whose parts and
    /// texts need more is refused with 503 (`overloaded`). The first 256 KiB of each request don't count.
    public var allRecords = 192 * 1024 * 1024
    /// How long a connection may be idle between requests, and how long a request's head may take. The smallest value of
    /// `headTime`, `idleTime` and `responseTime` is 10 milliseconds. A time limit may be enforced late: by 10 milliseconds,
    /// or by an eighth of the shortest of the three, but at most by a second.
    public var headTime = Duration.seconds(30)
    /// How long a client may pause while it sends a body or reads a response. `minimumRate` is measured over the same time.
    public var idleTime = Duration.seconds(60)
    /// The lowest rate at which a client may send a body or read responses, in bytes a second. A faster client may keep its
    /// connection until `body` is reached. If such clients use all connections, no other client is served.
    public var minimumRate = 100
    /// How long a client may take to read the response.
    public var responseTime = Duration.seconds(60)

    /// The default limits.
    public init() {
      form = FormParser.Limits()
      form.allHeaders = 512 * 1024
    }
  }
}

extension Receiver.Configuration {
  /// Whether only programs on this machine can connect.
  package var isLoopbackOnly: Bool {
    address == "localhost" || AddressKind(address) == .loopback
  }
}

extension Receiver.Limits {
  /// The smallest time limit. The limits are checked no more often than this.
  static let leastTime = Duration.milliseconds(10)

  /// These limits without values that make no sense: at least one connection, durations that can be enforced, of at most a
  /// hundred years, and no negative numbers.
  var bounded: Receiver.Limits {
    var limits = self
    limits.body = body.map { max($0, 0) }
    limits.urlEncodedBody = max(urlEncodedBody, 0)
    (limits.head, limits.textField) = (max(head, 0), max(textField, 0))
    (limits.allTextFields, limits.allRecords) = (max(allTextFields, 0), max(allRecords, 0))
    limits.connections = max(connections, 1)
    limits.connectionsPerAddress = connectionsPerAddress.map { max($0, 1) }
    limits.minimumRate = max(minimumRate, 0)
    limits.headTime = max(headTime.bounded, Self.leastTime)
    limits.idleTime = max(idleTime.bounded, Self.leastTime)
    limits.responseTime = max(responseTime.bounded, Self.leastTime)
    return limits
  }
}
