import FormStreamCommand
import Glibc

/// The program's `main`, under the name that SwiftPM gives it. It is a C function because Swift's own `main` gets no
/// arguments: `CommandLine` reads the arguments from `/proc`, which may be missing, as in a chroot.
@_cdecl("formstream_main")
func main(
  count: CInt, words: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> CInt {
  endProcess(run(arguments(count, words)))
}
