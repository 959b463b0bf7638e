import FormStreamDigest
import FormStreamIntake
import FormStreamPlatform
import FormStreamTestSupport
import Testing

@Suite struct PartDigestTests {
  private static func digest(of bytes: [UInt8], inPiecesOf size: Int) throws -> SHA256Digest? {
    let digest = try PartDigest()
    for start in stride(from: 0, to: bytes.count, by: size) {
      try bytes[start...].prefix(size).withUnsafeBytes { try digest.update($0) }
    }
    return try digest.finalize()
  }

  private static func expected(_ bytes: [UInt8]) throws -> SHA256Digest {
    var digest = try SHA256()
    try bytes.withUnsafeBytes { try digest.update($0) }
    return try digest.finalize()
  }

  @Test(arguments: [
    (0, 1), (1, 1), (1_048_576, 65_536), (1_048_577, 1_048_577), (1_048_577, 1_048_576),
    (3_000_000, 1_000), (3_000_000, 131_072), (3_000_000, 131_073), (3_000_000, 3_000_000),
  ])
  func `the digest is that of all bytes, however they arrive`(_ count: Int, _ piece: Int) throws {
    let bytes = noise(count)
    #expect(try Self.digest(of: bytes, inPiecesOf: piece) == Self.expected(bytes))
  }

  /// More at once than there are threads for digests.
  @Test func `digests that are computed at once do not mix`() throws {
    let bodies = (0..<16).map { noise(2_000_000 + $0, seed: UInt64($0)) }
    let wrong = Guarded(0)
    let failure = Guarded<(any Error)?>(nil)
    onThreads(bodies.count) { number in
      do {
        let bytes = bodies[number]
        if try Self.digest(of: bytes, inPiecesOf: 100_000) != Self.expected(bytes) {
          wrong.withLock { $0 += 1 }
        }
      } catch {
        failure.withLock { $0 = error }
      }
    }
    if let failure = failure.withLock(\.self) { Issue.record(failure) }
    #expect(wrong.withLock(\.self) == 0)
  }

  /// As for uploads that are cut off.
  @Test func `a digest that is not asked for leaves no thread`() async throws {
    let bytes = noise(1_200_000)
    for _ in 0..<100 {
      let digest = try PartDigest()
      try bytes.withUnsafeBytes { try digest.update($0) }
    }
    #expect(
      await eventually {
        !ProcessResources.now().threads.contains { $0.hasPrefix("formstream-sha") }
      })
  }
}
