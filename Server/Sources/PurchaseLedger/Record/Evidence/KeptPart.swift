/// The part of a piece of evidence that is stored.
public enum KeptPart: String, Sendable {
    case whole
    /// The first kilobyte of evidence that did not verify and came beyond the daily budget.
    case prefix
    /// Nothing, after an erasure.
    case none
}
