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
  enum Ending: Sendable {
    /// A request made the collection after the file was refused.
    case made
    /// The server says that the collection was there already: another program may have made it meanwhile.
    case wasThere
    /// Nothing was asked: the file needs no collection, or the run ends.
    case nothing
    /// The result of the request that should have made it.
    case problem(TransferResult)
  }

  /// Sends a request; nil if none begins any more.
  typealias Send = @Sendable (TransferRequest) async -> TransferResult?

  fileprivate struct State {
    /// The collections that are being made, by their keys.
    var begun: [String: Task<Ending, Never>] = [:]
    /// The collections that are there, and since when that is known.
    var there: [String: (isMade: Bool, since: ContinuousClock.Instant)] = [:]
    /// The collections that the server refuses for good.
    var refused: [String: TransferResult] = [:]
  }

  /// How many collections are remembered. One that is forgotten costs another request, to which the server responds 405.
  fileprivate static let maximumRemembered = 65_536
  /// How many refusals are remembered. They contain the server's responses.
  fileprivate static let maximumRefused = 256

  private let state = Guarded(State())

  /// Makes the collections that the file of a refused request needs.
  ///
  /// - Parameters:
  ///   - request: the request that was refused.
  ///   - begun: when the request began. A collection that was there before then has been removed since, or the server refuses
  ///     the file for another reason.
  func make(
    for request: TransferRequest, begun: ContinuousClock.Instant, _ send: @escaping Send
  ) async -> Ending {
    guard let parent = CollectionURL(parentOf: request.url) else { return .nothing }
    return await make(parent, begun: begun, like: request, send)
  }

  private func make(
    _ collection: CollectionURL, begun: ContinuousClock.Instant, like request: TransferRequest,
    _ send: @escaping Send
  ) async -> Ending {
    let key = collection.key
    enum Known {
      case ending(Ending)
      case task(Task<Ending, Never>)
    }
    let known = state.withLock { state -> Known in
      if let result = state.refused[key] { return .ending(.problem(result)) }
      if let task = state.begun[key] { return .task(task) }
      if let known = state.there[key], known.since >= begun { return .ending(known.isMade ? .made : .wasThere) }
      // A collection that was known to be there before may have been removed by another program.
      state.there[key] = nil
      let task = Task { [self] in
        let ending = await makeNow(collection, begun: begun, like: request, send)
        self.state.withLock { $0.note(ending, of: key) }
        return ending
      }
      state.begun[key] = task
      return .task(task)
    }
    switch known {
    case .ending(let ending): return ending
    case .task(let task): return await task.value
    }
  }

  private func makeNow(
    _ collection: CollectionURL, begun: ContinuousClock.Instant, like request: TransferRequest,
    _ send: @escaping Send
  ) async -> Ending {
    let asking = request.making(collection)
    let first = Ending(await send(asking))
    // §9.3.1: "A collection cannot be made at the Request-URI until one or more intermediate collections have been created."
    guard case .problem(let result) = first, result.isRefused(with: [404, 409]),
      let parent = CollectionURL(parentOf: collection.url)
    else { return first }
    switch await make(parent, begun: begun, like: request, send) {
    case .made, .wasThere: return Ending(await send(asking))
    case .nothing: return .nothing
    case .problem(let problem): return .problem(problem)
    }
  }
}

extension Collections.Ending {
  /// - Parameter result: the result of the request that makes a collection; nil if it was not sent.
  fileprivate init(_ result: TransferResult?) {
    guard let result else {
      self = .nothing
      return
    }
    // RFC 4918 §9.3.1: "405 (Method Not Allowed) - MKCOL can only be executed on an unmapped URL."
    self = result.outcome != .ok ? .problem(result) : result.status == 405 ? .wasThere : .made
  }
}

extension Collections.State {
  /// Notes how the request for a collection has ended.
  fileprivate mutating func note(_ ending: Collections.Ending, of key: String) {
    begun[key] = nil
    switch ending {
    case .made, .wasThere:
      if there.count >= Collections.maximumRemembered { there = [:] }
      let isMade = if case .made = ending { true } else { false }
      there[key] = (isMade: isMade, since: ContinuousClock.now)
    // A parent that is missing, or locked, may be there, or free, for the next file.
    case .problem(let result) where result.isFinalRefusal:
      if refused.count >= Collections.maximumRefused { refused = [:] }
      refused[key] = result
    case .problem, .nothing: break
    }
  }
}

extension TransferRequest {
  /// Whether a file with this request was perhaps not stored because its parent collection is missing, and may be put again as it
  /// is. In place of 409, some servers respond 404. nginx responds 500, which says nothing about the file: so the request must
  /// be one that may be repeated after it has been carried out. One with a condition may not: the file that it has stored itself
  /// would fail the condition.
  func mayLackParent(_ result: TransferResult) -> Bool {
    result.isRefused(with: [404, 409])
      || result.isRefused(with: [500]) && !headers.fields.contains { $0.name.lowercased().hasPrefix("if-") }
  }
}

extension TransferResult {
  /// Whether the server refuses a collection itself, and not this one request.
  fileprivate var isFinalRefusal: Bool {
    outcome == .failed && isRefused(with: Set(400...499).subtracting([404, 408, 409, 421, 423, 425, 429]))
  }

  fileprivate func isRefused(with statuses: Set<Int>) -> Bool {
    error?.code == .statusRefused && status.map(statuses.contains) == true
  }
}

/// The URL of a collection. It ends in a slash, and has the query of the file's URL, which may hold a signature.
private struct CollectionURL {
  let url: HTTPURL
  /// The same for all files of the collection, whose queries may differ.
  let key: String

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
    (self.url, key) = (url, parent)
  }
}

extension TransferRequest {
  /// The request that makes a collection, with the headers and credentials of this request.
  fileprivate func making(_ collection: CollectionURL) -> TransferRequest {
    var request = self
    (request.method, request.url, request.body) = (.makeCollection, collection.url, nil)
    // These are about the file: its contents, and the conditions under which it is stored.
    for field in headers where Self.isAboutFile(field.name.lowercased()) { request.headers.remove(field.name) }
    // RFC 4918 §9.3.1: 201 if the collection is made, and 405 if it is there already. Making it twice does no harm. After a
    // redirect, 405 might be about another resource.
    request.options.acceptedStatuses = [200, 201, 204, 405]
    request.options.redirects.limit = 0
    request.options.retry.retriesUnsafe = true
    request.options.requestTarget = nil
    (request.options.idempotencyKey, request.options.resuming) = (nil, nil)
    (request.options.resumption, request.options.noteResumeData) = (.none, nil)
    (request.options.sendsDigest, request.options.bodyCoding) = (false, .none)
    return request
  }
  /// - Parameter name: the name of a header, in lower case.
  private static func isAboutFile(_ name: String) -> Bool {
    name.hasPrefix("content-") || name.hasPrefix("if-")
      || [
        "digest", "repr-digest", "expect", "range", "trailer", "transfer-encoding", "oc-checksum", "x-oc-mtime",
        "x-amz-content-sha256",
      ].contains(name)
  }
}
