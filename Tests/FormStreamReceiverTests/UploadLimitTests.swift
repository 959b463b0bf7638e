import FormStreamMultipart
import FormStreamReceiver
import FormStreamTestSupport
import Testing

/// What a receiver announces as its limits is what it accepts, whichever of its options set them.
@Suite struct UploadLimitTests {
  private static func creation(_ length: Int64, byTus: Bool) -> String {
    byTus
      ? "POST /a HTTP/1.1\r\nHost: h\r\nTus-Resumable: 1.0.0\r\nUpload-Length: \(length)\r\nContent-Length: 0\r\n\r\n"
      : "PUT /a HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\nUpload-Length: \(length)\r\nUpload-Complete: ?0\r\n"
        + "Upload-Draft-Interop-Version: 8\r\n\r\n"
  }

  /// Regression: the smallest size was above the largest, and `Upload-Limit` had no `max-size` where `Tus-Max-Size` had one.
  @Test(arguments: [nil, 1000] as [Int64?], [nil, 5, 2000] as [Int64?])
  func `the limits don't contradict each other`(_ body: Int64?, _ part: Int64?) async throws {
    for store in [nil, 50, 5000] as [Int64?] {
      for minimum in [0, 1_000_000] as [Int64] {
        let server = try UploadServer {
          ($0.store, $0.minimumSize) = (store, minimum)
        } configure: {
          $0.limits.body = body
          $0.limits.form.partBytes = part
        }
        let options = try await server.response(to: "OPTIONS / HTTP/1.1\r\nHost: h\r\n\r\n")
        let most = [body, part, store].compactMap(\.self).min()
        let largest = most.map { "max-size=\($0), " } ?? ""
        #expect(
          options.headers("Upload-Limit")
            == ["\(largest)min-size=\(min(minimum, most ?? .max)), max-age=86400"], "\(options)")
        #expect(options.headers("Tus-Max-Size") == (most.map { ["\($0)"] } ?? []), "\(options)")
        guard let most else { continue }
        var statuses: [Int] = []
        for byTus in [false, true] {
          for length in [most + 1, most] {
            let response = try await server.response(to: Self.creation(length, byTus: byTus))
            statuses.append(response.status)
            guard let path = response.headers("Location").first else { continue }
            let known = try await server.response(to: "OPTIONS \(path) HTTP/1.1\r\nHost: h\r\n\r\n")
            #expect(known.headers("Upload-Limit").first?.hasPrefix(largest) == true, "\(known)")
            #expect(known.headers("Tus-Max-Size") == ["\(most)"], "\(known)")
            _ = try await server.response(to: "DELETE \(path) HTTP/1.1\r\nHost: h\r\n\r\n")
          }
        }
        #expect(statuses == [413, 201, 413, 201], "\(String(describing: (body, part, store)))")
      }
    }
  }

  @Test func `the limit of a part is none of a form`() async throws {
    let server = try UploadServer(configure: { $0.limits.form.partBytes = 5 })
    let options = try await server.response(
      to: "OPTIONS / HTTP/1.1\r\nHost: h\r\nContent-Type: multipart/form-data; boundary=b\r\n\r\n")
    #expect(options.headers("Upload-Limit") == ["min-size=0, max-age=86400"], "\(options)")
    #expect(options.headers("Tus-Max-Size") == [], "\(options)")
  }
}
