/// The merges of customers. A merge is permanent, and a merged customer is never merged again.
public struct CustomerMerges: Sendable, Equatable {
    private var targets: [CustomerNumber: CustomerNumber] = [:]

    /// No merges.
    public init() {}

    /// The reasons why a merge is refused.
    public enum Refusal: Error, Sendable, Equatable {
        /// Both names already belong to the same customer, so the merge would be a cycle or change nothing.
        case sameCustomer
        /// The customer was merged before, into this one.
        case alreadyMerged(into: CustomerNumber)
    }

    /// Merges a customer into another, who keeps the purchases of both.
    public mutating func merge(_ customer: CustomerNumber, into target: CustomerNumber) throws(Refusal) {
        if let earlier = targets[customer] { throw .alreadyMerged(into: resolve(earlier)) }
        let target = resolve(target)
        guard target != customer else { throw .sameCustomer }
        targets[customer] = target
    }

    /// The customer that remains after all merges of a customer. Targets are stored as they were at the time, so the
    /// path is as long as the chain of merges; it has no cycle, because `merge` refuses one.
    public func resolve(_ customer: CustomerNumber) -> CustomerNumber {
        var resolved = customer
        while let target = targets[resolved] { resolved = target }
        return resolved
    }
}
