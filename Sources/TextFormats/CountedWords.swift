/// A number and what it counts, as in "1 app", "2 apps", "1 entry".
///
/// - Parameters:
///   - count: the number.
///   - one: what one of them is called, and what it does: "event is".
///   - many: the same of several; with an "s" if it is left out.
public func counted(_ count: some BinaryInteger, _ one: String, _ many: String? = nil) -> String {
    "\(count) \(count == 1 ? one : many ?? one + "s")"
}
