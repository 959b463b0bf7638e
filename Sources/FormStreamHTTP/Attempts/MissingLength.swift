/// The length of a body that was not announced.
package enum MissingLength: Sendable {
  /// Reading the body once more shows it.
  case measurable
  /// The body can be read only once.
  case oneShot
}
