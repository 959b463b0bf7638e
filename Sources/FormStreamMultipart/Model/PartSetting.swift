import FormStreamPlatform

/// The settings that messages about parts name, in the words of the library. The command uses other
/// words.
package enum PartSetting: String, MessageSetting {
  case filename = "Part.filename"
  /// The remedy if the length of a stream differs from the length that was given.
  case streamLength = "give the right length, or nil if it is not known"

  package var description: String { rawValue }
}
