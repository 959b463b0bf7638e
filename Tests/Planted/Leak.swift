// A planted fault: memory that can't be reached any more. A leak search must find it.

final class Node {
  var next: Node?
}

@inline(never)
func leak() {
  let (one, other) = (Node(), Node())
  one.next = other
  other.next = one
}

for _ in 0..<100 { leak() }
print("leaked")
