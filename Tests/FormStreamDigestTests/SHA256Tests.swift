import FormStreamPlatform
import FormStreamDigest
import FormStreamTestSupport
import Testing

@Suite struct SHA256Tests {
  /// FIPS 180-4 §5.3.6.2; the example is on NIST's page.
  @Test func `the example of SHA-512/256`() throws {
    #expect(
      try AuthenticationDigest.sha512256.digest(of: Array("abc".utf8))
        == [
          0x53, 0x04, 0x8E, 0x26, 0x81, 0x94, 0x1E, 0xF9, 0x9B, 0x2E, 0x29, 0xB7, 0x6B, 0x4C, 0x7D,
          0xAB,
          0xE4, 0xC2, 0xD0, 0xC6, 0x34, 0xFC, 0x6D, 0x46, 0xE0, 0xE2, 0xF1, 0x31, 0x07, 0xE7, 0xAF,
          0x23,
        ])
  }

  /// The digest of a message that arrives in pieces.
  private func sha256(_ pieces: some Sequence<ArraySlice<UInt8>>) throws -> String {
    var state = try SHA256()
    for piece in pieces { try piece.withUnsafeBytes { try state.update($0) } }
    return try state.finalize().description
  }

  private func sha256(_ message: [UInt8]) throws -> String { try sha256([message[...]]) }

  /// FIPS 180-4 has its examples on NIST's page "Cryptographic Standards and Guidelines, Examples
  /// with Intermediate Values"; the message of no bits is from its validation suite, SHAVS.
  @Test(arguments: [
    ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
    ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
    (
      "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
      "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
    ),
    (
      "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmn"
        + "hijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu",
      "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"
    ),
  ])
  func `the examples of FIPS 180-4`(message: String, digest: String) throws {
    #expect(try sha256(Array(message.utf8)) == digest)
  }

  @Test(arguments: [1_000_000, 4096, 65, 64, 63, 1])
  func `the letter a one million times, in pieces of several sizes`(chunk: Int) throws {
    let piece = [UInt8](repeating: UInt8(ascii: "a"), count: chunk)
    var state = try SHA256()
    for start in stride(from: 0, to: 1_000_000, by: chunk) {
      try piece.prefix(1_000_000 - start).withUnsafeBytes { try state.update($0) }
    }
    #expect(
      try state.finalize().description
        == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0")
  }

  @Test func `a message in any two pieces has the digest of the complete message`() throws {
    let message = noise(259)
    let expected = try sha256(message)
    for cut in 0...message.count {
      #expect(try sha256([message[..<cut], message[cut...]]) == expected, "cut at \(cut)")
    }
    for size in 1...message.count {
      let starts = stride(from: 0, to: message.count, by: size)
      let pieces = starts.map { message[$0..<min($0 + size, message.count)] }
      #expect(try sha256(pieces) == expected, "pieces of \(size)")
    }
  }

  @Test func `every length around the block size has the digest that Python computes`() throws {
    let message = noise(200)
    let lengths = 0...200
    let expected = try python(
      """
      import hashlib, sys
      message = sys.stdin.buffer.read()
      for length in range(len(message) + 1): print(hashlib.sha256(message[:length]).hexdigest())
      """, message)
    try #require(expected.count == lengths.count)
    for length in lengths {
      #expect(try sha256(Array(message.prefix(length))) == expected[length], "\(length) bytes")
    }
  }

  @Test func `an empty buffer, with or without an address, changes nothing`() throws {
    var state = try SHA256()
    try state.update(UnsafeRawBufferPointer(start: nil, count: 0))
    try Array("abc".utf8).withUnsafeBytes { try state.update($0) }
    try Array("abc".utf8).withUnsafeBytes { try state.update(.init(rebasing: $0[3...])) }
    #expect(
      try state.finalize().description
        == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
  }

  /// The probe drops 100,000 digests and prints by how many bytes its memory grew. The state of
  /// each has more than 200 bytes. Under a sanitizer, freed memory is kept, but leaks end the probe
  /// with an error.
  @Test func `an unfinished digest frees its state`() throws {
    let probe = try run("formstream-digest-probe", ["drop"])
    #expect(probe.exit == 0, "\(probe.stderr)")
    let growth = try #require(Int(probe.output.dropLast()), "\(probe.output)")
    #expect(growth < 10_000_000 || sanitizer != nil)
  }

  @Test func `a digest has 32 bytes, and its text contains all of them`() throws {
    let bytes = (0..<32).map { UInt8($0 * 8 + 7) }
    let digest = try #require(SHA256Digest(bytes: bytes))
    #expect(digest.bytes == bytes)
    #expect(
      digest.description == "070f171f272f373f474f575f676f777f878f979fa7afb7bfc7cfd7dfe7eff7ff")
    #expect(SHA256Digest(bytes: []) == nil)
    #expect(SHA256Digest(bytes: Array(bytes.dropLast())) == nil)
    #expect(SHA256Digest(bytes: bytes + [0]) == nil)
  }

  @Test func `only 64 hexadecimal digits are the text of a digest`() {
    let text = String(repeating: "0aF9", count: 16)
    #expect(SHA256Digest(text)?.description == text.lowercased())
    for other in ["", String(text.dropLast()), text + "0", text + "z", "-" + text, "é" + text] {
      #expect(SHA256Digest(other) == nil, "\(other)")
    }
  }

  /// With a configuration that names only the null provider there is no SHA-256. This is the only
  /// way to make libcrypto fail from outside.
  @Test func `a failure of libcrypto is an error that says what to do`() throws {
    let place = try TemporaryDirectory()
    try place.write(
      "openssl.cnf",
      """
      openssl_conf = start
      [start]
      providers = providers
      [providers]
      null = null
      [null]
      activate = 1

      """)
    let succeeded = try run("formstream-digest-probe", [], in: place)
    #expect(
      succeeded.output == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855\n")
    let failed = try run(
      "formstream-digest-probe", [], in: place,
      environment: ["OPENSSL_CONF": place.path("openssl.cnf")])
    #expect(failed.exit == 0, "\(failed.stderr)")
    #expect(failed.output.hasPrefix("digest-failed: The SHA-256 digest can't be computed"))
    #expect(failed.output.contains("openssl.cnf"))
  }
}
