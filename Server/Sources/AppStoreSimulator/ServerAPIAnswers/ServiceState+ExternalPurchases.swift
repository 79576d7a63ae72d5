import EvidenceMint
import Foundation

/// An error in a report about an external purchase token: the numbers are Apple's (External Purchase Server API, "Error
/// messages and codes"; 9 by its place in Apple's list), the texts are not.
private struct ReportError: Error {
    let number: Int64
    let field: String
    var item: String?

    private static let texts: [Int64: String] = [
        1: "The value was submitted before.", 3: "The value refers to nothing.", 4: "The field is required.",
        7: "The word is unknown.", 8: "The token was reported with line items.",
        9: "The status needs line items.", 10: "The status has no line items.",
        11: "The amounts do not add up.", 20: "An erroneous line item is a restatement.",
        21: "The line item is no sale.",
    ]

    var json: ClaimValue {
        .object([
            "errorCode": .integer(number), "errorMessage": .string(Self.texts[number] ?? ""),
            "fieldName": .string(field), "lineItemId": item.map(ClaimValue.string),
        ])
    }
}

extension ServiceState {
    /// `PUT /externalPurchase/v1/reports` and `GET …/{id}`. The store takes every token of the environment. A report is
    /// taken as a whole or not at all.
    mutating func externalReport(_ request: ServerAPIRequest, _ scope: ServerAPIScope) throws -> ServerAPIAnswer {
        var known = settings.serverAPI.externalReports[scope.key] ?? ExternalReports()
        if request.operation == .externalReport {
            guard let report = known.reports[request.path[0]] else {
                var answer = ServerAPIAnswer(status: 400)
                answer.json = ReportError(number: 3, field: "requestIdentifier").json
                return answer
            }
            return ServerAPIAnswer(["report": .raw(report)])
        }
        // Within the limits of a body.
        _ = try request.object()
        guard let report = try JSONSerialization.jsonObject(with: Data(request.body)) as? [String: Any] else {
            throw ServerAPIFailure.generalBadRequest
        }
        do throws(ReportError) {
            try known.take(report, scope.environment)
        } catch {
            var answer = ServerAPIAnswer(status: 400)
            answer.json = .object(["errors": .array([error.json])])
            return answer
        }
        let identifier = report["requestIdentifier"] as? String ?? ""
        let kept = try JSONSerialization.data(withJSONObject: report, options: [.sortedKeys])
        known.reports[identifier] = String(decoding: kept, as: UTF8.self)
        settings.serverAPI.externalReports[scope.key] = known
        return ServerAPIAnswer(["requestIdentifier": .string(identifier)])
    }
}

extension ExternalReports {
    private static let statuses = ["LINE_ITEM", "NO_LINE_ITEM", "UNRECOGNIZED_TOKEN", "DUPLICATE_TOKEN"]

    /// Checks a report and notes its line items.
    fileprivate mutating func take(_ report: [String: Any], _ environment: StoreEnvironment) throws(ReportError) {
        func text(_ name: String, of object: [String: Any], _ item: String? = nil) throws(ReportError) -> String {
            guard let text = object[name] as? String, !text.isEmpty else {
                throw ReportError(number: 4, field: name, item: item)
            }
            return text
        }
        let identifier = try text("requestIdentifier", of: report)
        guard reports[identifier] == nil else { throw ReportError(number: 1, field: "requestIdentifier") }
        let token = try text("externalPurchaseId", of: report)
        guard token.hasPrefix("SANDBOX") == (environment == .sandbox) else {
            throw ReportError(number: 3, field: "externalPurchaseId")
        }
        let status = try text("status", of: report)
        guard Self.statuses.contains(status) else { throw ReportError(number: 7, field: "status") }
        let objects = report["lineItems"] as? [[String: Any]] ?? []
        if status == "LINE_ITEM" {
            guard !objects.isEmpty else { throw ReportError(number: 9, field: "lineItems") }
        } else {
            guard objects.isEmpty else { throw ReportError(number: 10, field: "lineItems") }
            guard !withItems.contains(token) else { throw ReportError(number: 8, field: "status") }
        }
        // An item can refer to any other of the same report.
        let known = items
        for object in objects {
            items[try text("lineItemId", of: object)] = object["eventType"] as? String
        }
        for object in objects {
            let id = try text("lineItemId", of: object)
            func fail(_ number: Int64, _ field: String) -> ReportError {
                ReportError(number: number, field: field, item: id)
            }
            let isRestatement = object["restatement"] as? Bool ?? false
            guard isRestatement == (known[id] != nil) else { throw fail(isRestatement ? 3 : 1, "lineItemId") }
            guard isRestatement || object["erroneouslySubmitted"] as? Bool != true else {
                throw fail(20, "erroneouslySubmitted")
            }
            let amounts = try ["amountTaxExclusive", "taxAmount", "amountTaxInclusive"].map {
                name throws(ReportError) -> Int64 in
                guard let amount = object[name] as? Int64 else { throw fail(4, name) }
                return amount
            }
            guard amounts[0] + amounts[1] == amounts[2] else { throw fail(11, "amountTaxInclusive") }
            let event = try text("eventType", of: object, id)
            if event == "REFUND" {
                let sale = try text("referenceLineItemId", of: object, id)
                guard let kind = items[sale] else { throw fail(3, "referenceLineItemId") }
                guard kind == "BUY" else { throw fail(21, "referenceLineItemId") }
            } else {
                for name in ["productIdentifier", "productType"] { _ = try text(name, of: object, id) }
            }
        }
        if status == "LINE_ITEM" { withItems.insert(token) }
    }
}
