import Foundation
import LegacyLedger
import PurchaseVerification
import Testing

@Suite("Keys")
struct KeyTests {
    @Test("A key opens what it is for until it is revoked, and no other text does", arguments: Engine.allCases)
    func keys(engine: Engine) async throws {
        try await engine.withDatabase { database in
            let world = try await LedgerWorld(database)
            let (key, text) = try await world.ledger.write {
                try $0.createKey(app: "example", name: "the shop", scopes: [.backend])
            }
            func found(_ text: String) async throws -> APIKey? {
                guard let sent = APIKeyText(text) else { return nil }
                return try await world.ledger.read { try $0.key(sent) }
            }
            #expect(try await found(text) == key)
            #expect(key.allows(.backend) && !key.allows(.client) && !key.allows(.admin))
            for index in text.indices {
                var changed = text
                changed.replaceSubrange(index...index, with: text[index] == "A" ? "B" : "A")
                #expect(try await found(changed) == nil, "\(changed)")
            }
            for wrong in ["", "assay_", String(text.dropLast()), text + "A", "assay__x", "assay_\(key.id)_"] {
                #expect(try await found(wrong) == nil, "\(wrong)")
            }
            let listed = try await world.ledger.read { try $0.keys() }
            #expect(listed == [key])
            #expect(try await world.ledger.write { try $0.revokeKey(key.id) }?.revokedAt == world.clock.now)
            #expect(try await found(text) == nil)
            #expect(try await world.ledger.write { try $0.revokeKey("nothing") } == nil)
        }
    }

    @Test("The database holds nothing that a key could be made of")
    func secrets() async throws {
        try await TemporaryFolder.with { folder in
            let path = folder.appending(path: "assay.sqlite").path
            let database = try SQLiteDatabase(path: path)
            let world = try await LedgerWorld(database)
            let (_, text) = try await world.ledger.write {
                try $0.createKey(app: "example", name: "the shop", scopes: [.client])
            }
            try await database.close()
            let secret = try #require(text.split(separator: "_", maxSplits: 2).last.map(String.init))
            for file in try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil) {
                #expect(try Data(contentsOf: file).range(of: Data(secret.utf8)) == nil)
            }
        }
    }

    @Test("A repeated request has the first answer; another one under its key is refused", arguments: Engine.allCases)
    func idempotency(engine: Engine) async throws {
        try await engine.withDatabase { database in
            let world = try await LedgerWorld(database)
            let app = world.app
            func order(_ key: String, _ body: String, scope: String = "k") async throws -> String {
                let request = IdempotentRequest(
                    scope: [scope], key: key, method: "POST", path: "/v1/orders", body: Array(body.utf8))
                let answer = try await world.ledger.write { transaction in
                    try transaction.once(request) { () throws -> KeptAnswer in
                        let order = try transaction.createOrder(
                            OrderDraft(customerID: body, productID: "com.example.app.pro"), app: app)
                        return KeptAnswer(status: 201, contentType: "text/plain", body: Array(order.id.utf8))
                    }.get()
                }
                return String(decoding: answer.body, as: UTF8.self)
            }
            let first = try await order("1", "alice")
            #expect(try await order("1", "alice") == first)
            #expect(try await order("2", "alice") != first)
            #expect(try await order("1", "alice", scope: "another") != first)
            await #expect(throws: LedgerRefusal.self) { try await order("1", "bob") }
            let answers = try await withThrowingTaskGroup(of: String.self) { group in
                for _ in 0..<64 { group.addTask { try await order("3", "carol") } }
                return try await group.reduce(into: Set<String>()) { $0.insert($1) }
            }
            #expect(answers.count == 1)
            let now = world.clock.now
            world.clock.advance(seconds: 1)
            let later = world.clock.now
            #expect(try await world.ledger.write { try $0.forgetAnswers(before: now) } == 0)
            #expect(try await world.ledger.write { try $0.forgetAnswers(before: later) } == 4)
        }
    }
}
