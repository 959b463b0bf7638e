// Posts files in a form with URLSession: `urlsession-upload URL FILE...`. URLSession of this Foundation can't send a
// form's parts from where they are, so the form is written to a temporary file first.

import Foundation
import FoundationNetworking

/// Writes a form of files, and returns its boundary.
func writeForm(of files: [String], to target: URL) throws -> String {
  let boundary = "URLSession-\(UUID().uuidString)"
  _ = FileManager.default.createFile(atPath: target.path, contents: nil)
  let form = try FileHandle(forWritingTo: target)
  defer { try? form.close() }
  for path in files {
    let name = URL(filePath: path).lastPathComponent
    try form.write(
      contentsOf: Data(
        """
        --\(boundary)\r
        Content-Disposition: form-data; name="file"; filename="\(name)"\r
        Content-Type: application/octet-stream\r
        \r\n
        """.utf8))
    let file = try FileHandle(forReadingFrom: URL(filePath: path))
    defer { try? file.close() }
    while let piece = try file.read(upToCount: 1 << 18), !piece.isEmpty {
      try form.write(contentsOf: piece)
    }
    try form.write(contentsOf: Data("\r\n".utf8))
  }
  try form.write(contentsOf: Data("--\(boundary)--\r\n".utf8))
  return boundary
}

func post(_ files: [String], to url: URL) async throws {
  let staged = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
  defer { try? FileManager.default.removeItem(at: staged) }
  let boundary = try writeForm(of: files, to: staged)
  var request = URLRequest(url: url)
  request.httpMethod = "POST"
  request.setValue("multipart/form-data; boundary=\(boundary)", forHTTPHeaderField: "Content-Type")
  let (_, response) = try await URLSession.shared.upload(for: request, fromFile: staged)
  guard let response = response as? HTTPURLResponse, 200..<300 ~= response.statusCode else {
    throw URLError(.badServerResponse)
  }
}

func complain(_ text: String) {
  FileHandle.standardError.write(Data("\(text)\n".utf8))
}

guard CommandLine.arguments.count > 2, let url = URL(string: CommandLine.arguments[1]) else {
  complain("usage: urlsession-upload URL FILE...")
  exit(64)
}
do {
  try await post(Array(CommandLine.arguments.dropFirst(2)), to: url)
} catch {
  complain("urlsession-upload: \(error)")
  exit(1)
}
