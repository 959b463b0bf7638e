import FormStreamCommand
import Glibc

/// The program's `main`, which SwiftPM gives this name. It is a C function because Swift's own has no arguments:
/// `CommandLine` reads them from `/proc`, which may not be there, as in a chroot.
@_cdecl("formstream_main")
func main(
  count: CInt, words: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> CInt {
  endProcess(run(arguments(count, words)))
}
