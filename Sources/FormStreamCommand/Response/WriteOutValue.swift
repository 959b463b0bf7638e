import FormStreamMultipart
import FormStreamJSON
import FormStreamHTTP

/// A request that has ended, for `-w`.
struct EndedRequest {
  let result: TransferResult
  /// How many bytes of the response's body arrived.
  let received: Int64
  /// How many bytes of the body were passed on. If the body was compressed, this is more than arrived.
  let delivered: Int64
  /// The stored file of the response; nil if the response was not stored.
  let file: LocalPath?
  /// The exit code of the command because of the request.
  let exit: ExitCode
  let message: String?
  /// The heads of all responses.
  let heads: [UInt8]
  /// Which request of the command it is, from 0.
  let number: Int
  /// The Referer header that the request sent.
  let referer: String?
  /// Whether the server sent a file that `-z` excludes.
  var isUnmodified = false

  /// The status; 0 if there is none. As in curl, it is 304 for a file that `-z` excludes.
  fileprivate var status: Int { isUnmodified ? 304 : result.status ?? 0 }
}

/// A value that `-w` can print, with curl's name and meaning.
enum WriteOutValue: String, CaseIterable {
  case contentType = "content_type"
  case errorMessage = "errormsg"
  case exitCode = "exitcode"
  case file = "filename_effective"
  case headers = "header_json"
  case status = "http_code"
  case version = "http_version"
  case json
  case localAddress = "local_ip"
  case localPort = "local_port"
  case method
  case connections = "num_connects"
  case headerCount = "num_headers"
  case redirects = "num_redirects"
  case retries = "num_retries"
  case redirectURL = "redirect_url"
  case referer
  case remoteAddress = "remote_ip"
  case remotePort = "remote_port"
  case responseCode = "response_code"
  case scheme
  case sizeOfDelivered = "size_delivered"
  case sizeOfDownload = "size_download"
  case sizeOfHeads = "size_header"
  case sizeOfUpload = "size_upload"
  case speedOfDownload = "speed_download"
  case speedOfUpload = "speed_upload"
  case certificateCheck = "ssl_verify_result"
  case timeOfHandshake = "time_appconnect"
  case timeOfConnect = "time_connect"
  case timeOfLookup = "time_namelookup"
  case timeOfReadiness = "time_pretransfer"
  case timeOfFirstByte = "time_starttransfer"
  case time = "time_total"
  case url
  case effectiveURL = "url_effective"
  case number = "urlnum"

  func text(of request: EndedRequest) -> String {
    switch self {
    case .status, .responseCode:
      let digits = String(request.status)
      return String(repeating: "0", count: max(3 - digits.utf8.count, 0)) + digits
    default:
      if let time = time(of: request.result) {
        let millionths = Self.millionths(time)
        let fraction = String(millionths % 1_000_000)
        return "\(millionths / 1_000_000)."
          + String(repeating: "0", count: max(6 - fraction.utf8.count, 0)) + fraction
      }
      switch json(of: request) {
      case .string(let text): return text
      case .null: return ""
      case let value: return value.description
      }
    }
  }

  /// The value as a time; nil if the value is not a time. A step that didn't happen took no time.
  private func time(of result: TransferResult) -> Duration? {
    let last = result.metrics
    switch self {
    case .timeOfLookup: return last?.lookup ?? .zero
    case .timeOfConnect: return last?.connect ?? .zero
    case .timeOfHandshake: return last?.handshake ?? .zero
    case .timeOfReadiness: return last?.ready ?? .zero
    case .timeOfFirstByte: return last?.firstByte ?? .zero
    case .time: return result.duration
    default: return nil
    }
  }

