import Foundation
import PurchaseLedger
import PurchaseVerification
import TextFormats

// Inspection of evidence.
extension Console {
    func inspect(
        _ request: ConsoleRequest, _ visit: ConsoleVisit, _ evidence: [UInt8] = []
    ) async throws -> ConsoleResponse {
        let app = try app(request)
        var values: [String: Any] = ["app": app]
        let sent = [evidence, request.file, Array((request.form["evidence"] ?? "").utf8)].first { !$0.isEmpty }
        if let sent {
            values.merge(try await inspection(sent, app)) { $1 }
        } else if request.isPost {
            values["error"] = "Nothing was sent: paste evidence or choose a file of at most 2 MB."
        }
        return render("inspect", "Inspect evidence", visit, values)
    }

    /// Each check of evidence; nothing is recorded. It runs on a thread of its own, which bounds how many run.
    func inspection(_ evidence: [UInt8], _ app: String) async throws -> [String: Any] {
        let (ledger, describe) = (ledger(), surroundings.tools.redactedReport)
        let (inspection, report) = try await inspections.run {
            let inspection = ledger.inspect(evidence, app: app)
            return (inspection, describe?(inspection))
        }
        let redacted: [String: Any] =
            report.map { report in
                [
                    "redacted": report,
                    "redactedHref": "data:text/plain;charset=utf-8;base64,\(Data(report.utf8).base64EncodedString())",
                ]
            } ?? [:]
        let failure = inspection.firstFailure
        let isComplete = inspection.checks.allSatisfy { if case .passed = $0.outcome { true } else { false } }
        var contents: [[String: Any]] = []
        if let content = inspection.content { contents.append(try await self.contents(StatedContent(content), app)) }
        let kind = inspection.evidence?.kind?.rawValue.replacing("_", with: " ")
        return [
            "inspected": true, "kind": kind.map { $0.prefix(1).uppercased() + $0.dropFirst() } ?? "Not recognised.",
            "verdict": isComplete
                ? "Genuine." : failure.map { "\($0.code.sentence) (\($0.code.rawValue))" } ?? "Not verified.",
            "verdictStyle": isComplete ? "state good" : "state bad",
            "contents": contents,
            "checks": ConsoleTable.fields("Checks", ["Check", "Result", "Why"], inspection.checks.map(Self.cells)),
            "hasPath": !inspection.certificatePath.isEmpty, "path": inspection.certificatePath.map { ["name": $0] },
        ]
        .merging(redacted) { $1 }
    }

    /// What evidence states, with the purchases and their owners as recorded here.
    private func contents(_ stated: StatedContent, _ app: String) async throws -> [String: Any] {
        var rows: [[Cell]] = []
        for found in stated.transactions.prefix(Self.rows) {
            let recorded = try await ledger().answer(PurchasesOfTransaction(app: app, transactionID: found.id))
            let owner = recorded.lazy.compactMap(\.customerID).first
            rows.append([
                recorded.isEmpty ? Cell(found.id, style: "id") : .link("purchase", app, found.id),
                Cell(found.product, style: "state"), Cell(found.bought), Cell(found.ends),
                Cell(found.withdrawn.map { "refunded or revoked \($0)" }, style: "state bad"), Cell(found.price?.words),
                owner.map { Cell.link("customer", app, $0) }
                    ?? Cell(recorded.isEmpty ? "not recorded here" : "nobody", style: "soft"),
            ])
        }
        let hidden = stated.transactions.count - rows.count
        return [
            "contentFacts": Self.facts(stated.facts, styles: ["App": "state"]),
            "transactions": ConsoleTable.fields(
                "Transactions", ["Transaction", "Product", "Bought", "Ends", "State", "Price", "Owner here"], rows),
            "more": hidden > 0
                ? ["\(counted(hidden, "earlier transaction is", "earlier transactions are")) not shown."] : [],
        ]
    }

    private static func cells(_ check: EvidenceInspection.Check) -> [Cell] {
        let name = Cell(check.name)
        switch check.outcome {
        case .passed: return [name, Cell("passed", style: "state good"), ""]
        case .notPossible: return [name, Cell("not run", style: "soft"), "An earlier check failed."]
        case .failed(let error):
            return [name, Cell("failed", style: "state bad"), Cell(error.message)]
        }
    }
}

/// What evidence says of itself, verified or not.
private struct StatedContent {
    /// A transaction in it.
    struct Transaction {
        var id: String
        var product: String
        var bought: Timestamp?
        var ends: Timestamp?
        var withdrawn: Timestamp?
        var price: PurchasePrice?
    }

    private(set) var facts: [(String, String?)] = []
    /// The latest first.
    private(set) var transactions: [Transaction] = []

    init(_ content: UnverifiedEvidence) {
        switch content {
        case .appReceipt(let receipt):
            add(receipt.bundleID, receipt.applicationVersion, receipt.environment, receipt.creationDate)
            transactions = receipt.inAppPurchases.map {
                Transaction(
                    id: $0.transactionID, product: $0.productID, bought: $0.purchaseDate, ends: $0.expiresDate,
                    withdrawn: $0.cancellationDate)
            }
        case .transactionReceipt(let receipt, _):
            add(receipt.bundleID, receipt.applicationVersion, receipt.environment, receipt.purchaseDate)
            transactions.append(
                Transaction(
                    id: receipt.transactionID, product: receipt.productID, bought: receipt.purchaseDate,
                    ends: receipt.expiresDate, withdrawn: receipt.cancellationDate))
        case .signedTransaction(let content):
            add(content.bundleID, nil, content.environment, content.signedDate)
            add(content)
        case .signedRenewalInfo(let content):
            add(nil, nil, content.environment, content.signedDate)
            facts.append(("Renews", content.renewalDate.map { "\($0)" }))
            add(subscription: content.originalTransactionID, content.productID)
        case .appTransaction(let content):
            add(content.bundleID, content.applicationVersion, content.environment, content.creationDate)
            facts.append(("App first bought", content.originalPurchaseDate.map { "\($0)" }))
        case .notification(let content):
            let type = [content.notificationType?.rawValue, content.subtype?.rawValue]
            facts.append(("Notification", type.compactMap(\.self).joined(separator: " ")))
            add(content.bundleID, content.applicationVersion, content.environment, content.signingDate)
            if let transaction = content.transaction { add(transaction) }
        case .realtimeRequest(let content):
            add(nil, nil, content.environment, content.signedDate)
            add(subscription: content.originalTransactionID, content.productID)
        }
        transactions.sort { ($0.bought?.millisecondsSince1970 ?? .min) > ($1.bought?.millisecondsSince1970 ?? .min) }
    }

    private mutating func add(
        _ app: String?, _ version: String?, _ environment: AppStoreEnvironment?, _ signed: Timestamp?
    ) {
        facts += [
            ("App", app.map { $0 + (version.map { ", version \($0)" } ?? "") }), ("Environment", environment?.name),
            ("Signed", signed.map { "\($0)" }),
        ]
    }

    private mutating func add(subscription: String?, _ product: String?) {
        guard let subscription else { return }
        transactions.append(Transaction(id: subscription, product: product ?? ""))
    }

    private mutating func add(_ content: UnverifiedSignedTransaction) {
        guard !content.transactionID.isEmpty else { return }
        transactions.append(
            Transaction(
                id: content.transactionID, product: content.productID, bought: content.purchaseDate,
                ends: content.expiresDate, withdrawn: content.revocationDate,
                price: PurchasePrice(milliunits: content.price, currency: content.currency.map { ExactText($0) })))
    }
}
