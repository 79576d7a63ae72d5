/// About how many rows the next piece of a merge changes.
///
/// A claim of one of the two customers waits for the piece that runs. With a database on another machine each original
/// takes round trips, so the size follows the time that the pieces took.
package struct MergePieceSize {
    /// The greatest size.
    package static let most = 500
    /// A piece is made smaller above this time, and greater below a third of it: a quarter of the 100 ms that a claim
    /// may wait.
    private static let limit = Duration.milliseconds(25)

    /// An original is never divided, so 1 is one original.
    private(set) var rows = 50

    /// Notes the time that a piece of this size took.
    mutating func note(_ time: Duration) {
        if time > Self.limit {
            rows = max(1, rows / 2)
        } else if time < Self.limit / 3 {
            rows = min(Self.most, rows * 2)
        }
    }
}
