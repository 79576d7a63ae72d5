/// Collects checks. Each runs if everything that it needs is available.
struct InspectionRun {
    private(set) var checks: [EvidenceInspection.Check] = []

    /// The caller's policies, each as a separate check.
    mutating func check(_ policies: [any PurchasePolicy], _ content: UnverifiedEvidence?) {
        for policy in policies {
            check(policy.name, after: content) { content throws(VerificationError) in try policy.check(content.facts) }
        }
    }

    mutating func check<Value>(_ name: String, _ body: () throws(VerificationError) -> Value) -> Value? {
        do throws(VerificationError) {
            let value = try body()
            checks.append(.init(name: name, outcome: .passed))
            return value
        } catch {
            checks.append(.init(name: name, outcome: .failed(error)))
            return nil
        }
    }

    @discardableResult
    mutating func check<Input, Value>(
        _ name: String, after input: Input?, _ body: (Input) throws(VerificationError) -> Value
    ) -> Value? {
        guard let input else {
            checks.append(.init(name: name, outcome: .notPossible))
            return nil
        }
        return check(name) { () throws(VerificationError) in try body(input) }
    }

    @discardableResult
    mutating func check<First, Second, Value>(
        _ name: String, after first: First?, _ second: Second?,
        _ body: (First, Second) throws(VerificationError) -> Value
    ) -> Value? {
        guard let first, let second else {
            checks.append(.init(name: name, outcome: .notPossible))
            return nil
        }
        return check(name) { () throws(VerificationError) in try body(first, second) }
    }
}
