/// A value for each file of a manifest. A value that was not set is 0, and takes no memory if no value nearby was set.
struct ManifestPages<Value: FixedWidthInteger & Sendable>: Sendable {
  /// How many bytes of the manifest share one number. The shortest record has more bytes than this, so two files never have
  /// the same number.
  static var bytesPerFile: Int64 { 16 }

  private let size: Int64
  private var pages: [Int64: [Value]] = [:]

  /// - Parameter size: how many values a page has. The memory for a page is taken as a whole.
  init(of size: Int) { self.size = Int64(size) }

  /// The number of the file whose record begins at an offset.
  static func number(of offset: Int64) -> Int64 { offset / bytesPerFile }

  subscript(index: Int64) -> Value {
    get {
      let (page, place) = index.quotientAndRemainder(dividingBy: size)
      return pages[page]?[Int(place)] ?? 0
    }
    set {
      let (page, place) = index.quotientAndRemainder(dividingBy: size)
      pages[page, default: [Value](repeating: 0, count: Int(size))][Int(place)] = newValue
    }
  }

  /// Changes the values that are not 0.
  mutating func update(_ change: (_ index: Int64, _ value: inout Value) -> Void) {
    for page in Array(pages.keys) {
      guard var values = pages.removeValue(forKey: page) else { continue }
      for place in values.indices where values[place] != 0 {
        change(page * size + Int64(place), &values[place])
      }
      pages[page] = values
    }
  }
}
