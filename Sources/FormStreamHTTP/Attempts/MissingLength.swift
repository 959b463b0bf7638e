/// Whether a length that was not announced can be found out.
package enum MissingLength: Sendable {
  /// Reading the body once more shows its length.
  case measurable
  /// The body can be read only once.
  case oneShot
}
