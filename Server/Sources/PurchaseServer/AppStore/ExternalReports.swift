import AppStoreConnection
import Foundation
import PurchaseAPI
import PurchaseLedger
import PurchaseVerification

/// Tells Apple of external purchase tokens and their line items (Apple, "External Purchase Server API").
///
/// Before a report is sent, its request identifier is written down. Whoever finds one asks Apple for the report first,
/// so what a server that died has sent is not sent again.
struct ExternalReports: Sendable {
    let access: AppStoreAccess
    let clock: @Sendable () -> Timestamp

    /// - Returns: the pause until the report is due, in milliseconds; `nil` if the outcome was recorded.
    func report(_ work: inout LedgerWork, _ environment: ValidationEnvironment) async throws -> Int64? {
        let (ledger, app, id) = (access.terms.ledger, work.app, work.subject)
        func record(_ answer: RecordExternalReport.Answer) async throws {
            try await ledger.perform(RecordExternalReport(app: app, id: id, answer))
        }
        guard let due = try await ledger.answer(ExternalReportDue(work)) else {
            try await ledger.perform(NoteWork(work, next: nil))
            return nil
        }
        let (now, named) = (clock(), access.terms.app(app, bundleID: due.bundleID))
        let isLate = due.lateAt.map { $0 <= now } ?? false
        if let request = work.progress, let named {
            do {
                if let known = try await known(request, named, environment) {
                    try await record(known)
                    return nil
                }
            } catch {
                if isLate { try await record(.late) }
                throw error
            }
        }
        // Whether Apple has a report is asked once there is a key.
        if named != nil, due.at.map({ $0 > now }) ?? true { work.progress = nil }
        guard let at = due.at else {
            try await ledger.perform(NoteWork(work, next: nil))
            return nil
        }
        guard at <= now else {
            return at.millisecondsSince1970 - now.millisecondsSince1970
        }
        if isLate { try await record(.late) }
        guard !due.isHeld else { return nil }
        guard let named else {
            // Without a key, only the event is left. A key that is added later begins it again (`AdoptWork`).
            if let lateAt = due.lateAt, !isLate { return lateAt.millisecondsSince1970 - now.millisecondsSince1970 }
            try await ledger.perform(NoteWork(work, next: nil))
            return nil
        }
        guard let (request, due) = try await ledger.perform(BeginExternalReport(work)) else { return nil }
        work.progress = request
        let body = try JSONSerialization.data(withJSONObject: due.body(request, id), options: [.sortedKeys])
        do throws(AppStoreServerError) {
            _ = try await access.server.call(
                UnsignedOperation(
                    .sendExternalReport, body: .init(bytes: Array(body), contentType: "application/json")),
                for: named, in: environment)
        } catch {
            guard error.isFinal, error.number != .simultaneousSubmission else { throw error }
            if error.number == .duplicateValue, let known = try await known(request, named, environment) {
                try await record(known)
                return nil
            }
            if error.number == .lineItemStatusRegression, due.lineItems.isEmpty {
                // The app reported it before it had this server.
                try await record(.accepted(requestID: request, .lineItems, []))
                return nil
            }
            func items(_ number: AppStoreErrorNumber) -> [String] {
                error.flaws.filter { $0.number == number && $0.field == "lineItemId" }.map(\.lineItemID)
            }
            try await record(
                .refused(
                    requestID: request, due.lineItems, error.seen, known: items(.duplicateValue),
                    unknown: items(.reportNotFound)))
            return nil
        }
        try await record(.accepted(requestID: request, due.status, due.lineItems))
        return nil
    }

    /// A report that Apple has; `nil` if it has none with this identifier.
    private func known(
        _ request: String, _ app: AppStoreServerApp, _ environment: ValidationEnvironment
    ) async throws -> RecordExternalReport.Answer? {
        let body: [UInt8]
        do throws(AppStoreServerError) {
            body = try await access.server.call(
                UnsignedOperation(.getExternalReport, request), for: app, in: environment
            ).body
        } catch {
            guard error.number == .reportNotFound else { throw error }
            return nil
        }
        func unread(_ seen: String) -> AppStoreServerError { AppStoreServerError(.unreadable, environment, seen: seen) }
        guard let object = try JSONSerialization.jsonObject(with: Data(body)) as? [String: Any],
            let report = object["report"] as? [String: Any],
            let status = (report["status"] as? String).flatMap(ExternalReportStatus.init(rawValue:))
        else { throw unread("no report in the answer") }
        let items = try (report["lineItems"] as? [[String: Any]] ?? []).map { item in
            do throws(ExternalLineItem.Flaw) {
                return ReportedLineItem(try ExternalLineItem(item))
            } catch {
                throw unread("the line item's \(error.member) is not \(error.expected)")
            }
        }
        return .accepted(requestID: request, status, items)
    }
}

extension ExternalReportDue.Report {
    /// The body of the request (Apple, "ExternalPurchaseReport").
    fileprivate func body(_ request: String, _ id: String) throws -> [String: Any] {
        var body: [String: Any] = [
            "requestIdentifier": request, "externalPurchaseId": id, "status": status.rawValue,
        ]
        if !lineItems.isEmpty {
            body["lineItems"] = try lineItems.map {
                try JSONSerialization.jsonObject(
                    with: Data(ExternalLineItem.sent(content: $0.content, isRestatement: $0.isRestatement).utf8))
            }
        }
        return body
    }
}
