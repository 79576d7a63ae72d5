/// Any member of a signed payload: a name and a JSON value.
public struct Claim: Hashable, Sendable {
    /// The name, as Apple spells it: `transactionId`.
    public var name: String
    public var value: ClaimValue

    /// A claim with any content.
    public init(_ name: String, _ value: ClaimValue) {
        self.name = name
        self.value = value
    }
}

extension [Claim] {
    /// The first value with a name, here or in an object within.
    func value(_ name: String) -> ClaimValue? {
        for claim in self {
            if claim.name == name { return claim.value }
            if case .object(let members) = claim.value, let value = members.value(name) { return value }
        }
        return nil
    }

    /// Changes the first value with a name, here or in an object within; nil removes it.
    /// - Returns: whether the claim was present.
    @discardableResult
    mutating func change(_ name: String, _ change: (ClaimValue) -> ClaimValue?) -> Bool {
        for index in indices {
            if self[index].name == name {
                if let value = change(self[index].value) {
                    self[index].value = value
                } else {
                    remove(at: index)
                }
                return true
            }
            if case .object(var members) = self[index].value, members.change(name, change) {
                self[index].value = .object(members)
                return true
            }
        }
        return false
    }
}
