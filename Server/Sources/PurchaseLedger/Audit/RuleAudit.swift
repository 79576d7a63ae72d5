import PurchaseVerification

/// Compares owners, entitlements, lots and balances with the pure rules over the facts.
///
/// It does not use what writes these tables. A rebuild does, so it repeats a fault of the writer, and only this finds
/// it.
package struct RuleAudit {
    private static let page: Int64 = 256

    let database: any LedgerDatabase

    package init(_ database: any LedgerDatabase) { self.database = database }

    /// The differences, the rows of originals first.
    package func findings() async throws -> [AuditFinding] {
        var findings: [AuditFinding] = []
        for kind in RuleAuditPage.Kind.allCases {
            var last: [Int64]? = []
            while let after = last {
                let page = try await database.read(.lists) { connection in
                    var page = RuleAuditPage(connection)
                    try page.check(kind, after: after, limit: Self.page)
                    return (page.findings, page.last)
                }
                findings += page.0
                last = page.1
            }
        }
        return findings
    }
}
