import Foundation
import Hummingbird
import LegacyLedger
import PurchaseAPI
import PurchaseVerification

/// The record of what was submitted.
struct SubmissionRoutes {
    let api: PurchaseAPIContext

    func add(to group: RouterGroup<ServerContext>) {
        group.get("submissions") { request, context in
            let app = try context.requireCaller(.backend).app.id
            let filter = try Self.filter(request)
            let limit = try request.limit()
            let before = try request.cursor().map { parts in
                guard parts.count == 1, let sequence = Int64(parts[0]) else { throw Problem.cursor }
                return sequence
            }
            let (submissions, next) = try await api.ledger.read {
                try $0.submissions(filter, app: app, before: before, limit: limit)
            }
            return try Response.json(
                SubmissionList(
                    submissions: submissions.map(SubmissionMessage.init),
                    nextCursor: next.map { Cursor.text(["\($0)"]) }))
        }
        group.get("submissions/:id") { _, context in
            let app = try context.requireCaller(.backend).app.id
            let id = try context.identifier("id")
            guard let submission = try await api.ledger.read({ try $0.submission(id, app: app) }) else {
                throw Problem(.notFound, "submission_unknown", "There is no such submission.")
            }
            return try Response.json(SubmissionMessage(submission))
        }
    }

    private static func filter(_ request: Request) throws -> SubmissionFilter {
        var filter = SubmissionFilter()
        filter.customerID = try request.identifier("customer_id")
        filter.orderID = try request.identifier("order_id")
        filter.transactionID = try request.identifier("transaction_id")
        filter.code = try request.identifier("code")
        filter.verdict = try request.choice("verdict", Verdict.self)
        filter.from = try request.time("from")
        filter.to = try request.time("to")
        return filter
    }
}
