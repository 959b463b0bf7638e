import FormStreamMediaTypes
import FormStreamMultipart

/// Detects types without reading streams that can be read only once: their types are detected by name alone.
struct NonconsumingDetector: MediaTypeDetector {
  let sniffer: MediaTypeSniffer

  func mediaType(of part: UntypedPart) -> MediaType? {
    if part.isReplayable { return sniffer.mediaType(of: part) }
    let detected = sniffer.type(forFilename: part.filename)
    return detected.source == .default ? nil : detected.type
  }
}
