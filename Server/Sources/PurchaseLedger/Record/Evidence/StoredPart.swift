/// How much of a piece of evidence is stored.
public enum StoredPart: String, Sendable {
    case whole
    /// The first kilobyte of unverified evidence beyond the daily budget.
    case prefix
    /// Nothing, after an erasure.
    case none
}
