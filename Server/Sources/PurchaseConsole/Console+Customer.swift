import Foundation
import PurchaseLedger
import PurchaseVerification

// The page of a customer.
extension Console {
    func customer(_ request: ConsoleRequest, _ visit: ConsoleVisit) async throws -> ConsoleResponse {
        let (app, id) = (try app(request), request.query["id"] ?? "")
        let ledger = ledger()
        let summary = try await ledger.answer(CustomerSummary(app: app, customerID: id))
        let purchases = try await ledger.answer(
            PurchasesOfCustomer(
                app: app, customerID: id, before: request.query["before"].flatMap(Int64.init), limit: Self.rows))
        let entitlements = try await ledger.answer(EntitlementsOfCustomer(app: app, customerID: id))
        let orders = try await ledger.answer(OrderList(app: app, customerID: id, limit: Self.rows)).orders
        var filter = SubmissionFilter()
        filter.customerID = id
        let submissions = try await ledger.answer(SubmissionList(app: app, filter: filter, limit: Self.rows))
            .submissions
        let events = try await ledger.answer(
            LatestEvents(
                app: app, customerID: id, before: request.query["events"].flatMap(Int64.init) ?? .max, limit: Self.rows)
        )
        let deliveries = try await ledger.answer(EventDeliveries(app: app, events: events.entries.compactMap(\.event)))
            .filter { surroundings.hasWebhook(app, $0.url) }
        let answers = CustomerCase(
            entitlements: entitlements.entitlements, purchases: purchases.purchases, submissions: submissions,
            orders: orders, handGrants: summary.handGrants, held: try await held(namedBy: submissions, app))
        let canAct = visit.account.role >= .support
        var values: [String: Any] = [
            "app": app, "customer": id, "packs": Self.packs(app: app, .customer(id)),
            "complaints": Self.complaints(answers, app),
            "entitlements": entitlements.entitlements.map(Self.fields),
            "hasEntitlements": !entitlements.entitlements.isEmpty,
            "purchases": purchases.purchases.map { Self.fields($0, app) }, "hasPurchases": !purchases.purchases.isEmpty,
            "orders": orders.map(Self.fields), "hasOrders": !orders.isEmpty,
            "submissions": submissions.map { Self.fields($0, app) }, "hasSubmissions": !submissions.isEmpty,
            "acts": summary.handGrants.suffix(Self.rows).map { Self.fields($0, canLift: canAct) },
            "hasActs": !summary.handGrants.isEmpty, "hasEvents": !events.entries.isEmpty,
            "events": events.entries.map { Self.fields($0, deliveries) }, "canAct": canAct,
            "forms": Self.forms(visit.account.role),
        ]
        values["balances"] = try await balances(of: id, app, entitlements.entitlements)
        values["notice"] = Self.notice(after: request.query["done"])
        if let survivor = purchases.mergedInto {
            values["notice"] = "The customer was merged into \(survivor), whose purchases are shown."
        }
        if let timeline = AccessDrawing.fields(purchases.purchases, now: surroundings.clock(), claims: submissions) {
            values["timeline"] = timeline
        }
        if let next = purchases.next {
            values["nextPurchases"] = Self.address("customer", app: app, id, [("before", "\(next)")])
        }
        if let next = events.next {
            values["nextEvents"] = Self.address("customer", app: app, id, [("events", "\(next)")])
        }
        return render("customer", "Customer \(id)", visit, values)
    }

    static func complaints(_ answers: CustomerCase, _ app: String) -> [[String: Any]] {
        [
            ("“I paid and got nothing”", answers.paidAndGotNothing), ("“I was charged twice”", answers.chargedTwice),
            ("“It was refunded, but it is still locked or unlocked”", answers.refunded),
        ].map { question, lines in
            [
                "question": question,
                "lines": lines.map { line in
                    var fields: [String: Any] = ["text": line.text, "action": line.action]
                    fields["href"] = line.transaction.map { address("purchase", app: app, $0) }
                    fields["link"] = line.transaction.map { "Purchase \($0)" }
                    return fields
                },
            ]
        }
    }

    /// The forms that a role may use.
    private static func forms(_ role: OperatorRole) -> [[String: Any]] {
        var forms: [[String: Any]] = [
            ["act": "grant", "label": "Grant a product", "target": "Product", "second": "Units of a consumable"],
            ["act": "revoke", "label": "Revoke a purchase", "target": "Transaction"],
            ["act": "transfer", "label": "Transfer a purchase", "target": "Transaction", "second": "To the customer"],
        ]
        if role >= .admin {
            forms.append([
                "act": "merge", "label": "Merge into another customer", "target": "The customer that remains",
            ])
            forms.append(["act": "erase", "label": "Erase the customer", "target": "The name of the customer, again"])
        }
        return forms
    }

    private static func name(_ entitlement: Entitlement) -> String {
        entitlement.productID + (entitlement.environment == .production ? "" : " (sandbox)")
    }

