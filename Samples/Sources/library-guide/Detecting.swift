import FormStream
import FormStreamMediaTypes

func encodeWithDetectedTypes(_ form: Form) throws -> FormInputStream {
  let sniffer = MediaTypeSniffer()  // detects the types that you don't set
  return try FormInputStream(form, detector: sniffer)
}

func detectType() throws {
  let sniffer = MediaTypeSniffer(overrides: [try TypeOverride("*.log=text/plain")])
  let found = try sniffer.type(of: "sunset.jpg")
  print(found.type, found.source)  // image/jpeg content
}
