import Foundation
import PurchaseAPI
import PurchaseLedger
import PurchaseVerification

// The pages of a purchase and a claim.
extension Console {
    func purchase(_ request: ConsoleRequest, _ visit: ConsoleVisit) async throws -> ConsoleResponse {
        let (app, id) = (try app(request), request.query["id"] ?? "")
        let purchases = try await ledger().answer(PurchasesOfTransaction(app: app, transactionID: id))
        var filter = SubmissionFilter()
        filter.transactionID = id
        let claims = try await ledger().answer(SubmissionList(app: app, filter: filter, limit: Self.rows)).entries
        guard !purchases.isEmpty || !claims.isEmpty else {
            return message("No purchase of this transaction is recorded, and no claim is found by it", 404, visit)
        }
        var stories: [[String: Any]] = []
        for purchase in purchases {
            var story = try await story(purchase, claims, app, visit)
            if purchase.customerID == nil, visit.account.role >= .support {
                story["give"] = [
                    "app": app, "transaction": id, "environment": purchase.environment.name,
                    "isOpen": request.form["second"] == purchase.environment.name,
                    "to": request.form["id"] ?? "", "reason": request.form["reason"] ?? "",
                ]
            }
            stories.append(story)
        }
        let news = try await ledger().answer(
            NotificationList(app: app, filter: NotificationFilter(transactionID: id), limit: Self.rows)
        ).entries
        var values: [String: Any] = [
            "stories": stories, "unknown": purchases.isEmpty,
            "claimants": Set(claims.compactMap(\.customerID)).sorted().map { ["name": $0] },
            "packs": Self.packs(app: app, .transaction(id)),
            "submissions": Self.table(claims, app), "news": Self.table(news, app),
        ]
        let accepted = claims.first { $0.verdict == .accepted }
        let entry = accepted?.submissionID ?? news.first?.entryID ?? claims.first?.submissionID
        if let entry = entry.flatMap(UUID.init(uuidString:)) {
            values.merge(try await evidence(of: entry, app)) { $1 }
            values["links"] = [Self.proofLink(entry, app)]
        }
        return render("purchase", "Purchase \(id)", visit, values)
    }

    private func story(
        _ purchase: RecordedPurchase, _ claims: [SubmissionMessage], _ app: String, _ visit: ConsoleVisit
    ) async throws -> [String: Any] {
        var entitlements: [Entitlement] = []
        var values: [String: Any] = [:]
        if let owner = purchase.customerID {
            entitlements = try await ledger().answer(EntitlementsOfCustomer(app: app, customerID: owner)).entitlements
                .filter { $0.productID == purchase.productID }
            values = [
                "owner": owner, "ownerHref": Self.address("customer", app: app, owner), "app": app, "customer": owner,
            ]
            if entitlements.contains(where: { $0.reason == .sandboxNotAccepted }) {
                values["tester"] = ActForms(role: visit.account.role).tester
            }
        }
        let answers = CustomerCase(
            entitlements: entitlements, purchases: [purchase], submissions: claims, orders: [], handGrants: [],
            held: purchase.customerID == nil ? [purchase.transactionID: purchase] : [:])
        let facts: [(String, String?)] = [
            ("Product", purchase.productID), ("State", purchase.state.text),
            ("Bought", purchase.purchasedAt.map { "\($0)" }), ("Ends", purchase.expiresAt.map { "\($0)" }),
            ("Price", purchase.price?.words), ("Units", "\(purchase.quantity)"),
            ("Environment", purchase.environment.name),
            ("First transaction", purchase.isFirst ? nil : purchase.originalTransactionID),
            ("Apple's order line", purchase.orderLineID), ("Owner by rule", purchase.ownerReason),
            ("Order", purchase.orderID?.uuidString.lowercased()),
            ("Known here since", "\(purchase.knownAt)"),
        ]
        values["heading"] = "What is recorded"
        values["facts"] = Self.facts(facts, styles: ["Product": "state", "State": purchase.state.style])
        values["complaints"] = Self.complaints(answers, app)
        return values
    }

