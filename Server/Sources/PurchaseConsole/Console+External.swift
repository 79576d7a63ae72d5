import PurchaseAPI
import PurchaseLedger
import PurchaseVerification
import TextFormats

// The external purchase tokens of an app, and what Apple was told about them.
extension Console {
    /// The most line items that a page shows.
    private static let mostItems = 200

    func externalPurchases(_ request: ConsoleRequest, _ visit: ConsoleVisit) async throws -> ConsoleResponse {
        let app = try app(request)
        if let id = request.query["id"], !id.isEmpty { return try await externalPurchase(id, app, visit) }
        let state = request.query["state"].flatMap(ExternalPurchaseState.init(rawValue:))
        let page = try await ledger().answer(
            ExternalPurchaseList(
                app: app, state: state, before: request.query["before"].flatMap(Int64.init), limit: Self.rows))
        func address(_ state: ExternalPurchaseState?, before: Int64? = nil, of app: String = app) -> String {
            let more = [("state", state?.rawValue), ("before", before.map { "\($0)" })]
            return "/console/external?app=\(FormFields.encoded(app))"
                + more.compactMap { name, value in value.map { "&\(name)=\($0)" } }.joined()
        }
        var values: [String: Any] = [
            "app": app,
            "states": ([nil] + ExternalPurchaseState.allCases).map { one -> [String: Any] in
                ["name": one?.rawValue ?? "all", "href": address(one), "isChosen": one == state]
            },
            "apps": ledger().apps.filter { $0 != app }.map { ["name": $0, "href": address(state, of: $0)] },
            "tokens": ConsoleTable.fields(
                "External purchase tokens",
                ["Token", "State", "Kind", "Environment", "Created", "Expires", "Due", "Reported"],
                page.entries.map { token in
                    [
                        .link("external", app, token.externalPurchaseID), Cell(token.state, style: token.stateStyle),
                        Cell(token.tokenType), Cell(token.environment.rawValue), Cell(token.createdAt),
                        Cell(token.expiresAt), Cell(token.dueAt), Cell(token.reportedAt),
                    ]
                }),
        ]
        if let next = page.next { values["next"] = address(state, before: next) }
        return render("external", "External purchases", visit, values)
    }

    private func externalPurchase(_ id: String, _ app: String, _ visit: ConsoleVisit) async throws -> ConsoleResponse {
        let token = try await ledger().answer(ExternalPurchaseOfID(app: app, id: id))
        let facts: [(String, String?)] = [
            ("State", "\(token.state): \(token.sentence)"), ("Kind", token.tokenType),
            ("Environment", token.environment.rawValue), ("Known from", token.stated ? "the backend" : "Apple alone"),
            ("Created", token.createdAt), ("Expires", token.expiresAt), ("Next report", token.dueAt),
            ("Last report", token.requestID), ("Apple refused it", token.refusal),
            ("Accepted as", token.status), ("Accepted", token.reportedAt),
        ]
        // What waits for Apple comes first.
        let items = (token.lineItems ?? []).sorted { !$0.reported && $1.reported }
        var values: [String: Any] = [
            "app": app, "facts": Self.facts(facts, styles: ["State": token.stateStyle]),
            "items": ConsoleTable.fields(
                "Line items", ["Line item", "At Apple"],
                items.prefix(Self.mostItems).map { item in
                    [
                        Cell(item.lineItemID, style: "id"),
                        item.reported
                            ? Cell("reported", style: "state good") : Cell("not as stated last", style: "state warn"),
                    ]
                }),
        ]
        if items.count > Self.mostItems {
            values["more"] = "There are \(items.count); shown are the first \(Self.mostItems)."
        }
        return render("external-token", "External purchase token \(id)", visit, values)
    }
}

extension ExternalPurchaseMessage {
    fileprivate var stateStyle: String {
        ["reported": "state good", "refused": "state bad"][state] ?? "state warn"
    }

    /// What the state means, and what to do.
    fileprivate var sentence: String {
        switch ExternalPurchaseState(rawValue: state) {
        case .open: "nothing is to be reported yet."
        case .due: "a report waits for its time, for Apple's answer, or for a key in app_store_keys."
        case .reported: "Apple accepted everything that is known."
        case .refused: "the backend has to state the line items again, corrected."
        case nil: ""
        }
    }
}
