import Foundation
import PurchaseAPI
import PurchaseLedger
import PurchaseVerification
import TextFormats

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
        let orders = try await ledger.answer(OrderList(app: app, customerID: id, limit: Self.rows)).entries
        var filter = SubmissionFilter()
        filter.customerID = id
        let submissions = try await ledger.answer(SubmissionList(app: app, filter: filter, limit: Self.rows))
            .entries
        let events = try await ledger.answer(
            LatestEvents(
                app: app, customerID: id, before: request.query["events"].flatMap(Int64.init), limit: Self.rows)
        )
        let deliveries = try await ledger.answer(EventDeliveries(app: app, events: events.entries.compactMap(\.event)))
            .filter { surroundings.hasWebhook(app, $0.url) }
        let answers = CustomerCase(
            entitlements: entitlements.entitlements, purchases: purchases.entries, submissions: submissions,
            orders: orders, handGrants: summary.handGrants, held: try await held(namedBy: submissions, app))
        let owner = summary.customerID ?? id
        let forms = ActForms(
            role: visit.account.role, sent: request.form,
            products: ledger.settings(of: app).map { Array($0.products.keys) } ?? [],
            purchases: purchases.entries.filter { $0.customerID == owner })
        let canAct = visit.account.role >= .support
        var values: [String: Any] = [
            "app": app, "customer": owner, "packs": Self.packs(app: app, .customer(id)),
            "complaints": Self.complaints(answers, app),
            "entitlements": Self.table(entitlements.entitlements), "purchases": Self.table(purchases.entries, app),
            "orders": orders.map(Self.fields), "hasOrders": !orders.isEmpty,
            "submissions": Self.table(submissions, app),
            "acts": summary.handGrants.suffix(Self.rows).map { Self.fields($0, canLift: canAct) },
            "hasActs": !summary.handGrants.isEmpty, "hasEvents": !events.entries.isEmpty,
            "events": events.entries.map { Self.fields($0, deliveries) }, "canAct": canAct,
            "forms": forms.fields,
        ]
        let offers = try await ledger.answer(OffersOfCustomer(app: app, customerID: id)).offers
        values["offers"] = ConsoleTable.fields(
            "Offers", ["Product", "Offer", "Type", "May have it", "Because"],
            offers.map { offer in
                [
                    Cell(offer.productID), Cell(offer.offerID), Cell(offer.type.rawValue.replacing("_", with: "-")),
                    Cell(offer.isEligible ? "yes" : "no", style: offer.isEligible ? "state good" : "state bad"),
                    Cell("\(offer.reason.sentence) (\(offer.reason.rawValue))"),
                ]
            })
        values["balances"] = try await balances(of: id, app, entitlements.entitlements)
        if entitlements.entitlements.contains(where: { $0.reason == .sandboxNotAccepted }) {
            values["tester"] = forms.tester
        }
        values["notice"] = Self.notice(after: request.query["done"])
        if let survivor = purchases.mergedInto {
            values["notice"] = "The customer was merged into \(survivor), whose purchases are shown."
        }
        if let timeline = AccessDrawing.fields(purchases.entries, now: surroundings.clock(), claims: submissions) {
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

    private static func name(_ entitlement: Entitlement) -> String {
        entitlement.productID + (entitlement.environment == .production ? "" : " (sandbox)")
    }

    private static func table(_ entitlements: [Entitlement]) -> [[String: Any]] {
        ConsoleTable.fields(
            "Entitlements", ["Product", "State", "Why", "Since", "Until", "Units"],
            entitlements.map { entitlement in
                [
                    Cell(name(entitlement), style: "state"),
                    Cell(entitlement.state.rawValue, style: entitlement.stateStyle),
                    Cell(entitlement.reason.map { "\($0.explanation.sentence) (\($0.rawValue))" }),
                    Cell(entitlement.since), Cell(entitlement.until),
                    Cell(entitlement.productKind == .consumable ? "\(entitlement.balance)" : nil),
                ]
            })
    }

    private static func table(_ purchases: [RecordedPurchase], _ app: String) -> [[String: Any]] {
        ConsoleTable.fields(
            "Purchases", ["Transaction", "Product", "State", "Bought", "Ends", "Price"],
            purchases.map { purchase in
                [
                    .link("purchase", app, purchase.transactionID), Cell(purchase.productID),
                    purchase.state,
                    Cell(purchase.purchasedAt), Cell(purchase.expiresAt),
                    Cell(purchase.price?.words),
                ]
            })
    }

    static func table(_ submissions: [SubmissionMessage], _ app: String) -> [[String: Any]] {
        ConsoleTable.fields(
            "Claims", ["Received", "Answer", "Transaction", "Customer", "Claim"],
            submissions.map { submission in
                [
                    Cell(submission.receivedAt),
                    Cell("\(submission.code): \(submission.sentence)", style: submission.stateStyle),
                    .link("purchase", app, submission.transactionID),
                    // A request can name what is no name; nobody has it.
                    submission.customerID.map { ExactText($0).isIdentifier } == false
                        ? Cell(submission.customerID) : .link("customer", app, submission.customerID),
                    .link("claim", app, submission.submissionID),
                ]
            })
    }

    private static func fields(_ order: Order) -> [String: Any] {
        [
            "text":
                "\(order.id.uuidString.lowercased()): \(order.productID), \(order.quantity), \(order.status.rawValue), "
                + "created \(order.createdAt), \(order.fulfilledUnits) delivered"
        ]
    }

    private static func fields(_ act: HandGrantMessage, canLift: Bool) -> [String: Any] {
        let lifted = act.liftedAt.map { ", ended \($0)" } ?? ""
        return [
            "id": act.id, "canLift": canLift && act.liftedAt == nil,
            "text": "\(act.isRevocation ? "Revoked" : "Granted"): \(act.productID), \(act.from)\(lifted)",
        ]
    }

    private static func fields(_ entry: TimelineEntry, _ deliveries: [EventDelivery]) -> [String: Any] {
        let message = entry.message
        return [
            "at": message.at, "text": message.text, "product": message.productID ?? "",
            "reason": [message.amount, message.code, message.reason].compactMap(\.self).joined(separator: ", "),
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
                "lots": ConsoleTable.fields(
                    "Units of \(Self.name(entitlement))", ["Bought", "From", "Units", "Used", "Withdrawn", "Left"],
                    (lots.available + lots.empty).map { Self.cells($0, app) }),
            ])
        }
        return balances
    }

    private static func cells(_ lot: BalanceLot, _ app: String) -> [Cell] {
        [
            Cell(lot.purchasedAt),
            lot.transactionID.map { Cell.link("purchase", app, $0) }
                ?? Cell(lot.grantID.map { "grant \($0.uuidString.lowercased())" }),
            "\(lot.quantity)", "\(lot.taken)", "\(lot.withdrawn)",
            Cell("\(lot.available)", style: "state"),
        ]
    }
}

extension TimelineMessage {
    /// The units of a purchase, or the purchases of a merge, as in "3 units".
    var amount: String? {
        units.map { counted($0, type == EventType.customerMerged.rawValue ? "purchase" : "unit") }
    }
}