    /// The purchases that claims without success name, and that nobody owns, by transaction.
    func held(namedBy claims: [SubmissionMessage], _ app: String) async throws -> [String: RecordedPurchase] {
        var held: [String: RecordedPurchase] = [:]
        for id in Set(claims.filter { $0.verdict != .accepted }.compactMap(\.transactionID)) {
            held[id] = try await ledger().answer(PurchasesOfTransaction(app: app, transactionID: id))
                .first { $0.customerID == nil }
        }
        return held
    }

    func submission(_ request: ConsoleRequest, _ visit: ConsoleVisit) async throws -> ConsoleResponse {
        let app = try app(request)
        guard let id = UUID(uuidString: request.query["id"] ?? ""),
            let claim = try await ledger().answer(SubmissionByID(app: app, submissionID: id))
        else { return message("There is no such claim", 404, visit) }
        var links: [[String: Any]] = []
        if let transaction = claim.transactionID {
            links.append(["href": Self.address("purchase", app: app, transaction), "text": "Purchase \(transaction)"])
        }
        if let customer = claim.customerID {
            links.append(["href": Self.address("customer", app: app, customer), "text": "Customer \(customer)"])
        }
        let facts: [(String, String?)] = [
            ("Answer", claim.code), ("Received", claim.receivedAt), ("Expected", claim.expected),
            ("Found", claim.found), ("Product", claim.productID), ("Order", claim.orderID),
            ("Evidence", claim.evidenceKind), ("SHA-256 of the evidence", claim.evidenceSHA256),
            ("Leaf of the record", claim.leafNumber.map { "\($0)" } ?? "not sealed yet"), ("Leaf hash", claim.leafHash),
        ]
        if claim.leafNumber != nil { links.append(Self.proofLink(id, app)) }
        let held = try await held(namedBy: [claim], app).values.first
        var values: [String: Any] = [
            "sentence": claim.sentence, "action": held?.advice ?? claim.action, "links": links,
            "facts": Self.facts(facts, styles: ["Answer": claim.stateStyle]),
        ]
        values.merge(try await evidence(of: id, app)) { $1 }
        return render("submission", "Claim \(id.uuidString.lowercased())", visit, values)
    }

    /// The evidence of an entry, checked now; empty if it has none, or no longer.
    private func evidence(of entry: UUID, _ app: String) async throws -> [String: Any] {
        let query = EvidenceOfEntry(app: app, entryID: entry, kinds: EvidenceOfEntry.claimKinds + [.notification])
        guard let evidence = try await ledger().answer(query), evidence.isWhole else { return [:] }
        do {
            return try await inspection(evidence.bytes, app)
        } catch is BoundedThread.Busy {
            return ["notInspected": true]
        }
    }

    /// The address of the proof of an entry.
    static func proofLink(_ entry: UUID, _ app: String) -> [String: Any] {
        [
            "href": address("proof", app: app, entry.uuidString.lowercased()),
            "text": "Download the proof that entry \(entry.uuidString.lowercased()) is in the record",
        ]
    }

    private static func table(_ news: [NotificationMessage], _ app: String) -> [[String: Any]] {
        ConsoleTable.fields(
            "Apple's notifications", ["Received", "Signed", "Notification", "Reason", "Proof"],
            news.map { news in
                [
                    Cell(news.receivedAt), Cell(news.signedAt),
                    Cell([news.type, news.subtype].compactMap(\.self).joined(separator: " ")),
                    Cell(news.refundReason), .link("proof", app, news.entryID),
                ]
            })
    }

    /// - Parameter styles: the classes of the style sheet of some facts, by their names.
    static func facts(_ facts: [(String, String?)], styles: [String: String] = [:]) -> [[String: Any]] {
        facts.compactMap { name, value in
            value.map { ["name": name, "value": $0, "style": styles[name] ?? ""] }
        }
    }
}
