import FormStream
import Foundation
import FormStreamTestSupport
import Testing
import FormStreamTransfer

/// All failures, over all ways to a server, with all kinds of bodies.
@Suite(.serialized) struct FaultMatrixTests {
  enum Fault: String, CaseIterable, Sendable {
    case closeBeforeBody, resetInBody, silence, stall, early413, early200

    var steps: [ScriptedStep] {
      switch self {
      case .closeBeforeBody: [.close]
      case .resetInBody: [.continueIfExpected, .readBody(upTo: 100_000), .reset]
      case .silence: [.continueIfExpected, .readBody, .close]
      case .stall: [.readBody(upTo: 1000), .stall]
      case .early413:
        [.readBody(upTo: 1000), .respond(413, headers: [("Connection", "close")]), .close]
      case .early200:
        [.readBody(upTo: 1000), .respond(200, headers: [("Connection", "close")]), .close]
      }
    }

    /// More than all buffers on the route hold, for servers that don't read all of it.
    var size: Int { self == .silence ? 1 << 20 : 24 << 20 }
  }

  enum Kind: String, CaseIterable, Sendable {
    case file, bytes, once, slow, onceUnknown, slowUnknown

    var isKnown: Bool { self != .onceUnknown && self != .slowUnknown }
    var isOnce: Bool { self == .once || self == .onceUnknown }
  }

  private func body(_ kind: Kind, _ size: Int, _ place: TemporaryDirectory) throws -> TransferBody {
    let length = kind.isKnown ? Int64(size) : nil
    switch kind {
    case .file: return .file(try place.sparse("file", size: Int64(size)))
    case .bytes: return .bytes([UInt8](repeating: 7, count: size))
    case .once, .onceUnknown:
      return .part(.stream(length: length, replay: .once) { SlowSource(size, pause: .zero) })
    case .slow, .slowUnknown:
      return .part(.stream(length: length) { SlowSource(size, pause: .microseconds(100)) })
    }
  }

  @Test(arguments: [Route.plain, .tlsProxy, .nginxHTTP2], Fault.allCases)
  func `no failure is reported as a success, and what may have arrived is unknown`(
    route: Route, fault: Fault
  ) async throws {
    let place = try TemporaryDirectory()
    let server = try ScriptedServer { _ in fault.steps }
    var options = RealServer.Options()
    options.closesWithoutResponse = true
    let setting = try RouteSetup(route, to: server, options)
    for kind in Kind.allCases {
      let size = fault.size
      let begun = server.requests.count
      let complete = server.completeBodyCount
      var request = try TransferRequest(.post, setting.url, body: body(kind, size, place))
      request.options.retry = RetryPolicy(attempts: 2)
      request.options.retry.baseDelay = .milliseconds(1)
      request.options.expectation = .never
      if fault == .stall { request.options.timeLimits.stall = .milliseconds(200) }
      let result = await setting.session.result(of: request)
      let about = Comment(
        rawValue: "\(kind): \(result.outcome) \(String(describing: result.error))")
      let arrived = server.completeBodyCount - complete

      #expect(result.outcome != .ok && result.outcome != .cancelled, about)
      #expect(result.error != nil, about)
      if result.status == nil, arrived > 0 { #expect(result.outcome == .unknown, about) }
      if fault == .silence { #expect(arrived == 1 && result.attempts == 1, about) }
      if fault == .early413, route == .plain { #expect(result.status == 413, about) }
      // An attempt that read nothing doesn't use up a body that can be read once.
      if kind.isOnce { #expect(result.totalBytesSent == result.bytesSent, about) }
      let count = server.requests.count - begun
      #expect(route.isProxied ? count <= result.attempts : count == result.attempts, about)
      if route == .plain {
        // Only what may have arrived is unknown.
        let mayBeThere = kind.isKnown && result.bytesSent == Int64(size) || fault == .silence
        #expect((result.outcome == .unknown) == (mayBeThere || result.status == 200), about)
      }
      #expect(
        result.framing
          == (route == .nginxHTTP2 ? .http2 : kind.isKnown ? .contentLength : .chunked),
        about)
    }
    // nginx resets connections that it can't finish.
    #expect(server.faults(except: .cutShort).isEmpty)
  }
}
