import FormStream
import FormStreamPlatform
import FormStreamTestSupport
import FormStreamTransfer
import Testing

/// Responses to a request that offers the server to keep what arrives. Regression: if the client couldn't use the upload's URL, any
/// response was `ok`, even one that says that the upload is not complete.
struct UploadOfferTests {
  private static let bytes = noise(2000)
  private static let interop = ("Upload-Draft-Interop-Version", "8")

  /// Where the upload is, as the server says.
  private enum Place: String, CaseIterable { case none, elsewhere, responseOf200, usable }

  private struct Cell {
    var place: Place
    var status: Int
    var isComplete: String?
    var offset: String?
    var length: String?
  }

  private static let cells: [Cell] = {
    var cells: [Cell] = []
    for place in Place.allCases {
      for status in [200, 201, 204, 303] {
        for isComplete in [nil, "?0", "?1"] {
          for (offset, length) in [(nil, nil), ("2000", "2000"), ("1000", nil), (nil, "3000"), ("0", "2000")] {
            cells.append(Cell(place: place, status: status, isComplete: isComplete, offset: offset, length: length))
          }
        }
      }
    }
    return cells
  }()

  @Test func `a response that denies the upload, or is about other bytes, is no success`() async throws {
    let other = try ScriptedServer { _ in [.readBody, .respond(200, headers: [("Upload-Complete", "?1")])] }
    let server = try ScriptedServer { [url = other.url] request in
      let parts = request.target.split(separator: "/")
      guard parts.first == "form", let number = parts.last.flatMap({ Int($0) }) else {
        return request.method == "GET" ? [.respond(200)] : [.respond(500)]
      }
      let cell = Self.cells[number]
      let location = cell.place == .none ? nil : ("Location", cell.place == .elsewhere ? "\(url)/u" : "/u")
      let headers = [
        cell.isComplete.map { ("Upload-Complete", $0) }, cell.offset.map { ("Upload-Offset", $0) },
        cell.length.map { ("Upload-Length", $0) }, cell.place == .usable ? nil : location,
      ].compactMap(\.self)
      let isInterim = cell.place == .usable || cell.place == .elsewhere
      let interim = isInterim ? [ScriptedStep.informational(104, headers: [location, Self.interop].compactMap(\.self))] : []
      return interim + [.readBody, .respond(cell.status, headers: headers)]
    }
    let session = try makeSession()
    var lies: [String] = []
    for (number, cell) in Self.cells.enumerated() {
      var request = try makeRequest("\(server.url)/form/\(number)", .bytes(Self.bytes), attempts: 1)
      request.options.resumption = .http
      let result = await session.result(of: request)
      let isTruth = cell.isComplete != "?0" && [nil, "2000"].contains(cell.offset) && [nil, "2000"].contains(cell.length)
      // Without a Location, a 303 names no page.
      let isPage = cell.status != 303 || cell.place == .elsewhere || cell.place == .responseOf200
      let expected: [TransferResult.Outcome] =
        isTruth
        ? [isPage ? .ok : .failed] : cell.isComplete == "?0" ? [cell.place == .usable ? .retryable : .failed] : [.unknown]
      // A 201 with a Location at the same server names an upload.
      let also: [TransferResult.Outcome] =
        cell.status == 201 && cell.place == .responseOf200 && cell.isComplete == "?0" ? [.retryable] : []
      if !(expected + also).contains(result.outcome) {
        lies.append("\(cell): \(result.outcome), \(result.error?.description ?? "")")
      }
    }
    #expect(lies == [], "\(lies.count) of \(Self.cells.count): \(lies.prefix(20).joined(separator: "\n"))")
    #expect(other.connectionCount == 0)
  }

