// Tests code that uploads, without a network: a function answers the requests.

import FormStreamTransfer
import Foundation
import Testing

/// The code that is tested.
struct PhotoStore {
  let session: TransferSession

  func add(_ photo: String) async throws -> String {
    let form = Form { Part.file("photo", photo) }
    let request = try TransferRequest(.post, "https://photos.example/in", body: .form(form))
    let result = await session.result(of: request)
    switch result.outcome {
    case .ok: return "stored as \(result.response?.text ?? "")"
    case .unknown: return "ask the server"
    case .retryable: return "later"
    case .failed, .sourceChanged, .cancelled: return "never: \(result.status ?? 0)"
    }
  }
}

@Suite final class PhotoStoreTests {
  let photo = NSTemporaryDirectory() + "sunset-\(UUID()).jpg"

  init() throws { try Data("a photo".utf8).write(to: URL(filePath: photo)) }

  deinit { try? FileManager.default.removeItem(atPath: photo) }

  @Test func photoArrivesAndIsNamed() async throws {
    let session = try TransferSession { request in
      guard request.method == .post, request.path == "/in" else { return .status(404) }
      let form = try await request.form()
      guard form["photo"]?.text == "a photo" else { return .status(400) }
      return .text("7.jpg", status: 201)
    }
    #expect(try await PhotoStore(session: session).add(photo) == "stored as 7.jpg")
    #expect(session.answeredRequests.map(\.url.absoluteString) == ["https://photos.example/in"])
  }

  /// A server that refuses, one that is overloaded, and one that is gone after it has read the form.
  @Test func outcomesDecideWhatComesNext() async throws {
    let answers: [(TransferSession.Answer, String)] = [
      ({ _ in .status(403) }, "never: 403"),
      ({ _ in .status(503) }, "later"),
      (
        { request in
          _ = try await request.body()
          return .lost
        }, "ask the server"
      ),
    ]
    for (answer, expected) in answers {
      let session = try TransferSession(answering: answer)
      #expect(try await PhotoStore(session: session).add(photo) == expected)
    }
  }
}
