import FormStreamPlatform

/// What messages about parts name: the library's words for it. The command has others.
package enum PartSetting: String, MessageSetting {
  case filename = "Part.filename"
  /// The remedy if a stream has another length than was given.
  case streamLength = "give the right length, or nil if it is not known"

  package var description: String { rawValue }
}
