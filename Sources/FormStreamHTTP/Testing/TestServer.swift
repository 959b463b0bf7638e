import FormStreamPlatform

/// The server of a session whose requests a test answers. It has a socket for each scheme, because the requests themselves
/// don't say whether their URL begins with `https`.
final class TestServer: Sendable {
  let answer: TransferSession.Answer
  private let listeners: [String: LocalListener]
  private let state = Guarded(State())

  private struct State {
    var connections: [ObjectIdentifier: TestConnection] = [:]
    var requests: [TestRequest] = []
    var isStopped = false
  }

  init(_ answer: @escaping TransferSession.Answer) throws(TransferError) {
    self.answer = answer
    do throws(SystemError) {
      listeners = ["http": try LocalListener(), "https": try LocalListener()]
    } catch {
      throw .noTestServer(error)
    }
    for (scheme, listener) in listeners {
      guard startThread("formstream-test", { [self] in accept(from: listener, scheme) }) else {
        stop()
        throw .noThread
      }
    }
  }

  /// The abstract name of the socket for requests to URLs with this scheme.
  func socketName(for scheme: String) -> String? { listeners[scheme]?.name }

  /// The requests that have arrived, in order.
  var requests: [TestRequest] { state.withLock(\.requests) }

  /// Gives a request its number, and remembers it.
  func note(_ make: (_ number: Int) -> TestRequest) -> TestRequest {
    state.withLock { state in
      let request = make(state.requests.count + 1)
      state.requests.append(request)
      return request
    }
  }

  /// Ends all connections, and accepts no more.
  func stop() {
    for listener in listeners.values { listener.stop() }
    let connections = state.withLock { state in
      state.isStopped = true
      return Array(state.connections.values)
    }
    for connection in connections { connection.stop() }
  }

  private func accept(from listener: LocalListener, _ scheme: String) {
    while let accepted = listener.accept() {
      let connection = TestConnection(accepted, scheme: scheme, of: self)
      let id = ObjectIdentifier(connection)
      let isWanted = state.withLock { state in
        guard !state.isStopped else { return false }
        state.connections[id] = connection
        return true
      }
      let isStarted =
        isWanted
        && startThread("formstream-test") { [self] in
          connection.serve()
          state.withLock { $0.connections[id] = nil }
        }
      if !isStarted {
        connection.stop()
        state.withLock { $0.connections[id] = nil }
      }
    }
  }
}

extension TransferError {
  static func noTestServer(_ error: SystemError) -> TransferError {
    TransferError(
      .engineFailed, on: "the test's socket",
      "The socket for requests that a test answers can't be made: \(error).", underlying: error)
  }

  static func testRequestBrokeOff(_ url: HTTPURL) -> TransferError {
    TransferError(
      .connectionLost, on: url.description,
      "The body of the request to \(url) is not complete: the request broke off, or was not read while it was answered.")
  }
}
