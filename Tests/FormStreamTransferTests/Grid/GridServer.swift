import FormStream
import FormStreamPlatform
import FormStreamTestSupport

/// The server of one cell. It plays one play for each attempt, and knows what it did.
final class GridServer: Sendable {
  /// What the server did with one attempt.
  struct Deed: Sendable {
    var play: GridPlay
    /// The value of the header `Mark` of its response.
    var mark: String
    /// The request, by its number; nil if none arrived.
    var request: Int?
    /// Whether the request had arrived completely when the response was sent.
    var wasComplete = false
    /// Whether the response was sent.
    var hasResponded = false
  }

  /// A request, as far as it arrived.
  struct Request: Sendable {
    var isComplete: Bool
    var body: [UInt8]
    var bodyCount: Int
  }

  struct Settings: Sendable {
    var transport: GridCell.Transport
    /// What it does with each attempt. It responds 299 to all others.
    var plays: [GridPlay]
    /// Whether the first request of the first connection only makes the connection.
    var keepsConnection: Bool
    /// What it does on the kept connection after that.
    var idle: GridPlay?
    /// How many bytes are read before it acts in the middle of a body.
    var inBody: Int
    /// Cancels the request.
    var cancel: @Sendable () -> Void
  }

  struct State: Sendable {
    var deeds: [Deed] = []
    /// The attempt that a connection belongs to.
    var connections: [Int: Int] = [:]
  }

  private enum Wire {
    case http1(ScriptedServer)
    case http2(ScriptedHTTP2Server)
  }

  let settings: Settings
  /// Opened when the kept connection is idle: something happens there.
  let isIdle: Gate
  /// Opened when the client has nothing more to say: what is silent until then reads the rest.
  let isOver: Gate
  private let state = Guarded(State())
  private let wire: Wire

  init(on address: LoopbackAddress, _ settings: Settings) throws {
    self.settings = settings
    isIdle = try Gate()
    isOver = try Gate()
    let script = GridScript(settings: settings, state: state, isIdle: isIdle, isOver: isOver)
    wire =
      settings.transport == .http2
      ? .http2(try script.http2Server(on: address)) : .http1(try script.http1Server(on: address))
  }

  var port: UInt16 {
    switch wire {
    case .http1(let server): server.port
    case .http2(let server): server.port
    }
  }

  var url: String {
    switch wire {
    case .http1(let server): server.url
    case .http2(let server): server.url
    }
  }

  /// What no client should have done.
  var faults: [WireFault] {
    switch wire {
    case .http1(let server): server.faults(except: .cutShort)
    case .http2(let server): server.faults
    }
  }

  func startListening(_ isListening: Bool) {
    switch wire {
    case .http1(let server): isListening ? server.startListening() : server.stopListening()
    case .http2(let server): isListening ? server.startListening() : server.stopListening()
    }
  }

  /// Waits until all connections have ended.
  func waitForEnds() -> Bool {
    isOver.open()
    return switch wire {
    case .http1(let server): server.waitForEnds(0)
    case .http2(let server): server.waitForEnds(0)
    }
  }

  /// Prepares for the next attempt, before the client makes it.
  func prepareForNext() {
    // A refused attempt is noticed by nobody but the client.
    noteRefused(attempts: 1)
    let next = state.withLock { state in
      state.deeds.count < settings.plays.count ? settings.plays[state.deeds.count] : nil
    }
    startListening(next?.moment != .connect)
  }

  /// Notes that the attempts that nobody else noticed were refused.
  func noteRefused(attempts: Int) {
    state.withLock { state in
      let plays = settings.plays
      while state.deeds.count < min(attempts, plays.count),
        plays[state.deeds.count].moment == .connect
      {
        state.deeds.append(Deed(play: plays[state.deeds.count], mark: "refused"))
      }
    }
  }

  /// What it did with each attempt that it noticed, and the request that it received.
  var attempts: [(deed: Deed, request: Request?)] {
    let deeds = state.withLock { $0.deeds }
    switch wire {
    case .http1(let server):
      let requests = server.requests
      return deeds.map { deed in
        let request = deed.request.map { requests[$0] }
        return (
          deed,
          request.map {
            Request(isComplete: $0.bodyIsComplete, body: $0.body, bodyCount: $0.bodyCount)
          }
        )
      }
    case .http2(let server):
      let requests = server.requests
      return deeds.map { deed in
        var deed = deed
        let request = deed.request.map { requests[$0] }
        deed.hasResponded = request?.responseStatus != nil
        deed.wasComplete = request?.wasCompleteAtResponse == true
        return (
          deed,
          request.map {
            Request(isComplete: $0.isComplete, body: $0.body, bodyCount: $0.bodyCount)
          }
        )
      }
    }
  }
}
