/// The number of verdicts of each kind.
struct VerdictSummary {
    private(set) var verified = 0
    private(set) var rejected = 0
    private(set) var undetermined = 0

    var count: Int { verified + rejected + undetermined }

    mutating func add(_ batch: VerdictBatch) {
        verified += batch.verified
        rejected += batch.rejected
        undetermined += batch.undetermined
    }
}
