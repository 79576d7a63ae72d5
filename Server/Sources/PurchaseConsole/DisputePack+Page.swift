import Foundation
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
