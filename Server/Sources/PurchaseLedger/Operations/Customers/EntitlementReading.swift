import PurchaseVerification

/// Turns the rows of one customer into what they may use at a time.
struct EntitlementReading {
    let app: RegisteredApp
    let moment: Timestamp

    /// The entitlement of one product in one environment.
    ///
    /// - Parameter rows: all of its grounds; at least one.
    func entitlement(
        _ rows: [EntitlementRow], productID: String, environment: AppStoreEnvironment
    ) throws(LedgerStorageError) -> Entitlement? {
        guard let first = rows.first else { return nil }
        var entitlement = Entitlement(
            productID: productID, environment: environment, productKind: first.kind, state: .pending,
            reason: .notStarted, balance: 0, shortfall: 0)
        if rows.contains(where: { $0.timeline == nil }) {
            var balance = ConsumableBalance()
            for row in rows where row.timeline == nil {
                balance.remaining += row.balance
                balance.shortfall += row.shortfall
            }
            entitlement.balance = balance.available(under: app.refundShortfall)
            entitlement.shortfall = balance.shortfall
            let own = rows.first { $0.ground == EntitlementRow.wholeGround } ?? first
            entitlement.reason = entitlement.balance > 0 ? nil : own.reason ?? .consumed
        } else {
            var spans: [StoredTimeline.Span] = []
            for row in rows { spans += try row.timeline.map(StoredTimeline.init(encoded:))?.spans ?? [] }
            read(spans, into: &entitlement)
        }
        entitlement.state = Entitlement.State(entitlement.reason)
        return entitlement
    }

    private func read(_ spans: [StoredTimeline.Span], into entitlement: inout Entitlement) {
        let active = spans.filter { $0.contains(moment) }
        let far = Timestamp(millisecondsSince1970: .max)
        if let best = active.max(by: { ($0.until ?? far, $1.from) < ($1.until ?? far, $0.from) }) {
            entitlement.reason = nil
            entitlement.since = active.map(\.from).min()
            entitlement.until = best.until
            entitlement.transactionID = best.transactionID?.string
            return
        }
        let begun = spans.filter { $0.hasBegun(at: moment) }
        guard let last = begun.max(by: { ($0.until ?? far, $0.from) < ($1.until ?? far, $1.from) }) else { return }
        entitlement.reason = last.endReason
        entitlement.until = last.until
        entitlement.transactionID = last.transactionID?.string
    }
}

extension LedgerTransaction {
    /// The entitlement of a customer to one product.
    func entitlement(
        of customer: Int64, product: Int64, productID: String, environment: Int64, app: RegistryApp
    ) throws(LedgerStorageError) -> Entitlement? {
        let rows = try entitlements.rows(of: customer, product: product, environment: environment)
        return try EntitlementReading(app: app.settings, moment: now).entitlement(
            rows, productID: productID, environment: try environments.environment(environment))
    }
}
