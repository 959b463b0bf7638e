import FormStream
import FormStreamTransfer
import Foundation

func makeBody(chunks: AsyncStream<[UInt8]>) -> TransferBody {
  let body = TransferBody.part(.asyncChunks(chunks), type: "video/mp4")
  return body
}

func makeBody(rows: AsyncStream<String>) -> TransferBody {
  let body = TransferBody.writing(type: "text/csv") { writer in
    for await row in rows { try await writer.write("\(row)\n") }  // waits for the network
  }
  return body
}

func relay(from source: String, to target: String, in session: TransferSession) async throws {
  let body = TransferBody.writing { writer in
    let response = try await session.open(TransferRequest(.get, source)).accepted()
    for try await chunk in response.body { try await writer.write(chunk) }
  }
  try await session.put(target, body: body)
}
