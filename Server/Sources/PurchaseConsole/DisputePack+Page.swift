import Foundation
import HTTPConnections
import Mustache
import PurchaseLedger
import PurchaseVerification

extension DisputePack {
    /// How the page refers to proofs and evidence.
    public enum Links: Sendable {
        /// To the files beside it (`files()`).
        case beside
        /// The page contains them.
        case inside
    }

    /// The pack as one HTML page without script, which needs nothing from another place.
    ///
    /// - Throws: if a proof cannot be written as JSON.
    public func page(_ links: Links) throws -> String {
        var library = MustacheLibrary()
        try library.register(DisputePackTemplate.text, named: "pack")
        return library.render(try values(links), withTemplate: "pack") ?? ""
    }

    private func values(_ links: Links) throws -> [String: Any] {
        var title =
            switch subject {
            case .customer(let id): isRedacted ? "A customer" : "Customer \(id)"
            case .transaction(let id): "Transaction \(id)"
            }
        if isRedacted { title += ", redacted" }
        return [
            "title": title, "app": app, "madeAt": "\(madeAt)", "isRedacted": isRedacted, "isComplete": isComplete,
            "count": "\(entries.count)", "checkpoint": checkpoint ?? "",
            "hasCheckpoint": checkpoint != nil, "hasPurchases": !purchases.isEmpty,
            "purchases": purchases.map(fields), "entries": try entries.map { try fields($0, links) },
        ]
    }

    private func fields(_ purchase: RecordedPurchase) -> [String: Any] {
        [
            "id": purchase.transactionID, "product": purchase.productID, "units": "\(purchase.quantity)",
            "environment": purchase.environment.name, "bought": purchase.purchasedAt.map { "\($0)" } ?? "",
            "ends": purchase.expiresAt.map { "\($0)" } ?? "",
            "withdrawn": purchase.withdrawal.map { "\($0.cause.rawValue), \($0.date)" } ?? "no",
            "owner": purchase.customerID.map { isRedacted ? "a customer" : $0 } ?? "nobody",
            "rule": purchase.ownerReason ?? "",
        ]
    }

    private func fields(_ entry: Entry, _ links: Links) throws -> [String: Any] {
        let checks = entry.inspection?.checks ?? []
        var values: [String: Any] = [
            "id": entry.name, "at": "\(entry.at)", "texts": entry.texts, "code": entry.code ?? "",
            "kind": entry.proof?.entry?.kind.name ?? "", "isSealed": entry.proof != nil,
            "leaf": entry.proof.map { "\($0.leafNumber)" } ?? "", "hash": entry.proof?.leafHash ?? "",
            "sha256": entry.evidenceSHA256 ?? "", "hasEvidence": entry.evidenceSHA256 != nil,
            "evidenceKind": entry.inspection?.evidence?.kind?.rawValue ?? "", "hasChecks": !checks.isEmpty,
            "checks": checks.map(Self.fields), "path": entry.inspection?.certificatePath ?? [],
            "hasPath": entry.inspection?.certificatePath.isEmpty == false,
        ]
        if let proof = entry.proof {
            values["proof"] = Self.link(
                try proof.json, entry.proofPath, "proof-\(entry.name).json", "application/json", links)
        }
        if let evidence = entry.evidence, let path = entry.evidencePath {
            values["evidence"] = Self.link(
                evidence, path, "evidence-\(entry.name)", "application/octet-stream", links)
        }
        return values
    }

    private static func link(
        _ bytes: [UInt8], _ path: String, _ name: String, _ type: String, _ links: Links
    ) -> [String: Any] {
        let href =
            switch links {
            case .beside: path
            case .inside: "data:\(type);base64,\(Data(bytes).base64EncodedString())"
            }
        return ["href": href, "name": name, "bytes": "\(bytes.count)"]
    }

    private static func fields(_ check: EvidenceInspection.Check) -> [String: Any] {
        switch check.outcome {
        case .passed: ["name": check.name, "result": "passed"]
        case .notPossible: ["name": check.name, "result": "not run"]
        case .failed(let error): ["name": check.name, "result": "failed: \(error.code.sentence)"]
        }
    }
}

/// The page of a pack. `{{ }}` escapes what comes from outside.
enum DisputePackTemplate {
    static let text = head + purchases + entries + foot

