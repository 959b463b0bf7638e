// The program of docs/post-from-swift.md: posts a photo with a token, and says what became of it.
//
//     TOKEN=secret upload https://example.org/photos "A sunset" sunset.jpg

import FormStreamTransfer
import Foundation

struct Photo: Decodable {
  let id: String
  let url: URL
}

struct Problem: Decodable {
  let title: String
}

func say(_ line: String) {
  FileHandle.standardError.write(Data("\(line)\n".utf8))
}

func upload(_ path: String, titled title: String, to url: String, token: String) async throws {
  let session = try TransferSession()
  var options = TransferOptions()
  options.requiresEncryptionForCredentials = true
  options.retry = RetryPolicy(attempts: 3)

  let form = Form {
    Part.text("title", title)
    Part.file("photo", path)  // its type is detected from its extension
  }
  let response = try await session.post(
    url, form: form, credentials: .bearer(token), options: options
  ) { progress in say("\(Int((progress.fraction ?? 0) * 100)) %") }
  let photo = try response.decoded(as: Photo.self)
  print(photo.id, photo.url)
}

func explanation(of error: TransferError) -> String {
  switch error.outcome {
  case .ok: return "The server has the photo, but its answer can't be read: \(error)"
  case .unknown: return "The server may have the photo: look before you send it again. \(error)"
  case .retryable: return "Try again later: \(error)"
  case .sourceChanged: return "The file changed while it was sent: send it again."
  case .cancelled: return "Cancelled."
  case .failed, nil: return error.decodedError(as: Problem.self)?.title ?? error.description
  }
}

let arguments = CommandLine.arguments
guard arguments.count == 4, let token = ProcessInfo.processInfo.environment["TOKEN"] else {
  say("usage: TOKEN=secret \(arguments[0]) URL TITLE FILE")
  exit(64)
}
do {
  try await upload(arguments[3], titled: arguments[2], to: arguments[1], token: token)
} catch let error as TransferError {
  say(explanation(of: error))
  exit(1)
}
