import FormStreamMultipart

/// The parts of a layout, and how many bytes of each were handed over.
struct PartProgressList: RandomAccessCollection, Sendable {
  let layout: BodyLayout?
  let handedOver: Int64
  let handedOverByAttempt: Int64

  var startIndex: Int { 0 }
  var endIndex: Int { layout?.partCount ?? 0 }

  subscript(position: Int) -> TransferProgress.PartProgress {
    // As in any collection, an invalid index is a mistake of the caller; data from outside can't cause it.
    guard let layout else { preconditionFailure("There are no parts without a layout.") }
    let placed = layout.placedPart(at: position)
    var sent: Int64?
    if let start = placed.bodyOffset {
      if let size = placed.bodyLength {
        // A part is complete only when the current attempt has handed over its last byte.
        let isComplete = handedOverByAttempt - start >= size
        let most = isComplete ? size : Swift.max(size - 1, 0)
        sent = Swift.min(Swift.max(handedOver - start, 0), most)
      } else if handedOver <= start {
        // A part of unknown length: all that is known is that it hasn't begun.
        sent = 0
      }
    }
    return TransferProgress.PartProgress(
      name: placed.part.name, filename: placed.part.filename, sent: sent, size: placed.bodyLength)
  }
}
