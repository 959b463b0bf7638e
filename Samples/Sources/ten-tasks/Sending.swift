// The examples of docs/ten-tasks.md, so that they are compiled. A test compares them with the page.

import FormStream
import FormStreamTransfer

struct Order: Encodable {
  let item: String
}

struct Receipt: Decodable {
  let id: String
}

struct Problem: Decodable {
  let title: String
}

struct Person: Encodable {
  let name: String
  let address: [String: String]
  let tags: [String]
}

struct Row: Sendable {
  let id: Int
  let price: Double
}

func postForm(_ session: TransferSession, _ url: String) async throws {
  let form = Form(parts: [.text("title", "Sunset"), .file("photo", "sunset.jpg")])
  let response = try await session.post(url, form: form, headers: ["X-Album": "7"])
  print(response.text)
}

func exchangeJSON(_ session: TransferSession, _ url: String, _ order: Order) async throws {
  do {
    print(try await session.post(url, json: order).decoded(as: Receipt.self).id)
  } catch let error as TransferError {
    print(error.decodedError(as: Problem.self)?.title ?? "\(error)")
  }
}

func put(_ session: TransferSession, _ url: String, _ password: String) async throws {
  try await session.put(url, file: "notes.txt", credentials: .basic(user: "me", password: password))
}

func postFields(_ session: TransferSession, _ url: String, _ person: Person) async throws {
  try await session.post(url, form: Form(parts: Part.fields(of: person)))
}

func write(_ session: TransferSession, _ url: String, _ rows: [Row]) async throws {
  let body = TransferBody.writing(type: "text/csv") { writer in
    for row in rows { try await writer.write("\(row.id),\(row.price)\n") }
  }
  try await session.post(url, body: body)
}
