import FormStreamFuzzProperties

/// The entry point that libFuzzer calls.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  Property.response.fuzz(start, count)
}
