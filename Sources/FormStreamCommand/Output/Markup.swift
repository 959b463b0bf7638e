/// What pictures and pages have in common.

/// Text in SVG or HTML, also in an attribute.
func escaped(_ text: String) -> String {
  text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
    .replacing("\"", with: "&quot;")
}

/// A place in a picture.
func coordinate(_ number: Double) -> String { decimal(number, places: 1) }

/// The step between the marks of an axis: 1, 2 or 5 times a power of ten, so that there are four to ten steps.
func roundStep(upTo largest: Double) -> Double {
  var power = 1.0
  while power > largest { power /= 10 }
  while power * 10 <= largest { power *= 10 }
  return largest / power >= 5 ? power : largest / power >= 2 ? power / 2 : power / 5
}
