import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import PurchaseAPI
import PurchaseLedger
import PurchaseVerification

/// The record of submissions.
struct SubmissionRoutes {
    let api: PurchaseAPIContext

    func add(to group: RouterGroup<ServerContext>) {
        group.get("submissions") { request, context in try await list(request, context) }
        group.get("submissions/:id") { _, context in
            try Response.json(try await submission(context))
        }
        group.get("submissions/:id/evidence") { _, context in
            let (app, id) = try Self.place(context)
            guard let id, let evidence = try await api.ledger.answer(EvidenceOfEntry(app: app, entryID: id))
            else {
                _ = try await submission(context)
                throw Problem(.notFound, "evidence_unknown", "The submission has no evidence, or it was erased.")
            }
            return Self.response(evidence)
        }
    }

    private func list(_ request: Request, _ context: ServerContext) async throws -> Response {
        let app = try context.requireCaller(.backend).app.id
        let page = try await api.page(of: SubmissionList(app: app, filter: try Self.filter(request)), request)
        return try Response.json(
            SubmissionPage(submissions: page.entries, nextCursor: page.next?.text))
    }

    /// The submission that the path names.
    private func submission(_ context: ServerContext) async throws -> SubmissionMessage {
        let (app, id) = try Self.place(context)
        guard let id, let submission = try await api.ledger.answer(SubmissionByID(app: app, submissionID: id))
        else { throw Problem(.notFound, "submission_unknown", "There is no such submission.") }
        return submission
    }

    /// The app, and the entry that the path names; `nil` if that is no id.
    private static func place(_ context: ServerContext) throws -> (app: String, entry: UUID?) {
        let app = try context.requireCaller(.backend).app.id
        return (app, UUID(uuidString: try context.identifier("id")))
    }

    private static func filter(_ request: Request) throws -> SubmissionFilter {
        var filter = SubmissionFilter()
        filter.customerID = try request.identifier("customer_id")
        filter.transactionID = try request.identifier("transaction_id")
        filter.code = try code(request)
        filter.verdict = try request.choice("verdict", Verdict.self)
        filter.appStore = try request.choice("app_store", AppStoreAnswerFilter.self)
        filter.from = try request.time("from")
        filter.to = try request.time("to")
        filter.orderID = try request.uuid("order_id")
        return filter
    }

    /// A code that a submission can have.
    private static func code(_ request: Request) throws -> String? {
        guard let code = try request.identifier("code") else { return nil }
        guard !codes.contains(where: { $0.utf8.elementsEqual(code.utf8) }) else { return code }
        let meant = WordSuggestion.nearest(to: code, among: codes)
        throw Problem.parameter("code", meant ?? "a code of docs/codes.md", found: code)
    }

    private static let codes = DecisionCode.allCases.map(\.rawValue) + ReasonCode.allCases.map(\.rawValue)

    /// Evidence can be any bytes that a client sent, so browsers must not display it as a page.
    private static func response(_ evidence: StoredEvidence) -> Response {
        let name = evidence.isWhole ? "evidence" : "evidence.prefix"
        var headers: HTTPFields = [
            .contentType: "application/octet-stream", .contentDisposition: "attachment; filename=\"\(name)\"",
        ]
        headers.append(HTTPField(name: .assayEvidence, value: evidence.isWhole ? "whole" : "prefix"))
        headers[.xContentTypeOptions] = "nosniff"
        return Response(
            status: .ok, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(bytes: evidence.bytes)))
    }
}

// The fallback cannot happen: the name is a valid token.
extension HTTPField.Name {
    /// The part of the evidence that the answer has: `whole` or `prefix`.
    fileprivate static let assayEvidence = HTTPField.Name("Assay-Evidence") ?? .server
}