  /// The value in `%{json}`.
  private func json(of request: EndedRequest) -> JSONValue {
    let result = request.result
    let headers = result.response?.headers
    switch self {
    case .contentType: return .string(orNull: headers?["Content-Type"])
    case .errorMessage: return .string(orNull: request.message)
    case .exitCode: return .integer(Int64(request.exit.rawValue))
    case .file: return .string(orNull: request.file?.description)
    case .headers: return Self.object(of: headers ?? HTTPHeaders())
    case .status, .responseCode: return .integer(Int64(request.status))
    case .version: return .string(result.response?.version ?? "0")
    case .json:
      return .object(
        Self.allCases.filter { $0 != .json && $0 != .headers }
          .map { JSONValue.Member($0.rawValue, $0.json(of: request)) })
    case .method: return .string(result.method.description)
    case .connections: return .integer(Int64(result.newConnections))
    case .number: return .integer(Int64(request.number))
    case .referer: return .string(orNull: request.referer)
    case .headerCount: return .integer(Int64(headers?.fields.count ?? 0))
    case .redirects: return .integer(Int64(result.redirects))
    case .retries: return .integer(Int64(max(result.attempts - 1, 0)))
    case .sizeOfDelivered: return .integer(request.delivered)
    case .sizeOfDownload: return .integer(request.received)
    case .sizeOfHeads: return .integer(Int64(request.heads.count))
    case .sizeOfUpload: return .integer(result.bytesSent)
    case .speedOfDownload: return Self.rate(request.received, result.duration)
    case .speedOfUpload: return Self.rate(result.bytesSent, result.duration)
    case .localAddress: return .string(result.metrics?.local?.address ?? "")
    case .localPort: return .integer(Int64(result.metrics?.local?.port ?? 0))
    case .remoteAddress: return .string(result.metrics?.remote?.address ?? "")
    case .remotePort: return .integer(Int64(result.metrics?.remote?.port ?? 0))
    case .redirectURL: return .string(orNull: result.redirectTarget)
    case .scheme: return .string((result.response?.url ?? result.url).origin.scheme.uppercased())
    // OpenSSL's codes: 0 is X509_V_OK, 1 is X509_V_ERR_UNSPECIFIED.
    case .certificateCheck: return .integer(result.isServerVerified == false ? 1 : 0)
    case .timeOfLookup, .timeOfConnect, .timeOfHandshake, .timeOfReadiness, .timeOfFirstByte,
      .time:
      return .millionths(Self.millionths(time(of: result) ?? .zero))
    case .url: return .string(result.url.completeText)
    case .effectiveURL: return .string(result.effectiveURL)
    }
  }

  /// An object with each name in lowercase and a list of its values.
  private static func object(of headers: HTTPHeaders) -> JSONValue {
    var members: [JSONValue.Member] = []
    var places: [String: Int] = [:]
    for field in headers.fields {
      let name = field.name.lowercased()
      if let place = places[name] {
        let earlier = members[place].value.elements ?? []
        members[place].value = .array(earlier + [.string(field.value)])
      } else {
        places[name] = members.count
        members.append(JSONValue.Member(name, .array([.string(field.value)])))
      }
    }
    return .object(members)
  }

  private static func millionths(_ duration: Duration) -> Int64 {
    let (seconds, attoseconds) = duration.components
    return seconds * 1_000_000 + attoseconds / 1_000_000_000_000
  }

  /// Bytes a second.
  private static func rate(_ bytes: Int64, _ duration: Duration) -> JSONValue {
    let seconds = Double(millionths(duration)) / 1e6
    return .integer(rounding: seconds > 0 ? Double(bytes) / seconds : 0)
  }
}

extension TransferResult {
  /// Where the response came from. The URL of an upload is a secret, but nothing else names a file that a tus server has stored, so
  /// a script that asks for it gets it.
  fileprivate var effectiveURL: String {
    guard let response, response.url.isSecret, !url.isSecret else { return (response?.url ?? url).completeText }
    return response.url.absoluteString
  }

  /// Where the final response redirects to; nil if it does not. A script needs the complete URL.
  fileprivate var redirectTarget: String? {
    guard let response, (300...399).contains(response.status),
      let location = response.headers["Location"], !location.isEmpty
    else { return nil }
    // The Location may repeat a URL that is secret as a whole.
    guard !response.url.isSecret else {
      return (try? response.url.resolving(location))?.description
    }
    return response.url.completeText(resolving: location) ?? location
  }
}
