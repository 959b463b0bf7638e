import FormStreamMultipart
import FormStreamMediaTypes
import FormStreamTestSupport
import Testing

/// Which type wins if contents and file name have different ones.
@Suite struct ArbitrationTests {
  private static let png: [UInt8] = [
    0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 0x0D, 0x49, 0x48, 0x44, 0x52, 0, 0, 0,
    1, 0,
    0, 0, 1, 8, 6, 0, 0, 0, 0x1F, 0x15, 0xC4, 0x89,
  ]
  private static let text = Array("Just some words.\n".utf8)
  private static let html = Array("<!DOCTYPE html><html><head><title>a</title></head></html>".utf8)
  private static let noise = (0..<512).map {
    UInt8(truncatingIfNeeded: $0 &* 193 &+ ($0 >> 3) &* 71)
  }

  private func sniff(
    _ bytes: [UInt8], _ name: String, _ policy: SniffingPolicy, _ overrides: [TypeOverride] = []
  ) -> String {
    let sniffer = MediaTypeSniffer(policy: policy, overrides: overrides)
    let detected = bytes.withUnsafeBytes { sniffer.type(of: $0, filename: name) }
    return "\(detected.type) \(detected.source)"
  }

  @Test func `a specific type of the contents takes precedence over the name`() {
    #expect(sniff(Self.png, "a.txt", .auto) == "image/png content")
    #expect(sniff(Self.png, "a.txt", .content) == "image/png content")
    #expect(sniff(Self.png, "a.txt", .extension) == "text/plain extension")
    #expect(sniff(Self.png, "a.txt", .none) == "application/octet-stream default")
    #expect(sniff(Self.html, "a.txt", .auto) == "text/html content")
  }

  @Test(arguments: [
    ("a.csv", "text/csv extension"), ("a.MD", "text/markdown extension"),
    ("a.json", "application/json extension"), ("a.svg", "image/svg+xml extension"),
    ("a.ts", "text/plain content"), ("a", "text/plain content"),
    ("a.nonsense", "text/plain content"),
    // Text never has any of these types, whatever its name.
    ("a.png", "text/plain content"), ("a.mp4", "text/plain content"),
    ("a.zip", "text/plain content"),
    ("a.docx", "text/plain content"), ("a.woff2", "text/plain content"),
    (".csv", "text/plain content"),
  ])
  func `an extension decides the type of text, unless text can't have that type`(
    _ name: String, _ expected: String
  ) {
    #expect(sniff(Self.text, name, .auto) == expected)
  }

  @Test func `if the contents are unknown, the extension decides`() {
    #expect(sniff(Self.noise, "a.heic", .auto) == "image/heic extension")
    #expect(sniff(Self.noise, "a", .auto) == "application/octet-stream content")
    #expect(sniff([], "a.txt", .auto) == "text/plain extension")
  }

  @Test(arguments: [SniffingPolicy.auto, .content])
  func `an empty file never has an inode type`(_ policy: SniffingPolicy) {
    #expect(sniff([], "a", policy) == "application/octet-stream default")
  }

  @Test func `overrides take precedence, the first that matches wins`() throws {
    let rules = [
      try TypeOverride("*.heic=image/heic"), try TypeOverride("a*=text/x; charset=utf-8"),
      try TypeOverride("*=a/b"),
    ]
    #expect(sniff(Self.png, "a.heic", .auto, rules) == "image/heic override")
    #expect(sniff(Self.png, "a.png", .none, rules) == "text/x; charset=utf-8 override")
    #expect(sniff(Self.png, "x", .content, rules) == "a/b override")
  }

  @Test(arguments: [
    "", "x", "=a/b", "*.x=", "*.x=png", "*.x=a/b\r\nX: y", "*.x=a/b\0",
    "*.x=a/" + String(repeating: "b", count: 10_000),
  ])
  func `an invalid override is refused`(_ text: String) {
    let error = #expect(throws: MediaTypesError.self) { try TypeOverride(text) }
    #expect(error?.code == .invalidOverride)
    #expect((error?.description.utf8.count ?? .max) < 300)
  }

  @Test func `a rule with a slash matches the path, one without matches the name`() throws {
    let place = try TemporaryDirectory()
    try place.write("x.dat", Self.png)
    func type(_ rule: String) throws -> String {
      let sniffer = MediaTypeSniffer(overrides: [try TypeOverride(rule)])
      return try sniffer.type(of: place.local("x.dat")).type.description
    }
    #expect(try type("x.*=a/b") == "a/b")
    #expect(try type("*/x.dat=a/b") == "a/b")
    #expect(try type("y/*=a/b") == "image/png")
    #expect(try type("[!x]*=a/b") == "image/png")
  }

  @Test(arguments: [
    ("Größe", "a.txt", "text/plain; charset=utf-8"),
    ("words", "a.csv", "text/csv; charset=us-ascii"),
    ("{\"a\":1}", "a.json", "application/json"),
  ])
  func `the type of text includes a charset if that is set`(
    _ text: String, _ name: String, _ expected: String
  ) {
    let sniffer = MediaTypeSniffer(includesCharset: true)
    let detected = Array(text.utf8).withUnsafeBytes { sniffer.type(of: $0, filename: name) }
    #expect(detected.type.description == expected)
    let picture = Self.png.withUnsafeBytes { sniffer.type(of: $0, filename: "a") }
    #expect(picture.type == "image/png")
  }
}
