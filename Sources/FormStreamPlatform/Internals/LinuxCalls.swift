// System calls and flags that Swift's Glibc lacks, because glibc declares them for GNU programs
// only.

import Glibc

/// C: `renameat2`; nil if the C library lacks it.
let renameAt2: RenameAt2? = loadedFunction(named: "renameat2")
typealias RenameAt2 =
  @convention(c) (
    CInt, UnsafePointer<CChar>, CInt, UnsafePointer<CChar>, CUnsignedInt
  ) -> CInt

/// `RENAME_NOREPLACE`: the call fails with `EEXIST` if the new name is taken.
let renameWithoutReplacing: CUnsignedInt = 1

/// C: `fallocate`; nil if the C library lacks it.
let fileAllocate: FileAllocate? = loadedFunction(named: "fallocate")
typealias FileAllocate = @convention(c) (CInt, CInt, off_t, off_t) -> CInt

/// `FALLOC_FL_KEEP_SIZE`: the file's size does not change.
let allocateBehindTheEnd: CInt = 1

/// C: `pthread_setname_np`; nil if the C library lacks it.
let setThreadName: SetThreadName? = loadedFunction(named: "pthread_setname_np")
typealias SetThreadName = @convention(c) (pthread_t, UnsafePointer<CChar>) -> CInt

/// C: `statx`; nil if the C library lacks it.
let statx: Statx? = loadedFunction(named: "statx")
typealias Statx =
  @convention(c) (
    CInt, UnsafePointer<CChar>, CInt, CUnsignedInt, UnsafeMutableRawPointer
  ) -> CInt

/// `AT_EMPTY_PATH`: the call is about the descriptor itself.
let aboutDescriptor: CInt = 0x1000

/// `STATX_BTIME`, the size of `struct statx`, and the offsets of two fields: the mask of the values found, and the
/// time.
let birthOfFile: (mask: CUnsignedInt, size: Int, foundOffset: Int, timeOffset: Int) =
  (0x800, 256, 0, 80)

/// `O_TMPFILE`: opens a new file without a name in a directory.
let openUnnamed: CInt = 0o20_000_000 | O_DIRECTORY

/// Finds a function of a loaded library by its name; nil if there is none. `Function` is the function's C type.
///
/// The cast can't fail: the address of a function is as wide as a C function pointer, and doesn't depend on data from outside.
/// The types come from the manual pages.
///
/// C: `dlsym`
package func loadedFunction<Function>(named name: String) -> Function? {
  dlsym(nil, name).map { unsafeBitCast($0, to: Function.self) }
}

/// A library that is loaded while the program runs, because only few runs need it. It stays loaded.
///
/// C: `dlopen`, `dlsym`
package struct LoadedLibrary: @unchecked Sendable {
  private let handle: UnsafeMutableRawPointer

  /// Nil if the library is not installed.
  package init?(named name: String) {
    guard let handle = dlopen(name, RTLD_NOW | RTLD_LOCAL) else { return nil }
    self.handle = handle
  }

  /// Finds a function; nil if there is none. `Function` is its C type, as for `loadedFunction`.
  package func function<Function>(named name: String) -> Function? {
    dlsym(handle, name).map { unsafeBitCast($0, to: Function.self) }
  }
}
