import HTTPTypes
import Hummingbird
import NIOCore
import PurchaseAPI
import PurchaseLedger

/// `POST /v1/compare`: answers of another system beside the ledger's, one or in bulk.
struct CompareRoutes {
    /// The media type of bulk comparisons.
    static let bulkType = "application/x-ndjson"

    let api: PurchaseAPIContext
    /// The largest body whose digest is checked before anything is read.
    let checkedBytes: Int

    func add(to group: RouterGroup<ServerContext>) {
        group.post("compare") { request, context in
            let app = try context.requireCaller(.backend).app
            let type = request.headers[.contentType]?.prefix { $0 != ";" }.lowercased()
            return type == Self.bulkType ? try bulk(request, app) : try await single(request, app)
        }
    }

    private func single(_ request: Request, _ app: RegisteredApp) async throws -> Response {
        try await api.bodies.withBody(of: request) { body in
            let theirs = try ForeignAnswer(try await api.request(ComparisonRequest.self, from: body), of: app)
            let comparisons = try await api.ledger.answer(CompareAnswers(app: app.id, [theirs]))
            guard let comparison = comparisons.first else { throw Problem(.internalServerError) }
            return try Response.json(comparison)
        }
    }

    /// Reads lines as they arrive, and writes the differences as they are found. Only a batch of lines is in memory.
    private func bulk(_ request: Request, _ app: RegisteredApp) throws -> Response {
        // A digest is compared before the body is used, so it needs the whole body.
        if request.headers[.contentDigest] != nil, request.headers.announcedBodyBytes > checkedBytes {
            throw BodyFault.tooLarge(limit: checkedBytes)
        }
        let ledger = api.ledger
        return Response(
            status: .ok, headers: [.contentType: Self.bulkType],
            body: ResponseBody { writer in
                var comparison = BulkComparison(app: app)
                var lines = BoundedLines()
                for try await part in request.body {
                    for line in lines.append(part.readableBytesView) {
                        if let lines = try await comparison.add(line, ledger.answer) {
                            try await writer.write(ByteBuffer(bytes: lines))
                        }
                    }
                }
                if let last = lines.end(), let lines = try await comparison.add(last, ledger.answer) {
                    try await writer.write(ByteBuffer(bytes: lines))
                }
                try await writer.write(ByteBuffer(bytes: try await comparison.end(ledger.answer)))
                try await writer.finish(nil)
            })
    }
}
