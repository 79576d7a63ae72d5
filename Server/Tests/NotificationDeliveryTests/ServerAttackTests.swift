import AppStoreSimulator
import TestSupport
import Testing

@Suite("28.4 The attacks on the address for notifications, against the server")
struct ServerAttackTests {
    /// The status of attacks that the issue names.
    private static let named: [String: String] = [
        "wrong-root": "503", "own-leaf": "400", "swapped-parts": "400", "parts-of-another": "400",
        "nested-data-of-another-app": "400",
        "sandbox-as-production": "400", "edited-environment": "400", "old-under-new-uuid": "400", "unsigned": "400",
        "forged-nested-data": "503", "signed-transaction": "400", "another-app": "404", "alg-none": "503",
        "hs256-with-public-key": "503", "alg-es384": "503", "alg-rs256": "503", "unknown-algorithm": "503",
        "unknown-critical-header": "503",
    ]

    @Test("28.4 Every attack by name is refused with 400, 404 or 503, and none is listed or changes anything")
    func attacks() async throws {
        try await DeliveredWorld.run { world in
            let run = try AttackRun(
                against: world.serverAddress, authority: try MintedWorld.store(), bundleID: DeliveredWorld.bundleID)
            var results: [AttackResult] = []
            let outcome = try await run.attack(.notifications) { results.append($0) }
            #expect(outcome == .attacked(wrong: 0))
            let wrong = results.filter { !$0.isRight }
            #expect(wrong.isEmpty, "\(wrong.map { "\($0.attack.name): \($0.expected), \($0.answered)" })")
            #expect(results.count > 50)
            for (name, status) in Self.named {
                let result = results.first { $0.attack.name == "notification: \(name)" }
                #expect(result?.answered.contains(status) == true, "\(name): \(result?.answered ?? "not made")")
            }
            // The genuine one, which was sent twice.
            #expect(try await world.received().count == 1)
        }
    }
}
