import Foundation
import PurchaseLedger
import PurchaseVerification

// The search box.
extension Console {
    static let longestName = 256

    func search(_ request: ConsoleRequest, _ visit: ConsoleVisit, _ text: String?) async throws -> ConsoleResponse {
        let app = try app(request)
        let text = text?.trimmingCharacters(in: .whitespacesAndNewlines) ?? ""
        if text.utf8.count > Self.longestName { return try await inspect(request, visit, Array(text.utf8)) }
        var results = text.isEmpty ? [] : try await results(text, app)
        var order: AppleOrderAnswer?
        if results.isEmpty, AppleOrderNumber.isOne(text.uppercased()) {
            let answer = try await surroundings.appleOrder(text.uppercased(), app)
            if case .transactions(let ids) = answer {
                results = ids.map { Result(kind: "Purchase", href: Self.address("purchase", app: app, $0), text: $0) }
            }
            order = answer
        }
        if results.count == 1, results[0].isExact { return .seeOther(results[0].href) }
        var values: [String: Any] = [
            "q": text, "app": app, "searched": !text.isEmpty, "found": !results.isEmpty,
            "results": results.map { ["kind": $0.kind, "href": $0.href, "text": $0.text] },
            "manyApps": ledger().apps.count > 1,
            "apps": ledger().apps.map { ["name": $0, "selected": $0 == app] as [String: Any] },
        ]
        values["isSimilar"] = !results.isEmpty && !results.contains(where: \.isExact)
        values["order"] = order.flatMap(Self.words)
        if text.isEmpty {
            var filter = SubmissionFilter()
            filter.verdict = .rejected
            let refused = try await ledger().answer(SubmissionList(app: app, filter: filter, limit: 10)).entries
            values["submissions"] = Self.table(refused, app)
        }
        return render("search", "Search", visit, values)
    }

    /// Why Apple named no purchase of an order number.
    private static func words(_ answer: AppleOrderAnswer) -> String? {
        switch answer {
        case .transactions: nil
        case .unknown: "Apple was asked, and knows no order of the app with this number."
        case .notConfigured:
            "If it is the order number of Apple's mail: the app has no key of the App Store Server API, so Apple cannot be "
                + "asked (app_store_keys in the settings)."
        case .noAnswer(let code):
            "If it is the order number of Apple's mail: Apple gave no answer (\(code)); try again later."
        }
    }

    private struct Result {
        var kind: String
        var href: String
        var text: String
        /// Whether it is what was asked for, and not only similar.
        var isExact = true
    }

    private func results(_ text: String, _ app: String) async throws -> [Result] {
        let ledger = ledger()
        var results: [Result] = []
        for found in try await ledger.answer(TransactionSearch(app: app, text: text, limit: Self.rows)) {
            let id = found.transactionID
            results.append(
                Result(
                    kind: found.isPurchase ? "Purchase" : "Refused claims of transaction",
                    href: Self.address("purchase", app: app, id), text: id, isExact: ExactText(id) == ExactText(text)))
        }
        if let id = UUID(uuidString: text),
            try await ledger.answer(SubmissionByID(app: app, submissionID: id)) != nil
        {
            results.append(Result(kind: "Claim", href: Self.address("claim", app: app, text), text: text))
        }
        do {
            _ = try await ledger.answer(ExternalPurchaseOfID(app: app, id: text))
            let href = Self.address("external", app: app, text)
            results.append(Result(kind: "External purchase token", href: href, text: text))
        } catch let refusal as LedgerRefusal where refusal.code == .externalPurchaseUnknown {
            // It names something else.
        }
        for found in try await ledger.answer(CustomerSearch(app: app, text: text, limit: Self.rows))
        where found.foundBy != .transaction {
            let href = Self.address("customer", app: app, found.customerID)
            if results.contains(where: { $0.href == href }) { continue }
            let how = found.foundBy == .id ? "" : " (by \(found.foundBy.rawValue))"
            let isExact =
                found.foundBy == .id
                ? ExactText(found.customerID) == ExactText(text) : UUID(uuidString: text) != nil
            results.append(Result(kind: "Customer", href: href, text: found.customerID + how, isExact: isExact))
        }
        return results.filter(\.isExact) + results.filter { !$0.isExact }
    }
}
