import Glibc
import Measuring

/// Passes on `unit` over and over, as at least `count` bytes. They are the same few pages of memory, mapped
/// many times, so that the processor's caches hold long bodies too: a short body and a long one differ in
/// their length only.
func withRepeated(
  _ unit: [UInt8], count: Int, _ work: (UnsafeRawBufferPointer) throws -> Void
) throws {
  let page = sysconf(Int32(_SC_PAGESIZE))
  let smallest = unit.count / greatestCommonDivisor(unit.count, page) * page
  let size = smallest * max(1, (1 << 19) / smallest)
  let times = (count + size - 1) / size

  let name = "/bench-parse-\(getpid())"
  let file = shm_open(name, O_RDWR | O_CREAT | O_EXCL, 0o600)
  shm_unlink(name)
  guard file >= 0, ftruncate(file, size) == 0 else { throw Failure("there is no shared memory") }
  defer { close(file) }
  let block = Array(repeatElement(unit, count: size / unit.count).joined())
  guard write(file, block, size) == size else { throw Failure("the shared memory is full") }

  let start = mmap(nil, size * times, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
  guard let start, start != MAP_FAILED else { throw Failure("there are no addresses") }
  defer { munmap(start, size * times) }
  for time in 0..<times {
    let place = start + time * size
    let flags = MAP_SHARED | MAP_FIXED | MAP_POPULATE
    guard mmap(place, size, PROT_READ, flags, file, 0) == place else {
      throw Failure("the shared memory can't be mapped")
    }
  }
  try work(UnsafeRawBufferPointer(start: start, count: size * times))
}

private func greatestCommonDivisor(_ one: Int, _ other: Int) -> Int {
  other == 0 ? one : greatestCommonDivisor(other, one % other)
}