    private static let head = """
        <!doctype html>
        <html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
        <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
        <title>{{title}} – record of purchases</title><style>\(PageStyle.text)</style></head>
        <body><main><h1>{{title}}</h1>
        <dl><dt>App</dt><dd>{{app}}</dd><dt>Made at</dt><dd>{{madeAt}}</dd><dt>Entries</dt><dd>{{count}}\
        {{^isComplete}}; there are more, which this page does not show{{/isComplete}}</dd></dl>
        <p>Each entry was recorded at the time shown beside it, in a log that can only grow. Evidence is what \
        the App Store signed; the checks were made again for this page.</p>
        {{#isRedacted}}<p class="note">Redacted: names of customers, the details of entries and the evidence are left \
        out. Their hashes are in the proofs, so what is left out can be shown later and compared.</p>{{/isRedacted}}

        """

    private static let purchases = """
        {{#hasPurchases}}<h2>Purchases</h2><div class="table" tabindex="0" role="region" aria-label="Purchases"><table>
        <thead><tr><th scope="col">Transaction</th><th scope="col">Product</th><th scope="col">Units</th>\
        <th scope="col">Environment</th><th scope="col">Bought</th><th scope="col">Ends</th>\
        <th scope="col">Withdrawn by Apple</th><th scope="col">Owner</th><th scope="col">By rule</th></tr></thead><tbody>
        {{#purchases}}<tr><td>{{id}}</td><td>{{product}}</td><td>{{units}}</td><td>{{environment}}</td><td>{{bought}}</td>\
        <td>{{ends}}</td><td>{{withdrawn}}</td><td>{{owner}}</td><td>{{rule}}</td></tr>{{/purchases}}</tbody></table></div>\
        {{/hasPurchases}}

        """

    private static let entries = """
        <h2>What happened</h2><div class="table" tabindex="0" role="region" aria-label="What happened"><table>
        <thead><tr><th scope="col">Time</th><th scope="col">What</th><th scope="col">Code</th><th scope="col">Entry</th>\
        </tr></thead><tbody>{{#entries}}<tr><td>{{at}}</td><td>{{#texts}}<div>{{.}}</div>{{/texts}}</td><td>{{code}}</td>\
        <td><a href="#e{{id}}">{{id}}</a></td></tr>{{/entries}}</tbody></table></div>
        <h2>Evidence and proofs</h2>
        {{#entries}}<section id="e{{id}}"><h3>{{at}}: {{kind}} {{code}}</h3><dl><dt>Entry</dt><dd>{{id}}</dd>
        {{#isSealed}}<dt>Leaf of the log</dt><dd>{{leaf}}</dd><dt>Hash of the leaf</dt><dd>{{hash}}</dd>{{/isSealed}}
        {{^isSealed}}<dt>Leaf of the log</dt><dd>not covered by the checkpoint yet</dd>{{/isSealed}}
        {{#proof}}<dt>Proof</dt><dd><a href="{{href}}" download="{{name}}">{{name}}</a></dd>{{/proof}}
        {{#hasEvidence}}<dt>Evidence</dt><dd>{{evidenceKind}} SHA-256 {{sha256}} {{#evidence}}<a href="{{href}}" \
        download="{{name}}">{{bytes}} bytes</a>{{/evidence}}</dd>{{/hasEvidence}}
        {{#hasPath}}<dt>Certificates</dt><dd>{{#path}}<div>{{.}}</div>{{/path}}</dd>{{/hasPath}}</dl>
        {{#hasChecks}}<details><summary>Checks</summary><ul>{{#checks}}<li>{{name}}: {{result}}</li>{{/checks}}</ul>\
        </details>{{/hasChecks}}</section>{{/entries}}

        """

    private static let foot = """
        <h2>How to check this</h2>
        <p>Save a proof, and run <code>assay audit check FILE --key KEY</code> on any machine; no database is needed. KEY is \
        the public key of the log, which its owner publishes. It verifies the signature of the checkpoint, that the entry is \
        in the log, and that details and evidence are those of the entry. <code>assay verify FILE</code> verifies evidence \
        with Apple's certificates alone.</p>
        {{#hasCheckpoint}}<p>The checkpoint of all proofs:</p><pre>{{checkpoint}}</pre>{{/hasCheckpoint}}
        {{^hasCheckpoint}}<p>Nothing was signed yet, so there are no proofs.</p>{{/hasCheckpoint}}
        </main></body></html>
        """
}

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
