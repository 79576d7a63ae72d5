import Foundation
import PurchaseLedger
import PurchaseVerification

// The search box, and the pages of a purchase and a claim.
extension Console {
    private static let longestName = 256

    func search(_ request: ConsoleRequest, _ visit: ConsoleVisit, _ text: String?) async throws -> ConsoleResponse {
        let app = try app(request)
        let text = text?.trimmingCharacters(in: .whitespacesAndNewlines) ?? ""
        if text.utf8.count > Self.longestName { return try await inspect(request, visit, text) }
        let results = text.isEmpty ? [] : try await results(text, app)
        if results.count == 1 { return .seeOther(results[0].href) }
        var values: [String: Any] = [
            "q": text, "app": app, "searched": !text.isEmpty, "found": !results.isEmpty,
            "results": results.map { ["kind": $0.kind, "href": $0.href, "text": $0.text] },
            "manyApps": ledger().apps.count > 1,
            "apps": ledger().apps.map { ["name": $0, "selected": $0 == app] as [String: Any] },
        ]
        if text.isEmpty {
            var filter = SubmissionFilter()
            filter.verdict = .rejected
            let refused = try await ledger().answer(SubmissionList(app: app, filter: filter, limit: 10)).submissions
            values["submissions"] = refused.map { Self.fields($0, app) }
            values["hasRefused"] = !refused.isEmpty
        }
        return render("search", "Search", visit, values)
    }

    private struct Result {
        var kind: String
        var href: String
        var text: String
    }

    private func results(_ text: String, _ app: String) async throws -> [Result] {
        let ledger = ledger()
        var results: [Result] = []
        if try await !ledger.answer(PurchasesOfTransaction(app: app, transactionID: text)).isEmpty {
            results.append(Result(kind: "Purchase", href: Self.address("purchase", app: app, text), text: text))
        }
        if let id = UUID(uuidString: text),
            try await ledger.answer(SubmissionByID(app: app, submissionID: id)) != nil
        {
            results.append(Result(kind: "Claim", href: Self.address("claim", app: app, text), text: text))
        }
        for found in try await ledger.answer(CustomerSearch(app: app, text: text, limit: Self.rows))
        where found.foundBy != .transaction || results.isEmpty {
            let href = Self.address("customer", app: app, found.customerID)
            if results.contains(where: { $0.href == href }) { continue }
            let how = found.foundBy == .id ? "" : " (by \(found.foundBy.rawValue))"
            results.append(Result(kind: "Customer", href: href, text: found.customerID + how))
        }
        return results
    }

    func purchase(_ request: ConsoleRequest, _ visit: ConsoleVisit) async throws -> ConsoleResponse {
        let (app, id) = (try app(request), request.query["id"] ?? "")
        let purchases = try await ledger().answer(PurchasesOfTransaction(app: app, transactionID: id))
        guard !purchases.isEmpty else { return message("No purchase of this transaction is recorded", 404) }
        var filter = SubmissionFilter()
        filter.transactionID = id
        let claims = try await ledger().answer(SubmissionList(app: app, filter: filter, limit: Self.rows)).submissions
        var stories: [[String: Any]] = []
        for purchase in purchases { stories.append(try await story(purchase, claims, app)) }
        return render(
            "purchase", "Purchase \(id)", visit,
            [
                "stories": stories, "packs": Self.packs(app: app, .transaction(id)),
                "submissions": claims.map { Self.fields($0, app) },
                "hasSubmissions": !claims.isEmpty,
            ])
    }

    private func story(
        _ purchase: RecordedPurchase, _ claims: [SubmissionRecord], _ app: String
    ) async throws -> [String: Any] {
        var entitlements: [Entitlement] = []
        var values: [String: Any] = [:]
        if let owner = purchase.customerID {
            entitlements = try await ledger().answer(EntitlementsOfCustomer(app: app, customerID: owner)).entitlements
                .filter { $0.productID == purchase.productID }
            values = ["owner": owner, "ownerHref": Self.address("customer", app: app, owner)]
        }
        var answers = CustomerCase(
            entitlements: entitlements, purchases: [purchase], submissions: claims, orders: [], handGrants: [])
        if purchase.customerID == nil {
            answers.submissions = claims
        }
        let facts: [(String, String?)] = [
            ("Product", purchase.productID), ("Environment", purchase.environment.name),
            ("Bought", purchase.purchasedAt.map { "\($0)" }), ("Ends", purchase.expiresAt.map { "\($0)" }),
            ("Units", "\(purchase.quantity)"), ("First transaction", purchase.originalTransactionID),
            ("Withdrawn by Apple", purchase.withdrawal.map { "\($0.cause.rawValue), \($0.date)" } ?? "no"),
            ("Owner by rule", purchase.ownerReason), ("Order", purchase.orderID?.uuidString.lowercased()),
            ("Known here since", "\(purchase.knownAt)"),
        ]
        values["heading"] = "What is recorded"
        values["facts"] = Self.facts(facts)
        values["complaints"] = Self.complaints(answers)
        return values
    }

    func submission(_ request: ConsoleRequest, _ visit: ConsoleVisit) async throws -> ConsoleResponse {
        let app = try app(request)
        guard let id = UUID(uuidString: request.query["id"] ?? ""),
            let claim = try await ledger().answer(SubmissionByID(app: app, submissionID: id))
        else { return message("There is no such claim", 404) }
        var links: [[String: Any]] = []
        if let transaction = claim.transactionID {
            links.append(["href": Self.address("purchase", app: app, transaction), "text": "Purchase \(transaction)"])
        }
        if let customer = claim.customerID {
            links.append(["href": Self.address("customer", app: app, customer), "text": "Customer \(customer)"])
        }
        let facts: [(String, String?)] = [
            ("Received", "\(claim.receivedAt)"), ("Code", claim.code), ("Expected", claim.expected),
            ("Found", claim.found), ("Product", claim.productID), ("Order", claim.orderID),
            ("Evidence", claim.evidenceKind), ("SHA-256 of the evidence", claim.evidenceSHA256),
            ("Leaf of the record", claim.leafNumber.map { "\($0)" } ?? "not sealed yet"), ("Leaf hash", claim.leafHash),
            ("Proof of inclusion", "assay audit prove \(id.uuidString.lowercased())"),
        ]
        var values: [String: Any] = [
            "sentence": claim.sentence, "action": claim.action, "facts": Self.facts(facts), "links": links,
        ]
        if let evidence = try await ledger().answer(EvidenceOfSubmission(app: app, submissionID: id)), evidence.isWhole
        {
            values.merge(try await inspection(evidence.bytes, app)) { $1 }
        }
        return render("submission", "Claim \(id.uuidString.lowercased())", visit, values)
    }

    static func facts(_ facts: [(String, String?)]) -> [[String: Any]] {
        facts.compactMap { name, value in value.map { ["name": name, "value": $0] } }
    }
}
