import FormStreamPlatform

/// The settings that messages about batches name. The raw values are the library's words for the settings. The command has
/// other words for them.
package enum BatchSettingName: String, MessageSetting {
  /// The remedy if there is nothing to resume, and no round may be begun.
  case beginsRounds = "let the run begin a round (RoundRules.beginsRounds)"
  case minimumFiles = "ListingOptions.minimumFiles"

  package var description: String { rawValue }
}
