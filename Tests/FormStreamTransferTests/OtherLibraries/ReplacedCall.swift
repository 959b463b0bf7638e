import FormStreamPlatform
import FormStreamTestSupport
import FormStreamTransfer
import Foundation
import Testing

/// A row of docs/coming-from-other-libraries.md: a call of another library, and ours, which is run.
struct ReplacedCall: Sendable, CustomTestStringConvertible {
  /// Runs our call, and checks what arrived.
  typealias Run =
    @Sendable (
      _ session: TransferSession, _ url: String, _ photo: String, _ server: ScriptedServer
    ) async throws -> Void

  /// The row's first cell.
  let there: String
  let script: ScriptedServer.Script
  let run: Run
  var testDescription: String { there }

  /// A call to a server that accepts everything, unless the row has a script.
  init(
    _ there: String,
    answering script: @escaping ScriptedServer.Script = { _ in .good(body: #"{"id":"7"}"#) }, _ run: @escaping Run
  ) {
    (self.there, self.script, self.run) = (there, script, run)
  }

  /// Runs the call with a new server, and a photo that contains `sunset`.
  func check() async throws {
    let place = try TemporaryDirectory()
    let photo = try place.write("sunset.jpg", "sunset").description
    let server = try ScriptedServer(script: script)
    try await run(try makeSession(), server.url + "/a", photo, server)
    #expect(server.faults.isEmpty, "\(server.faults)")
  }
}

struct Order: Encodable {
  let item: String
}

struct Photo: Decodable {
  let id: String
}

/// What was shown, in order.
final class Shown: Sendable {
  private let list = Guarded<[Double?]>([])
  var last: Double? { list.withLock { $0.last ?? nil } }
  func show(_ fraction: Double?) { list.withLock { $0.append(fraction) } }
}

extension ScriptedServer {
  /// The last request that arrived.
  var last: RecordedRequest {
    get throws { try #require(requests.last) }
  }

  /// Sends a form with this part, and expects its header lines and its body.
  func expectArrival(
    of part: Part, _ expected: String, by session: TransferSession, sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    try await session.post(url, form: Form(boundary: Boundary("B"), parts: [part]))
    #expect(try last.bodyText == "--B\r\n\(expected)\r\n--B--\r\n", sourceLocation: sourceLocation)
  }
}

extension ScriptedServer {
  /// Sends a request over TLS to a server whose certificate is self-signed, and expects this error.
  func expectRefusedCertificate(
    _ code: TransferError.Code, _ configuration: TransferSession.Configuration,
    sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    let certificates = try TestCertificates()
    let proxy = try TLSProxy(to: port, certificates.selfSigned)
    let session = try TransferSession(configuration)
    let result = await session.result(of: try TransferRequest(.get, proxy.url))
    #expect(result.error?.code == code, sourceLocation: sourceLocation)
    #expect(requests.isEmpty, sourceLocation: sourceLocation)
    withExtendedLifetime(certificates) {}
  }
}

/// A part as it arrives: a file of `sunset`.
func photoPart(filename: String, _ contents: String = "sunset") -> String {
  "Content-Disposition: form-data; name=\"photo\"; filename=\"\(filename)\"\r\n"
    + "Content-Type: image/jpeg\r\n\r\n\(contents)"
}
