import FormStreamCommand
import Glibc

/// The arguments without the program's name, as bytes because a path need not be UTF-8.
func arguments(
  _ count: CInt, _ words: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> [Argument] {
  UnsafeBufferPointer(start: words, count: Int(count)).dropFirst()
    .compactMap { $0.map { Argument(bytes: UnsafeBufferPointer(start: $0, count: strlen($0))) } }
}