  /// RFC 9651 §4.2: a field that can't be parsed is "treated as if the field were not present". A field that says `?0` among other
  /// things is not taken for that: the server denies the upload.
  @Test(arguments: [200, 201, 204])
  func `a field that says yes and no is no success`(status: Int) async throws {
    let cells: [([String], TransferResult.Outcome)] = [
      (["garbage"], .ok), (["1"], .ok), (["?1, ?1"], .ok), (["?0, ?1"], .unknown), (["?1, ?0"], .unknown),
      (["?0", "?1"], .unknown), (["?1", "?0"], .unknown), (["?0, ?0"], .unknown), (["?1;a=1,?0;b"], .unknown),
    ]
    let server = try ScriptedServer { request in
      let number = request.target.split(separator: "/").last.flatMap { Int($0) } ?? 0
      return [.readBody, .respond(status, headers: cells[number].0.map { ("Upload-Complete", $0) })]
    }
    for (number, cell) in cells.enumerated() {
      var request = try makeRequest("\(server.url)/\(number)", .bytes(Self.bytes), attempts: 1)
      request.options.resumption = .http
      let result = try await makeSession().result(of: request)
      #expect(result.outcome == cell.1, "\(cell.0): \(String(describing: result.error))")
    }
  }

  /// A limit of no redirects was the obstacle, and hid that the upload is at another server.
  @Test(arguments: [UploadResumption.http, .httpCreatedFirst, .tus])
  func `no limit for redirects hides another server`(resumption: UploadResumption) async throws {
    let other = try ScriptedServer { _ in [.readBody, .respond(200, headers: [("Upload-Complete", "?1")])] }
    let server = try ScriptedServer { [url = other.url] request in
      let location = ("Location", "\(url)/u")
      guard request.bodyCount == 0, request.header("Content-Length") != "0" else {
        return [.readBody, .respond(201, headers: [location])]
      }
      return [.informational(104, headers: [location, Self.interop]), .readBody(upTo: 100), .reset]
    }
    var request = try makeRequest(server.url, .bytes(Self.bytes), attempts: 3)
    request.options.resumption = resumption
    request.options.redirects.limit = 0
    let result = try await makeSession().result(of: request)
    #expect(result.outcome != .ok && other.connectionCount == 0)
  }

  /// The first of several pieces: before its last byte, an upload can't be carried out.
  @Test func `a piece without a readable response leaves no doubt`() async throws {
    let ends: [(ScriptedStep, TransferResult.Outcome)] = [
      (.reset, .retryable), (.finish, .retryable), (.send("no response\r\n\r\n"), .failed),
      (.send("HTTP/1.1 204 No Content\r\nUpload-"), .retryable),
      (.respond(204, headers: [("Upload-Complete", "?0"), ("Upload-Offset", "0")]), .retryable),
    ]
    for resumption in [UploadResumption.httpCreatedFirst, .tus] {
      for (end, outcome) in ends {
        let server = try ScriptedServer { request in
          guard request.method == "PATCH" else { return [.readBody, .respond(201, headers: [("Location", "/u")])] }
          return [.readBody, end, .close]
        }
        var request = try makeRequest(server.url, .bytes(Self.bytes), attempts: 1)
        request.options.resumption = resumption
        request.options.resumption.pieceSize = 1000
        let result = try await makeSession().result(of: request)
        #expect(result.outcome == outcome, "\(end): \(String(describing: result.error))")
      }
    }
  }

  /// It said that nobody knows whether the upload was carried out.
  @Test func `an upload that the server says is not complete can be sent again`() async throws {
    let nothing = [("Upload-Complete", "?0"), ("Upload-Offset", "0")]
    let server = try ScriptedServer { request in
      switch request.method {
      case "POST": [.readBody, .respond(201, headers: [("Location", "/u")])]
      case "HEAD": [.respond(204, headers: nothing)]
      default: [.readBody, .respond(204, headers: nothing)]
      }
    }
    var request = try makeRequest(server.url, .bytes(Self.bytes), attempts: 2)
    request.options.resumption = .httpCreatedFirst
    let result = try await makeSession().result(of: request)
    #expect(result.outcome == .retryable, "\(String(describing: result.error))")
  }
}