    private static func fields(_ entitlement: Entitlement) -> [String: Any] {
        [
            "product": name(entitlement),
            "state": entitlement.state.rawValue,
            "why": entitlement.reason.map { "\($0.explanation.sentence) (\($0.rawValue))" } ?? "",
            "since": entitlement.since.map { "\($0)" } ?? "", "until": entitlement.until.map { "\($0)" } ?? "",
            "units": entitlement.productKind == .consumable ? "\(entitlement.balance)" : "",
        ]
    }

    static func fields(_ purchase: RecordedPurchase, _ app: String) -> [String: Any] {
        [
            "href": address("purchase", app: app, purchase.transactionID), "id": purchase.transactionID,
            "product": purchase.productID, "bought": purchase.purchasedAt.map { "\($0)" } ?? "",
            "ends": purchase.expiresAt.map { "\($0)" } ?? "",
            "state": purchase.withdrawal.map { "\($0.cause.rawValue) \($0.date)" }
                ?? (purchase.upgradedAt == nil ? "kept" : "upgraded"),
            "owner": purchase.customerID ?? "nobody",
        ]
    }

    static func fields(_ submission: SubmissionRecord, _ app: String) -> [String: Any] {
        var values: [String: Any] = [
            "at": "\(submission.receivedAt)", "id": submission.submissionID.uuidString.lowercased(),
            "href": address("claim", app: app, submission.submissionID.uuidString), "code": submission.code,
            "sentence": submission.sentence, "transaction": submission.transactionID ?? "",
            "customer": submission.customerID ?? "",
        ]
        values["purchaseHref"] = submission.transactionID.map { address("purchase", app: app, $0) }
        // A request can name what is no name; nobody has it.
        values["customerHref"] = submission.customerID.flatMap {
            ExactText($0).isIdentifier ? address("customer", app: app, $0) : nil
        }
        return values
    }

    private static func fields(_ order: Order) -> [String: Any] {
        [
            "text":
                "\(order.id.uuidString.lowercased()): \(order.productID), \(order.quantity), \(order.status.rawValue), "
                + "created \(order.createdAt), \(order.fulfilledUnits) delivered"
        ]
    }

    private static func fields(_ act: HandGrantRecord, canLift: Bool) -> [String: Any] {
        let lifted = act.liftedAt.map { ", ended \($0)" } ?? ""
        return [
            "id": act.id.uuidString.lowercased(), "canLift": canLift && act.liftedAt == nil,
            "text": "\(act.isRevocation ? "Revoked" : "Granted"): \(act.productID), \(act.startsAt)\(lifted)",
        ]
    }

    private static func fields(_ entry: TimelineEntry, _ deliveries: [EventDelivery]) -> [String: Any] {
        [
            "at": "\(entry.at)", "text": entry.text, "product": entry.productID ?? "",
            "reason": [entry.units.map { "\($0) units" }, entry.code, entry.reason].compactMap(\.self).joined(
                separator: ", "),
            "deliveries": deliveries.filter { $0.event == entry.event }.map {
                ["text": entry.isAnnounced ? words($0) : "Not sent: events of an import are not delivered."]
            },
        ]
    }

    private static func words(_ delivery: EventDelivery) -> String {
        let attempts = delivery.attempts == 0 ? "" : " after \(delivery.attempts) failed"
        let error = delivery.lastError.map { ", \($0)" } ?? ""
        return switch delivery.state {
        case .delivered: "Delivered to \(delivery.url)."
        case .waiting: "Waits for \(delivery.url)\(attempts)\(error)."
        case .givenUp: "Given up for \(delivery.url)\(attempts)\(error); State has the form to resend it."
        }
    }

    /// The most consumables whose units are listed: each takes two reads.
    private static let mostBalances = 20

    /// The purchases and grants that the units of each consumable come from.
    private func balances(of id: String, _ app: String, _ entitlements: [Entitlement]) async throws -> [[String: Any]] {
        var balances: [[String: Any]] = []
        for entitlement in entitlements.filter({ $0.productKind == .consumable }).prefix(Self.mostBalances) {
            let lots = try await ledger().answer(
                LotsOfBalance(
                    app: app, customerID: id, productID: entitlement.productID, environment: entitlement.environment,
                    limit: Self.rows))
            balances.append([
                "product": Self.name(entitlement), "hasMore": lots.hasMore,
                "lots": (lots.available + lots.empty).map { Self.fields($0, app) },
            ])
        }
        return balances
    }

    private static func fields(_ lot: BalanceLot, _ app: String) -> [String: Any] {
        var values: [String: Any] = [
            "bought": "\(lot.purchasedAt)", "quantity": "\(lot.quantity)", "taken": "\(lot.taken)",
            "withdrawn": "\(lot.withdrawn)", "available": "\(lot.available)",
            "source": lot.transactionID ?? lot.grantID.map { "grant \($0.uuidString.lowercased())" } ?? "",
        ]
        values["lotHref"] = lot.transactionID.map { address("purchase", app: app, $0) }
        return values
    }
}
