extension TransferSession {
  /// Sends the requests of a sequence, and returns their results in the order in which they end.
  ///
  /// ```swift
  /// for await (index, result) in session.results(of: requests, limit: 8) { print(files[index], result.outcome) }
  /// ```
  ///
  /// A request is taken from the sequence when its turn comes. So memory doesn't grow with the number of requests, if the
  /// sequence makes them one by one, such as `files.lazy.map`. If the loop is left, or its task is cancelled, the requests that
  /// are being sent are cancelled, and no others are taken.
  ///
  /// - Parameters:
  ///   - requests: the requests. The sequence is iterated where the loop runs.
  ///   - limit: how many requests are sent at the same time, and how many results wait for the loop; at least one. The
  ///     session's own limits hold, too: see ``Configuration/maximumConnectionsPerHost``.
  public func results<Requests: Sequence<TransferRequest>>(
    of requests: Requests, limit: Int
  ) -> TransferResults<Requests> {
    TransferResults(session: self, requests: requests, limit: max(limit, 1))
  }
}

/// The results of many requests, in the order in which they end; see ``TransferSession/results(of:limit:)``.
public struct TransferResults<Requests: Sequence<TransferRequest>>: AsyncSequence {
  /// A result, and the place of its request in the sequence, from 0.
  public typealias Element = (index: Int, result: TransferResult)
  /// A failed request has a result, too.
  public typealias Failure = Never

  let session: TransferSession
  let requests: Requests
  let limit: Int

  /// Sends the requests again with each iterator.
  public func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(session: session, limit: limit, requests: requests.makeIterator())
  }

  /// Sends the requests, and waits for their results.
  public struct AsyncIterator: AsyncIteratorProtocol {
    let session: TransferSession
    let limit: Int
    var requests: Requests.Iterator
    private let started = StartedRequests()
    private var count = 0

    init(session: TransferSession, limit: Int, requests: Requests.Iterator) {
      self.session = session
      self.limit = limit
      self.requests = requests
    }

    /// The next result; nil after the last. The call stays on the caller's actor.
    public mutating func next(
      isolation actor: isolated (any Actor)? = #isolation
    ) async -> Element? {
      while !Task.isCancelled, started.mayStart(limit), let request = requests.next() {
        started.start(request, number: count, in: session)
        count += 1
      }
      return await started.next(isolation: actor)
    }
  }
}
