import FormStreamRecords
import Testing

@Suite struct ProgressRecordTests {
  @Test func `an upload that is half done has progress for each part`() {
    let record = ProgressRecord(
      phase: "sending", read: 6_000_000_000, handed: 5_000_000_000, acknowledged: 4_999_999_999,
      total: 10_000_000_000, received: 7, responseTotal: 8,
      parts: [
        .init(name: "title", sent: 6, size: 6), .init(name: "a\"\u{202E}b", sent: 12, size: nil),
      ], filesDone: 0, filesTotal: 1, rate: 104_857_600.5, eta: 47.6837158)
    #expect(
      record.json.description
        == #"{"schema":"formstream.progress/2","phase":"sending","read":6000000000,"#
        + #""handed":5000000000,"acknowledged":4999999999,"total":10000000000,"#
        + #""received":7,"response_total":8,"#
        + #""parts":[{"name":"title","sent":6,"size":6},"#
        + #"{"name":"a\"\u202eb","sent":12,"size":null}],"#
        + #""files_done":0,"files_total":1,"rate":104857601,"eta":47.683716}"#)
  }

  @Test func `unknown values are null`() {
    let record = ProgressRecord(
      phase: "connecting", read: 0, handed: 0, acknowledged: nil, total: nil, received: 0,
      responseTotal: nil, parts: [],
      filesDone: 0, filesTotal: nil, rate: 0, eta: nil)
    #expect(
      record.json.description
        == #"{"schema":"formstream.progress/2","phase":"connecting","read":0,"handed":0,"#
        + #""acknowledged":null,"total":null,"received":0,"response_total":null,"parts":[],"files_done":0,"files_total":null,"#
        + #""rate":0,"eta":null}"#)
  }

  /// Zero bytes in zero seconds are a rate of 0/0; at a rate of 0, the remaining time is infinite.
  @Test func `a rate and a remaining time that are not finite are null`() {
    let record = ProgressRecord(
      phase: "sending", read: 0, handed: 0, acknowledged: nil, total: 1, received: 0,
      responseTotal: nil, parts: [],
      filesDone: 0, filesTotal: 1, rate: .nan, eta: .infinity)
    #expect(record.json.description.hasSuffix(#""files_total":1,"rate":null,"eta":null}"#))
  }
}
