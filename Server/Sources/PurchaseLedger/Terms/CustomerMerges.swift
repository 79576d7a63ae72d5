/// Which customers were merged into which. A merge is permanent, and a merged customer is never merged again.
public struct CustomerMerges: Sendable, Equatable {
    private var targets: [CustomerNumber: CustomerNumber] = [:]

    /// No merges.
    public init() {}

    /// Why a merge is refused.
    public enum Refusal: Error, Sendable, Equatable {
        /// Both names stand for the same customer already, so the merge would be a cycle or change nothing.
        case sameCustomer
        /// The customer was merged before, into this one.
        case alreadyMerged(into: CustomerNumber)
    }

    /// Merges a customer into another, who keeps everything of both.
    public mutating func merge(_ customer: CustomerNumber, into target: CustomerNumber) throws(Refusal) {
        if let earlier = targets[customer] { throw .alreadyMerged(into: resolve(earlier)) }
        let target = resolve(target)
        guard target != customer else { throw .sameCustomer }
        targets[customer] = target
    }

    /// Whom a customer is by now. Targets are stored as they were at the time, so the way is as long as the merges were one
    /// after another; it has no cycle, because `merge` refuses one.
    public func resolve(_ customer: CustomerNumber) -> CustomerNumber {
        var resolved = customer
        while let target = targets[resolved] { resolved = target }
        return resolved
    }
}
