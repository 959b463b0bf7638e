/// The place of a descriptor among those that a loop watches.
package struct WatchPlace: Hashable, Sendable {
  fileprivate let index: UInt32
  /// How many descriptors had the place before. An event of one of them is not mistaken for one of this.
  fileprivate let generation: UInt32

  var token: UInt64 { UInt64(generation) << 32 | UInt64(index) }

  fileprivate init(index: UInt32, generation: UInt32) { (self.index, self.generation) = (index, generation) }

  fileprivate init(token: UInt64) {
    self.init(index: UInt32(truncatingIfNeeded: token), generation: UInt32(truncatingIfNeeded: token >> 32))
  }
}

/// The handlers of the descriptors that a loop watches. Finding one allocates nothing.
struct WatchList {
  private struct Entry {
    var handler: (any EventHandler)?
    var generation: UInt32 = 0
  }

  private var entries: ContiguousArray<Entry> = []
  private var free: [UInt32] = []

  var count: Int { entries.count - free.count }

  mutating func insert(_ handler: any EventHandler) -> WatchPlace {
    if let index = free.popLast() {
      entries[Int(index)].handler = handler
      return WatchPlace(index: index, generation: entries[Int(index)].generation)
    }
    entries.append(Entry(handler: handler))
    // A process has far fewer than 2^32 descriptors.
    return WatchPlace(index: UInt32(truncatingIfNeeded: entries.count - 1), generation: 0)
  }

  /// Returns the removed handler. The caller releases it, because its end may lead back to this list.
  mutating func remove(_ place: WatchPlace) -> (any EventHandler)? {
    guard let handler = handler(of: place.token) else { return nil }
    let index = Int(place.index)
    entries[index].handler = nil
    // The last generation is left out: with the highest index it would be the token of the loop's own event.
    entries[index].generation = (entries[index].generation + 1) % .max
    free.append(place.index)
    return handler
  }

  /// The handler that an event is for; nil if its descriptor was removed.
  func handler(of token: UInt64) -> (any EventHandler)? {
    let place = WatchPlace(token: token)
    guard place.index < entries.count, entries[Int(place.index)].generation == place.generation else { return nil }
    return entries[Int(place.index)].handler
  }

  /// Removes all handlers, and returns them.
  mutating func removeAll() -> [any EventHandler] {
    defer { self = WatchList() }
    return entries.compactMap(\.handler)
  }
}
