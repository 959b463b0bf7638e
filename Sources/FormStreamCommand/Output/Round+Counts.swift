import FormStreamBatch
import FormStreamPlatform

extension Round {
  /// How the round differs from the rounds before, as the end of a sentence.
  var counts: String {
    "\(new) new, \(changed) changed, \(again) again; \(unchanged) unchanged, \(gone) gone"
  }
}

/// A line about unchanged files whose contents could not be compared; nil if there are none.
func lineAboutUncompared(_ count: Int) -> String? {
  guard count > 0 else { return nil }
  return
    "\(counted(count, "unchanged file was", "unchanged files were")) compared by size and time, because no earlier run "
    + "computed a digest."
}
