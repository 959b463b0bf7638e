/// Who holds how much of an ``UploadStore``: how many uploads that are not complete, and how many bytes of kept responses.
///
/// The limits are for all clients together. If one is reached, the client that holds most makes room for the others, so that one
/// client can't keep the others out.
struct UploadShares {
  private struct Share {
    var open: Set<UploadID> = []
    /// The uploads whose responses are kept, the oldest first. Some may be gone already.
    var kept: ArraySlice<UploadID> = []
    var keptCount = 0
    var keptBytes: Int64 = 0

    var isEmpty: Bool { open.isEmpty && keptCount == 0 }
  }

  private struct Entry {
    let client: String
    /// The bytes of the kept response; nil if the upload is not complete.
    var bytes: Int64?
  }

  private var shares: [String: Share] = [:]
  private var entries: [UploadID: Entry] = [:]
  /// How many uploads are not complete.
  private(set) var openCount = 0
  private var keptBytes: Int64 = 0

  /// Adds an upload that is not complete.
  mutating func begin(_ id: UploadID, of client: String) {
    remove(id)
    entries[id] = Entry(client: client)
    shares[client, default: Share()].open.insert(id)
    openCount += 1
  }

  /// Adds the kept response of an upload, which is complete now.
  mutating func keep(_ id: UploadID, of client: String, bytes: Int64) {
    remove(id)
    entries[id] = Entry(client: client, bytes: bytes)
    var share = shares.removeValue(forKey: client) ?? Share()
    share.kept.append(id)
    share.keptCount += 1
    share.keptBytes += bytes
    shares[client] = share
    keptBytes += bytes
  }

  mutating func remove(_ id: UploadID) {
    guard let entry = entries.removeValue(forKey: id),
      var share = shares.removeValue(forKey: entry.client)
    else { return }
    if let bytes = entry.bytes {
      share.keptCount -= 1
      share.keptBytes -= bytes
      keptBytes -= bytes
      while let first = share.kept.first, entries[first] == nil { share.kept.removeFirst() }
      if share.kept.count > 2 * share.keptCount + 64 {
        share.kept = share.kept.filter { entries[$0] != nil }[...]
      }
    } else {
      share.open.remove(id)
      openCount -= 1
    }
    if !share.isEmpty { shares[entry.client] = share }
  }

  /// Takes out the kept responses that don't fit into `limit` bytes: the oldest ones of the client that holds most.
  mutating func takeExcess(over limit: Int64) -> [UploadID] {
    var excess: [UploadID] = []
    while keptBytes > limit,
      let greediest = shares.max(by: { $0.value.keptBytes < $1.value.keptBytes })?.value,
      let oldest = greediest.kept.first(where: { entries[$0] != nil })
    {
      excess.append(oldest)
      remove(oldest)
    }
    return excess
  }

  /// The uploads of each client that are not complete, beginning with the client that has most of them.
  var openUploads: [Set<UploadID>] { shares.values.map(\.open).sorted { $0.count > $1.count } }

  /// The uploads of the clients that have no fewer than `client` would have with one more, beginning with those that have most. Clients
  /// that have as many are one group.
  func openUploads(notBelow client: String) -> [Set<UploadID>] {
    let least = (shares[client]?.open.count ?? 0) + 1
    var groups: [Int: Set<UploadID>] = [:]
    for (name, share) in shares {
      let count = share.open.count + (name == client ? 1 : 0)
      if count >= least { groups[count, default: []].formUnion(share.open) }
    }
    return groups.sorted { $0.key > $1.key }.map(\.value)
  }

  /// The uploads of the clients that have more than their share of `limit` uploads, beginning with the client that has most of
  /// them. There are none if `client` has its share already.
  func openUploads(aboveShareFor client: String, of limit: Int) -> [Set<UploadID>] {
    let own = shares[client]?.open.count ?? 0
    let clients = shares.values.count { !$0.open.isEmpty } + (own == 0 ? 1 : 0)
    let share = max(1, limit / max(clients, 1))
    guard own < share else { return [] }
    return openUploads.filter { $0.count > share }
  }
}
