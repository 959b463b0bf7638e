/// A secret value: `print`, `dump` and debuggers show `***` instead of it.
package struct Hidden<Value> {
  package var value: Value

  package init(_ value: Value) {
    self.value = value
  }
}

extension Hidden: Sendable where Value: Sendable {}
extension Hidden: Equatable where Value: Equatable {}
extension Hidden: Hashable where Value: Hashable {}

extension Hidden: CustomStringConvertible, CustomReflectable {
  package var description: String { "***" }
  package var customMirror: Mirror { Mirror(self, unlabeledChildren: [String]()) }
}
