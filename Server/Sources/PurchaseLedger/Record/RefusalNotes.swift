import PurchaseVerification

/// The refusals that one write counted. They count once it is committed.
final class RefusalNotes {
    private(set) var counted: [CountedRefusals] = []

    func note(_ refusals: CountedRefusals) { counted.append(refusals) }
}
