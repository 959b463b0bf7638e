import FormStreamMediaTypes
import FormStreamMultipart

/// Guesses for what is only shown: a pipe is left for whoever sends the form, so its type is told by its
/// name.
struct SparingGuesser: MediaTypeGuessing {
  let sniffer: MediaTypeSniffer

  func mediaType(of part: UntypedPart) -> MediaType? {
    if part.isReplayable { return sniffer.mediaType(of: part) }
    let told = sniffer.type(forFilename: part.filename)
    return told.source == .default ? nil : told.type
  }
}

extension EncodePlan {
  var guesser: any MediaTypeGuessing {
    guard let sniffer else { return NoGuess() }
    if case .body = product { return sniffer }
    return SparingGuesser(sniffer: sniffer)
  }
}
