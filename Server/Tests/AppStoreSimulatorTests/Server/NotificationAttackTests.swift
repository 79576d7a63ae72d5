import AppStoreSimulator
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import PurchaseVerification
import ServerTestSupport
import Testing

@Suite("28.4 Attacks on the address for notifications")
struct NotificationAttackTests {
    /// A small server for notifications: 200, 400, 404 or 503.
    private static func door(
        _ answer: @escaping @Sendable ([UInt8]) -> Int
    ) -> some ApplicationProtocol {
        let router = Router()
        router.post("/notifications/v2") { request, _ in
            let body = try await request.body.collect(upTo: 32 << 20)
            return Response(status: .init(code: answer(Array(body.readableBytesView))))
        }
        return Application(router: router, logger: SimulatorClient.silent)
    }

    private static func attack(
        _ server: some ApplicationProtocol, bundleID: String = StoreWorld.app
    ) async throws -> (results: [AttackResult], outcome: AttackRun.Outcome) {
        let box = Box<([AttackResult], AttackRun.Outcome)>()
        try await server.live { client in
            let run = try AttackRun(
                against: "http://127.0.0.1:\(client.port)", authority: try StoreWorld.authority(), bundleID: bundleID)
            var results: [AttackResult] = []
            let outcome = try await run.attack(.notifications) { results.append($0) }
            box.value = (results, outcome)
        }
        let (results, outcome) = try #require(box.value)
        return (results, outcome)
    }

    /// The answer of a server that verifies as the contract says.
    private static func rightAnswer(_ body: [UInt8], _ verifier: PurchaseVerifier) -> Int {
        struct Body: Decodable { let signedPayload: String }
        let undecided: Set<ReasonCode> = [
            .issuerUnknown, .jwsAlgorithmUnsupported, .criticalExtensionUnknown, .jwsHeaderUnsupported,
        ]
        do {
            guard body.count <= 256 << 10, !body.contains(UInt8(ascii: "[")) else { return 400 }
            let payload = try JSONDecoder().decode(Body.self, from: Data(body)).signedPayload
            let evidence = try verifier.verify(
                Array(payload.utf8), policies: [EnvironmentPolicy(accepting: [.production, .sandbox])])
            guard case .notification(let notification) = evidence else { return 400 }
            return notification.bundleID == StoreWorld.app ? 200 : 404
        } catch let error as VerificationError {
            return undecided.contains(error.code) ? 503 : 400
        } catch {
            return 400
        }
    }

    @Test("28.4 A server that verifies passes every attack by name")
    func rightServer() async throws {
        let verifier = try DeliveryWorld.verifier()
        let (results, outcome) = try await Self.attack(Self.door { Self.rightAnswer($0, verifier) })
        let wrong = results.filter { !$0.isRight }
        #expect(wrong.isEmpty, "\(wrong.map { "\($0.attack.name): \($0.expected), \($0.answered)" })")
        #expect(outcome == .attacked(wrong: 0))
        let names = Set(results.map { $0.attack.name.replacing("notification: ", with: "") })
        let named: Set = [
            "wrong-root", "swapped-parts", "parts-of-another", "nested-data-of-another-app", "sandbox-as-production",
            "old-under-new-uuid", "unsigned", "alg-none", "hs256-with-public-key", "alg-es384", "alg-rs256",
            "unknown-algorithm", "unknown-critical-header", "sent-again",
        ]
        #expect(named.subtracting(names).isEmpty, "\(named.subtracting(names))")
        #expect(results.count > 50)
    }

    @Test("28.4 A server that accepts everything, or refuses everything, is found")
    func wrongServers() async throws {
        let (results, _) = try await Self.attack(Self.door { _ in 200 })
        #expect(results.filter(\.isRight).map(\.attack.name) == ["notification: genuine", "notification: sent-again"])
        await #expect(throws: AttackError.self) { try await Self.attack(Self.door { _ in 400 }) }
    }

    @Test("28.4 A server without the route, or that does not know the app, is not attacked")
    func notThere() async throws {
        let (results, outcome) = try await Self.attack(Self.door { _ in 404 })
        #expect(results.isEmpty && outcome == .notThere)
    }
}
