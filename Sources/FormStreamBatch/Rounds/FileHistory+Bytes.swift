import FormStreamMultipart
import FormStreamPlatform

/// A history as a line of a sorter has it.
extension FileHistory {
  /// The value as bytes that only this process reads. ``listed`` is left out.
  var bytes: [UInt8] {
    var stored = StoredBytes()
    stored.add(last?.bytes ?? [])
    // Most files were accepted in the last round that had them.
    let isSame = accepted == last
    stored.add(isSame ? 1 : 0)
    if !isSame { stored.add(accepted?.bytes ?? []) }
    stored.add(lastSending)
    stored.add(isGone ? 1 : 0)
    stored.add(Int64(doubts.count))
    for doubt in doubts {
      stored.add(doubt.version == nil ? 0 : 1)
      stored.add(doubt.version?.size ?? 0)
      stored.add(doubt.version?.modified ?? 0)
      stored.add(doubt.version?.sha256?.bytes ?? [])
      stored.add(Array((doubt.keyRecord?.manifest ?? "").utf8))
      stored.add(doubt.keyRecord?.offset ?? 0)
    }
    return stored.bytes
  }

  init(_ bytes: [UInt8]) {
    var stored = StoredBytes(bytes)
    func known(_ bytes: [UInt8]) -> KnownFile? { bytes.isEmpty ? nil : KnownFile(bytes) }
    let last = known(stored.list())
    let accepted = stored.number() == 1 ? last : known(stored.list())
    let (lastSending, isGone) = (stored.number(), stored.number() == 1)
    var doubts: [Doubt] = []
    for _ in 0..<max(0, stored.number()) {
      let isKnown = stored.number() == 1
      let version = KnownFile.Version(
        size: stored.number(), modified: stored.number(), sha256: SHA256Digest(bytes: stored.list()))
      let place = RecordPlace(manifest: stored.text(), offset: stored.number())
      doubts.append(Doubt(version: isKnown ? version : nil, keyRecord: place.manifest.isEmpty ? nil : place))
    }
    self.init(last: last, accepted: accepted, doubts: doubts, lastSending: lastSending, isGone: isGone)
  }
}
