import Foundation
import Testing

/// A simulated store as a process, a key of its App Store Server API, and the settings of an app that has the key.
struct AskedStore: Sendable {
    let address: String
    let processIdentifier: pid_t
    let folder: URL

    /// The apps and products of the store, and settings with the key in `assay.yaml`. A server recorded the settings.
    static func run(
        simulate: String = "assay simulate --port 0", _ body: (AskedStore) async throws -> Void
    ) async throws {
        try await Program.inTemporaryFolder { folder in
            try await RunningServer.run(simulate, in: folder) { running in
                let store = AskedStore(
                    address: running.address, processIdentifier: running.processIdentifier, folder: folder)
                for bundleID in ["com.example.app", "com.example.other"] {
                    try await store.post("apps", ["bundle_id": bundleID])
                    try await store.post(
                        "products", ["bundle_id": bundleID, "product_id": "coins", "kind": "consumable"])
                    try await store.post(
                        "products",
                        [
                            "bundle_id": bundleID, "product_id": "gold", "kind": "auto-renewable",
                            "subscription": ["group_id": bundleID, "period": "P1M"],
                        ])
                }
                for customer in ["ada", "bob"] {
                    try await store.post("customers", ["customer_id": customer, "environment": "production"])
                }
                try await store.post("customers", ["customer_id": "tester", "environment": "sandbox"])
                try await store.writeSettings()
                try await RunningServer.run("assay serve --port 0 --log-level error 2>>log", in: folder) { _ in }
                try await body(store)
            }
        }
    }

    private func writeSettings() async throws {
        let key = try await post("api-keys", [:])
        let file = folder.appending(path: "AuthKey.p8")
        try Data(try #require(key["private_key"] as? String).utf8).write(to: file)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
        let settings = """
            server:
              trust: [assay-authority/trust.pem]
            app_store:
              server_api_production: \(address)
              server_api_sandbox: \(address)/sandbox
            apps:
              game:
                bundle_ids: com.example.app
                sandbox_access: everyone
                products:
                  coins: { kind: consumable }
                  gold: { kind: auto_renewable }
                app_store_keys:
                  - issuer_id: \(try #require(key["issuer_id"] as? String))
                    key_id: \(try #require(key["key_id"] as? String))
                    private_key_file: AuthKey.p8
            """
        try settings.write(to: folder.appending(path: "assay.yaml"), atomically: true, encoding: .utf8)
    }

    /// Raises the limits of calls, of the store and in the settings.
    func raiseLimits(factor: Int) async throws {
        try await post("server-api/limits", ["factor": factor])
        let settings = folder.appending(path: "assay.yaml")
        let text = try String(contentsOf: settings, encoding: .utf8)
        try text.replacing(
            "app_store:\n", with: "app_store:\n  server_api_limit_percent: \(factor * 100)\n", maxReplacements: 1
        )
        .write(to: settings, atomically: true, encoding: .utf8)
    }

    /// Calls the control API of the store.
    @discardableResult
    func post(_ path: String, _ body: [String: Any]) async throws -> [String: Any] {
        try await call("POST", path, body)
    }

    @discardableResult
    func call(_ method: String, _ path: String, _ body: [String: Any]? = nil) async throws -> [String: Any] {
        var data = ""
        if let body {
            let file = folder.appending(path: "body-\(UUID().uuidString).json")
            try JSONSerialization.data(withJSONObject: body).write(to: file)
            data = "-H 'Content-Type: application/json' --data @\(file.lastPathComponent)"
        }
        let answer = try await Program.shell(
            "curl -sS -w '\\n%{http_code}' -X \(method) \(data) '\(address)/control/\(path)'", in: folder
        ).output
        let lines = answer.split(separator: "\n", omittingEmptySubsequences: false)
        let status = lines.last.flatMap { Int($0) } ?? 0
        try #require((200..<300).contains(status), "\(path): \(answer)")
        let text = lines.dropLast().joined(separator: "\n")
        return try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any], "\(text)")
    }

    /// Buys a product in the store.
    ///
    /// - Returns: the transaction id.
    func buy(_ product: String, by customer: String, in bundleID: String = "com.example.app") async throws -> String {
        let sold = try await post(
            "purchases", ["bundle_id": bundleID, "product_id": product, "customer_id": customer])
        let transaction = try #require(sold["transaction"] as? [String: Any])
        return try #require(transaction["transaction_id"] as? String)
    }

    /// Runs the program.
    func assay(_ command: String) async throws -> Program.Result {
        try await Program.shell("assay \(command)", in: folder)
    }

    /// Rows with numbers alone.
    func write(_ numbers: [(customer: String, number: String)], to name: String) throws {
        let rows = numbers.map { "\($0.customer),\($0.number)\n" }
        try Data(("customer_id,original_transaction_id\n" + rows.joined()).utf8)
            .write(to: folder.appending(path: name))
    }

    /// A number of the database, by a query.
    func count(_ query: String) async throws -> Int {
        let script = "import sqlite3; print(sqlite3.connect('assay.sqlite').execute('''\(query)''').fetchone()[0])"
        try Data(script.utf8).write(to: folder.appending(path: "query.py"))
        let output = try await Program.shell("python3 query.py", in: folder).output
        return Int(output.trimmingCharacters(in: .whitespacesAndNewlines)) ?? -1
    }

    /// What the ledger says of a customer, without the times at which Apple signed.
    func shown(_ customer: String) async throws -> String {
        let result = try await assay("show --app game \(customer)")
        #expect(result.status == 0, "\(result.output)")
        return result.output
    }

    /// Checks the record with its evidence.
    func audit() async throws {
        let audit = try await assay("audit verify --evidence")
        #expect(audit.status == 0, "\(audit.output)")
    }
}
