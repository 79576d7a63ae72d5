import Foundation
import PurchaseLedger

// The dispute pack, and the proof of one entry.
extension Console {
    /// Everything that is recorded about a customer or a transaction, as one page to save.
    func pack(_ request: ConsoleRequest, _ visit: ConsoleVisit) async throws -> ConsoleResponse {
        let app = try app(request)
        let subject: DisputePack.Subject =
            if let customer = request.query["customer"] { .customer(customer) } else {
                .transaction(request.query["id"] ?? "")
            }
        do {
            let pack = try await DisputePack.collect(
                subject, app: app, isRedacted: request.query["redacted"] == "yes",
                checkpoint: try surroundings.checkpoint(),
                at: surroundings.clock(), from: ledger())
            var response = ConsoleResponse(status: 200, body: try pack.page(.inside))
            // The name of a file says nothing about a customer.
            response.fileName = "purchase-record.html"
            return response
        } catch is DisputePack.NothingRecorded {
            return message("Nothing is recorded about this transaction", 404, visit)
        }
    }

    /// The proof that an entry is in the log of the last signed checkpoint, as the file that `assay audit check` reads.
    func proof(_ request: ConsoleRequest, _ visit: ConsoleVisit) async throws -> ConsoleResponse {
        guard let id = UUID(uuidString: request.query["id"] ?? "") else {
            return message("There is no such entry", 404, visit)
        }
        guard let checkpoint = try surroundings.checkpoint() else {
            return message("No checkpoint was signed yet, so there is no proof", 404, visit)
        }
        let proof = try await ledger().answer(ProveEntry(entryID: id, checkpoint: checkpoint))
        var response = ConsoleResponse(
            status: 200, contentType: "application/json", body: String(decoding: try proof.json, as: UTF8.self))
        response.fileName = "proof-\(id.uuidString.lowercased()).json"
        return response
    }

    /// The addresses of the packs of a customer or a transaction.
    static func packs(app: String, _ subject: DisputePack.Subject) -> [[String: Any]] {
        let (name, id) =
            switch subject {
            case .customer(let id): ("customer", id)
            case .transaction(let id): ("id", id)
            }
        let href = "/console/pack?app=\(FormFields.encoded(app))&\(name)=\(FormFields.encoded(id))"
        return [
            ["href": href, "text": "Download the record with its proofs"],
            ["href": href + "&redacted=yes", "text": "The same without personal data"],
        ]
    }
}
