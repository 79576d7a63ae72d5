import EvidenceMint
import Foundation
import Testing

/// A drill: the store signs with a new root, intermediate and leaf, as Apple would after a compromise, and the server
/// gets the new root before, after, or never.
@Suite("29 A drill: the store's certificates are replaced", .serialized)
struct RotationDrillTests {
    private static let serve = "assay serve --port 0 --log-level error 2>>log"

    @Test(
        "29 Grants and the record outlive a new root, under a new name or the old one; what it signs waits for --trust, and nothing of it is lost",
        arguments: ["Assay Simulator Data Root CA 2", nil])
    func newRoot(_ name: String?) async throws {
        try await AskedStore.run(simulate: "assay simulate --port 0 --database store.sqlite") { store in
            let old = try await store.buy("gold", by: "ada")
            try store.write([("ada", old)], to: "old.csv")
            #expect(try await store.assay("import --app game --consumables delivered old.csv").status == 0)
            let (folder, before) = (store.folder, try await store.shown("ada"))
            _ = try await Program.shell(
                "assay keys create --app game --scope admin 2>/dev/null > key; cp -r assay-authority old-authority",
                in: folder)
            // Another root signs from now on. The store keeps its state, and the servers their address.
            let stop = """
                kill -TERM \(store.processIdentifier)
                while ! grep -q ' Z ' /proc/\(store.processIdentifier)/stat; do sleep 0.05; done
                """
            #expect(try await Program.shell(stop, in: folder).status == 0)
            try Self.replaceRoot(in: folder.appending(path: "assay-authority"), name)
            let port = try #require(store.address.split(separator: ":").last)
            try await RunningServer.run("assay simulate --port \(port) --database store.sqlite", in: folder) { _ in
                let new = try await store.buy("coins", by: "bob")
                let signed = try #require(
                    (try await store.call("GET", "transactions/\(new)")["evidence"] as? [String: Any])?[
                        "signed_transaction"]
                        as? String)
                let claim = try JSONSerialization.data(withJSONObject: [
                    "product_id": "coins", "transaction_id": new, "customer_id": "bob", "signed_transaction": signed,
                ])
                try claim.write(to: folder.appending(path: "claim.json"))

                // Without --trust for the new root: nothing new is believed, and nothing old is forgotten.
                let trusting = try String(contentsOf: folder.appending(path: "assay.yaml"), encoding: .utf8)
                func trust(_ files: String) throws {
                    try trusting.replacing("[assay-authority/trust.pem]", with: files)
                        .write(to: folder.appending(path: "assay.yaml"), atomically: true, encoding: .utf8)
                }
                try trust("[old-authority/trust.pem]")
                try await RunningServer.run(Self.serve, in: folder) { server in
                    let answer = try await Self.claim(server, folder)
                    #expect(answer.contains(#""disposition":"operator""#), "\(answer)")
                    #expect(try await store.shown("ada") == before)
                    // The store sends its notification again, because it is not taken.
                    try await store.post(
                        "notifications/url", ["url": "\(server.address)/notifications/v2"])
                    _ = try await store.buy("coins", by: "ada")
                    try await store.post("notifications/deliver", [:])
                    let sent = try await store.call("GET", "lists/notifications?limit=1")
                    let attempts = ((sent["items"] as? [[String: Any]])?.first?["attempts"] as? [[String: Any]]) ?? []
                    #expect(attempts.map { $0["status"] as? Int } == [503], "\(sent)")
                }
                try store.write([("bob", new)], to: "new.csv")
                let refused = try await store.assay("import --app game --consumables delivered new.csv")
                #expect(refused.status == 1 && refused.output.contains("number_unknown"), "\(refused.output)")
                let known = try await store.assay("import backfill --app game --customer ada")
                #expect(known.status == 1, "\(known.output)")
                #expect(try await store.shown("ada") == before)
                try await store.audit()

                // With both roots: old and new evidence counts, and what was sent meanwhile is read from the history.
                try trust("[old-authority/trust.pem, assay-authority/trust.pem]")
                try await RunningServer.run(Self.serve, in: folder) { server in
                    let answer = try await Self.claim(server, folder)
                    #expect(answer.contains(#""verdict":"accepted""#), "\(answer)")
                    var missed = 0
                    // The first reading asks for each of 180 days.
                    for _ in 0..<6000 {
                        guard missed == 0 else { break }
                        try await Task.sleep(for: .milliseconds(100))
                        missed = try await store.count("SELECT count(*) FROM notifications")
                    }
                    #expect(missed == 1)
                }
                #expect(try await store.assay("import backfill --app game --all").status == 0)
                try await store.audit()

                // With the new root alone the record can no longer be proven, and says so.
                try trust("[assay-authority/trust.pem]")
                let audit = try await store.assay("audit verify --evidence")
                #expect(audit.status == 1, "\(audit.output)")
                #expect(try await store.shown("ada").contains(old), "the tables are as they were")
            }
        }
    }

    /// Gives an authority another root of signed data, with another name, as each root of Apple's has, or the name of
    /// the old one, and other certificates below it.
    private static func replaceRoot(in folder: URL, _ commonName: String?) throws {
        let old = try AppStoreAuthority(folder: folder)
        var chain = try SignedPayloadAuthority()
        if let commonName {
            let name = CertificateTemplate.Name(commonName: commonName, organization: "Assay Simulator")
            chain = try chain.replacingRoot { ($0.issuer, $0.subject) = (name, name) }
                .replacingIntermediate { $0.issuer = name }
        }
        let signedData = folder.appending(path: "signed-data")
        for (file, identity) in [("root", chain.root), ("intermediate", chain.intermediate), ("leaf", chain.leaf)] {
            try Data(identity.certificate).write(to: signedData.appending(path: "\(file).der"))
            try Data(identity.privateKey.pem.utf8).write(to: signedData.appending(path: "\(file).key.pem"))
        }
        try Data(chain.root.pem.utf8).write(to: signedData.appending(path: "root.pem"))
        let new = AppStoreAuthority(
            receipts: old.receipts, transactionReceipts: old.transactionReceipts, signedPayload: chain)
        try Data(new.trustedCertificatesPEM.utf8).write(to: folder.appending(path: AppStoreAuthority.trustFile))
    }

    private static func claim(_ server: RunningServer, _ folder: URL) async throws -> String {
        try await Program.shell(
            #"curl -sS -H "Authorization: Bearer $(cat key)" -H "Content-Type: application/json" "#
                + "--data @claim.json \(server.address)/v1/purchases",
            in: folder
        ).output
    }
}
