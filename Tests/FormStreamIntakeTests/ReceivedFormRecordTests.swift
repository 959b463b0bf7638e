import FormStreamIntake
import FormStreamJSON
import FormStreamMultipart
import FormStreamTestSupport
import Testing

@Suite struct ReceivedFormRecordTests {
  @Test func `a form without parts has an empty list of parts`() {
    let form = ReceivedForm(bodyBytes: 7, isComplete: true, parts: [], failure: nil)
    #expect(
      String(decoding: form.recordLine().dropLast(), as: UTF8.self)
        == #"{"schema":"formstream.parsed/1","body_bytes":7,"complete":true,"parts":[],"error":null}"#
    )
  }

  @Test func `a form with a text field and a file has all members of both`() throws {
    let digest = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    let form = ReceivedForm(
      bodyBytes: 345, isComplete: true,
      parts: [
        ReceivedPart(
          index: 0, name: "title",
          headers: ["Content-Disposition": #"form-data; name="title""#],
          size: 6, value: Array("zwölf".utf8)),
        ReceivedPart(
          index: 1, name: "file", filename: "a \"b\".txt", contentType: "text/plain",
          headers: [
            "content-disposition": "form-data", "X-Note": "1", "X-Note": "2",
          ], size: 3, sha256: SHA256Digest(digest), storedAs: "in/a _b_.txt"),
      ], failure: nil)
    #expect(
      String(decoding: form.recordLine().dropLast(), as: UTF8.self)
        == #"{"schema":"formstream.parsed/1","body_bytes":345,"complete":true,"parts":["#
        + #"{"index":0,"name":"title","filename":null,"content_type":null,"#
        + #""headers":[["Content-Disposition","form-data; name=\"title\""]],"#
        + #""size":6,"sha256":null,"value":"zwölf","value_b64":null,"stored_as":null},"#
        + #"{"index":1,"name":"file","filename":"a \"b\".txt","content_type":"text/plain","#
        + #""headers":[["content-disposition","form-data"],["X-Note","1"],["X-Note","2"]],"#
        + #""size":3,"sha256":"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad","#
        + #""value":null,"value_b64":null,"stored_as":"in/a _b_.txt"}],"error":null}"#)
  }

  @Test func `a form that was cut short is not complete`() {
    let form = ReceivedForm(
      bodyBytes: 12, isComplete: false, parts: [ReceivedPart(index: 0, size: 0)],
      failure: .init(code: "cut", message: "It ends at byte 12."))
    #expect(
      String(decoding: form.recordLine().dropLast(), as: UTF8.self)
        == #"{"schema":"formstream.parsed/1","body_bytes":12,"complete":false,"parts":["#
        + #"{"index":0,"name":null,"filename":null,"content_type":null,"headers":[],"size":0,"#
        + #""sha256":null,"value":null,"value_b64":null,"stored_as":null}],"#
        + #""error":{"code":"cut","message":"It ends at byte 12."}}"#)
  }

  /// RFC 3629 §4: UTF-8 has no overlong forms, no surrogates and nothing above U+10FFFF.
  @Test(
    arguments: [
      ([], #""value":"","value_b64":null"#),
      ([0x61], #""value":"a","value_b64":null"#),
      ([0x00], #""value":"\u0000","value_b64":null"#),
      ([0xEF, 0xBB, 0xBF, 0x61], #""value":"\ufeffa","value_b64":null"#),
      ([0xF4, 0x8F, 0xBF, 0xBF], "\"value\":\"\u{10FFFF}\",\"value_b64\":null"),
      ([0xFF], #""value":null,"value_b64":"/w==""#),
      ([0x61, 0xC3], #""value":null,"value_b64":"YcM=""#),
      ([0xC0, 0x80], #""value":null,"value_b64":"wIA=""#),
      ([0xED, 0xA0, 0x80], #""value":null,"value_b64":"7aCA""#),
      ([0xF4, 0x90, 0x80, 0x80], #""value":null,"value_b64":"9JCAgA==""#),
    ] as [([UInt8], String)])
  func `a value is text if it is UTF-8, and base 64 otherwise`(value: [UInt8], members: String) {
    let part = ReceivedPart(index: 0, size: Int64(value.count), value: value)
    let json = part.record.description
    #expect(json.hasSuffix(#""sha256":null,\#(members),"stored_as":null}"#), "\(json)")
  }
}
