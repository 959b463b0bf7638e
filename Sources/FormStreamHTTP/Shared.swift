/// A large value that is copied as one reference. A change makes another one.
///
/// The settings and the URL of a request go through each step of each attempt, and copying all their texts and closures would
/// take longer than the rest of the step.
package final class Shared<Value: Sendable>: Sendable {
  package let value: Value

  package init(_ value: Value) {
    self.value = value
  }
}

extension Shared: Equatable where Value: Equatable {
  package static func == (one: Shared, other: Shared) -> Bool { one.value == other.value }
}

extension Shared: Hashable where Value: Hashable {
  package func hash(into hasher: inout Hasher) { hasher.combine(value) }
}
