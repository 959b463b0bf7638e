import FormStreamHTTP
import FormStreamMultipart
import FormStreamPlatform

/// The collections (folders) that a run makes on a WebDAV server for the files that it puts there.
///
/// RFC 4918 §9.7.1: "A PUT that would result in the creation of a resource without an appropriately scoped parent collection MUST
/// fail with a 409 (Conflict)." So nothing is asked before a file is refused, and the refused file can be put again.
///
/// Requests that need the same collection wait for one request that makes it.
final class Collections: Sendable {
  /// Why a collection is not there: the result of the request that should have made it.
  typealias Problem = TransferResult

  private struct State {
    /// The collections that are being made, by their URLs.
    var begun: [String: Task<Problem?, Never>] = [:]
    /// The collections that are there.
    var there: Set<String> = []
  }

  /// How many collections are remembered. One that is forgotten costs another request, to which the server responds 405.
  private static let maximumRemembered = 65_536

  private let state = Guarded(State())

  /// Makes the collections that the file of a refused request needs.
  ///
  /// - Parameters:
  ///   - request: the request that was refused.
  ///   - send: sends a request.
  /// - Returns: nil if they are there now.
  func make(
    for request: TransferRequest, _ send: @escaping @Sendable (TransferRequest) async -> TransferResult
  ) async -> Problem? {
    guard let parent = CollectionURL(parentOf: request.url) else { return nil }
    return await make(parent, like: request, send)
  }

  private func make(
    _ collection: CollectionURL, like request: TransferRequest,
    _ send: @escaping @Sendable (TransferRequest) async -> TransferResult
  ) async -> Problem? {
    let key = collection.url.absoluteString
    let task = state.withLock { state -> Task<Problem?, Never>? in
      if state.there.contains(key) { return nil }
      if let task = state.begun[key] { return task }
      let task = Task { [self] in
        let problem = await makeNow(collection, like: request, send)
        self.state.withLock { state in
          state.begun[key] = nil
          guard problem == nil else { return }
          if state.there.count >= Self.maximumRemembered { state.there = [] }
          state.there.insert(key)
        }
        return problem
      }
      state.begun[key] = task
      return task
    }
    return await task?.value
  }

  private func makeNow(
    _ collection: CollectionURL, like request: TransferRequest,
    _ send: @escaping @Sendable (TransferRequest) async -> TransferResult
  ) async -> Problem? {
    let asking = request.making(collection)
    let result = await send(asking)
    // §9.3.1: "A collection cannot be made at the Request-URI until one or more intermediate collections have been created."
    guard result.isRefused(with: [404, 409]), let parent = CollectionURL(parentOf: collection.url) else {
      return result.outcome == .ok ? nil : result
    }
    if let problem = await make(parent, like: request, send) { return problem }
    let again = await send(asking)
    return again.outcome == .ok ? nil : again
  }
}

extension TransferResult {
  /// Whether the server refused a file, perhaps because its parent collection is missing. In place of 409, some servers respond
  /// 404, and nginx responds 500. A PUT may be sent again after each of them.
  var mayLackParent: Bool { isRefused(with: [404, 409, 500]) }

  fileprivate func isRefused(with statuses: Set<Int>) -> Bool {
    error?.code == .statusRefused && status.map(statuses.contains) == true
  }
}

/// The URL of a collection. It ends in a slash, and has the query of the file's URL, which may hold a signature.
private struct CollectionURL {
  let url: HTTPURL

  /// The collection that contains a resource; nil if this is the root.
  init?(parentOf resource: HTTPURL) {
    let text = resource.absoluteString
    let path = text.prefix { $0 != "?" && $0 != "#" }
    // The first three pieces are the scheme, an empty piece, and the host.
    var pieces = path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
    // A collection ends in a slash: its last piece is empty.
    while pieces.last?.isEmpty == true { pieces.removeLast() }
    guard pieces.count > 4 else { return nil }
    let parent = pieces.dropLast().map { String(Substring($0)) }.joined(separator: "/")
    let query = text.dropFirst(path.count).prefix { $0 != "#" }
    guard var url = try? HTTPURL(withPathAsIs: "\(parent)/\(query)") else { return nil }
    url.isSecret = resource.isSecret
    self.url = url
  }
}

extension TransferRequest {
  /// The request that makes a collection, with the headers and credentials of this request.
  fileprivate func making(_ collection: CollectionURL) -> TransferRequest {
    var request = self
    (request.method, request.url, request.body) = (.makeCollection, collection.url, nil)
    // These are about the file: its contents, and the conditions under which it is stored.
    for field in headers {
      let name = field.name.lowercased()
      if name.hasPrefix("content-") || name.hasPrefix("if-") || name == "digest" || name == "expect" {
        request.headers.remove(field.name)
      }
    }
    // RFC 4918 §9.3.1: 405 if the collection is there already. Making it twice does no harm.
    request.options.acceptedStatuses = Set(200...299).union([405])
    request.options.retry.retriesUnsafe = true
    (request.options.idempotencyKey, request.options.resuming) = (nil, nil)
    (request.options.resumption, request.options.noteResumeData) = (.none, nil)
    (request.options.sendsDigest, request.options.bodyCoding) = (false, .none)
    return request
  }
}
