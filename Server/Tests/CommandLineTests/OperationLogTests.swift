import Foundation
import Testing

/// What a running server writes for its operators: its log, and the uses of its keys.
@Suite("The log and the keys of a server")
struct OperationLogTests {
    private static let settings = """
        apps:
          game:
            bundle_ids: com.example.app
            products:
              coins: { kind: consumable }
        """

    private static func inFolder(_ body: (URL) async throws -> Void) async throws {
        try await Program.inTemporaryFolder { folder in
            try settings.write(to: folder.appending(path: "assay.yaml"), atomically: true, encoding: .utf8)
            let prepared = try await Program.shell(
                """
                for name in used unused; do \
                assay keys create --app game --scope backend --name $name 2>/dev/null >$name || exit 1; done
                """, in: folder)
            try #require(prepared.status == 0, "\(prepared.output)")
            try await body(folder)
        }
    }

    private static func ask(_ path: String, _ server: RunningServer, _ folder: URL) async throws -> String {
        try await Program.shell(
            #"curl -sS -o answer -w '%{http_code}' -H "Authorization: Bearer $(cat used)" \#(server.address)\#(path)"#,
            in: folder
        ).output
    }

    /// The lines of `keys list` by the name of the key.
    private static func keys(_ folder: URL) async throws -> [String: [Substring]] {
        let listed = try await Program.shell("assay list keys 2>/dev/null", in: folder)
        #expect(listed.status == 0, "\(listed.output)")
        let rows = listed.output.split(separator: "\n").map { $0.split(separator: " ").filter { !$0.isEmpty } }
        return Dictionary(rows.compactMap { row in row.last.map { (String($0), row) } }, uniquingKeysWith: { $1 })
    }

    @Test("E.5 The list of keys says when each was last used, after a restart too")
    func keyUses() async throws {
        try await Self.inFolder { folder in
            let before = try await Self.keys(folder)
            // A column without a single value is left out.
            #expect(before["NAME"]?.contains("USED") == false && before.count == 3, "\(before)")
            var last: Date?
            for _ in 0..<2 {
                let start = Date(timeIntervalSince1970: Date().timeIntervalSince1970.rounded(.down))
                try await RunningServer.run("assay serve --port 0 2>log", in: folder) { server in
                    let status = try await Self.ask("/v1/orders", server, folder)
                    #expect(status == "200")
                }
                let after = try await Self.keys(folder)
                let shown = try #require(after["used"]?.dropFirst(4).first, "\(after)")
                let used = try Date("\(shown.prefix(19))Z", strategy: .iso8601)
                #expect(used >= start && used <= Date() + 1)
                #expect(last.map { used >= $0 } ?? true)
                last = used
                #expect(after["unused"]?.dropFirst(4).first == "-", "\(after)")
            }
        }
    }

    @Test("E.5 Each line of the log in JSON has its numbers as numbers, and the last one says that the server stopped")
    func log() async throws {
        try await Self.inFolder { folder in
            let status = try await RunningServer.run("assay serve --port 0 --log-format json 2>log", in: folder) {
                server in
                let answers = [
                    try await Self.ask("/v1/orders", server, folder),
                    try await Self.ask("/v1/orders/x", server, folder),
                ]
                #expect(answers == ["200", "404"])
            }
            #expect(status == 0)
            let text = try String(contentsOf: folder.appending(path: "log"), encoding: .utf8)
            // The address of the database is printed before the log begins.
            let lines = text.split(separator: "\n").filter { !$0.hasPrefix("assay: ") }
            #expect(lines.count > 3)
            var (requests, last): (Int, String?) = (0, nil)
            for line in lines {
                let facts = try #require(
                    try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any], "\(line)")
                last = facts["message"] as? String
                for (name, value) in facts {
                    let isText = (value as? String).map { Double($0) != nil } ?? false
                    #expect(!isText || name == "key" || name == "id", "\(name) is a number in quotation marks: \(line)")
                }
                guard last == "request" else { continue }
                requests += 1
                #expect([200, 404].contains(facts["status"] as? Int), "\(line)")
                #expect(facts["duration_ms"] is Double, "\(line)")
            }
            #expect(requests == 2)
            #expect(last == "assay serve stopped")
        }
    }
}
