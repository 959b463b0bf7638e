import FormStreamDigest
import FormStreamIntake
import FormStreamPlatform
import FormStreamTestSupport
import Testing

@Suite struct PartDigestTests {
  private static func digest(of bytes: [UInt8], inPiecesOf size: Int) throws -> SHA256.Digest? {
    let digest = try PartDigest()
    for start in stride(from: 0, to: bytes.count, by: size) {
      try bytes[start...].prefix(size).withUnsafeBytes { try digest.update($0) }
    }
    return try digest.finalize()
  }

  private static func bytes(_ count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 11) }
  }

  private static func expected(_ bytes: [UInt8]) throws -> SHA256.Digest {
    var digest = try SHA256()
    try bytes.withUnsafeBytes { try digest.update($0) }
    return try digest.finalize()
  }

  @Test(arguments: [
    (0, 1), (1, 1), (1_048_576, 65_536), (1_048_577, 1_048_577), (1_048_577, 1_048_576),
    (3_000_000, 1_000), (3_000_000, 131_072), (3_000_000, 131_073), (3_000_000, 3_000_000),
  ])
  func `the digest is that of all bytes, however they arrive`(_ count: Int, _ piece: Int) throws {
    let bytes = Self.bytes(count)
    #expect(try Self.digest(of: bytes, inPiecesOf: piece) == Self.expected(bytes))
  }

  /// More at once than there are threads for digests.
  @Test func `digests that are computed at once do not mix`() throws {
    let wrong = Guarded(0)
    let failure = Guarded<(any Error)?>(nil)
    onThreads(16) { number in
      do {
        let bytes = Self.bytes(2_000_000 + number)
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
    for _ in 0..<100 {
      let digest = try PartDigest()
      try Self.bytes(1_200_000).withUnsafeBytes { try digest.update($0) }
    }
    #expect(
      await eventually {
        !ProcessResources.now().threads.contains { $0.hasPrefix("formstream-sha") }
      })
  }
}
