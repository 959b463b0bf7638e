import FormStreamPlatform

/// The settings that occur in messages about parts. The raw values are the library's words for the settings. The command has
/// other words for them.
package enum PartSetting: String, MessageSetting {
  case filename = "Part.filename"
  /// The remedy if the length of a stream differs from the length that was given.
  case streamLength = "give the right length, or nil if it is not known"

  package var description: String { rawValue }
}
