import Crypto
import Foundation
import HTTPTypes
import KitTestSupport
import NIOCore
import PurchaseAPI
import PurchaseKit
import PurchaseServer
import ServerTestSupport
import Synchronization
import Testing

/// The connection between device and server: cut at every step, and with an attacker in it.
@Suite("The connection of an app to the server")
struct NetworkTests {
    @Test("Each cut and each forgery ends with the purchase granted once or not at all", arguments: cuts + forgeries)
    func table(_ line: KitCase) async throws { try await line.check() }

    static let cuts: [KitCase] = [
        KitCase("The request never arrives, and the next attempt grants it", codes: ["connection_failed", "granted"]) {
            device in
            device.link.intercept { _, _ in throw LineCut() }
            let engine = try await device.engine()
            let first = await engine.buy("coins")
            #expect(try await device.unfinished() == 1)
            #expect(try await engine.purchases().isEmpty)
            device.link.intercept(nil)
            return [first.code, try await device.retry(engine)]
        },
        KitCase(
            "The answer is lost after the commit, and the repetition is granted once",
            codes: ["connection_failed", "granted"]
        ) {
            device in
            device.link.intercept { request, forward in
                _ = try await forward(request)
                throw LineCut()
            }
            let engine = try await device.engine()
            let first = await engine.buy("coins")
            #expect(try await device.coins() == 1)
            device.link.intercept(nil)
            return [first.code, try await device.retry(engine)]
        },
        KitCase("A cut before the next start is the same", codes: ["connection_failed"]) { device in
            device.link.intercept { _, _ in throw LineCut() }
            let outcome = try await device.engine().buy("coins")
            device.link.intercept(nil)
            try await device.engine().start()
            return [outcome.code]
        },
        KitCase(
            "The pauses grow, and a repetition that is not due sends nothing", coins: 0, unfinished: 1,
            codes: ["4", "8", "16"]
        ) {
            device in
            device.link.intercept { _, _ in throw LineCut() }
            let engine = try await device.engine()
            var pauses: [String] = []
            _ = await engine.buy("coins")
            pauses.append("\(try await engine.pause(device))")
            for _ in 0..<2 {
                let sent = device.link.paths.count
                await engine.retryDue()
                #expect(device.link.paths.count == sent)
                device.time.pass(60)
                await engine.retryDue()
                #expect(device.link.paths.count == sent + 1)
                pauses.append("\(try await engine.pause(device))")
            }
            return pauses
        },
        KitCase("A queue that fails to finish is asked again, without a request", codes: ["granted", "1", "0"]) {
            device in
            device.queue.failToFinish(1)
            let engine = try await device.engine()
            let first = await engine.buy("coins")
            let waiting = try await engine.diagnostics().waiting.count
            let sent = device.link.paths.count
            try await device.engine().start()
            #expect(device.link.paths.count == sent)
            return [first.code, "\(waiting)", "\(try await device.engine().diagnostics().waiting.count)"]
        },
        KitCase("A full disk finishes nothing", unfinished: 1, codes: ["store_failed"]) { device in
            let store = FailingStore(store: device.store, writes: 4)
            return [try await device.engine(store: store).buy("coins").code]
        },
        KitCase(
            "An order that does not exist is the operator's matter", coins: 0, unfinished: 1, codes: ["order_unknown"]
        ) { device in
            [try await device.engine().buy("coins", order: PurchaseOrder(orderID: "none")).code]
        },
        KitCase("A purchase that another customer has claimed is refused", coins: 0, codes: ["already_claimed"]) {
            device in
            let transaction = try await device.sell("coins")
            let other = try await device.world.device()
            let request = PurchaseRequest(
                signedTransaction: transaction.signedTransaction, productID: "coins",
                transactionID: transaction.transactionID ?? "", customerID: other.customer)
            _ = try await device.world.server.execute(
                uri: "/v1/purchases", method: .post, headers: [.authorization: "Bearer \(device.world.clientKey)"],
                body: .init(bytes: try JSONEncoder().encode(request)))
            return [try await device.engine().handle(transaction).code]
        },
    ]

    /// Answers that the server did not give to this request. The device grants nothing and finishes nothing.
    static let forgeries: [KitCase] = [
        forged("An unsigned answer", "answer_unsigned") { _, answer in
            var answer = answer
            answer.headers["signature"] = nil
            return answer
        },
        forged("A proxy's own error", "answer_unsigned") { _, _ in
            ServiceAnswer(status: 503, headers: ["content-type": "text/html"], body: Array("<html>".utf8))
        },
        forged("A success that became a refusal", "answer_signature_invalid") { _, answer in
            var answer = answer
            answer.status = 422
            return answer
        },
        forged("A changed body", "answer_digest_mismatch") { _, answer in
            var answer = answer
            answer.body.append(0x20)
            return answer
        },
        forged("A changed body with its digest", "answer_signature_invalid") { _, answer in
            var answer = answer
            answer.body.append(0x20)
            answer.headers["content-digest"] = ContentDigest.text(sha256: Array(SHA256.hash(data: answer.body)))
            return answer
        },
        forged("Another content type", "answer_signature_invalid") { _, answer in
            var answer = answer
            answer.headers["content-type"] = "application/problem+json"
            return answer
        },
        forged("The signature of another key under the id of the pinned one", "answer_signature_invalid") {
            request, answer in
            try resigned(answer, request, by: Curve25519.Signing.PrivateKey(), keyID: nil)
        },
        forged("The signature of an unknown key", "answer_key_unknown") { request, answer in
            try resigned(answer, request, by: Curve25519.Signing.PrivateKey(), keyID: "0011223344556677")
        },
        KitCase(
            "The answer to an earlier request", coins: 2, unfinished: 1, codes: ["granted", "answer_nonce_mismatch"]
        ) { device in
            let kept = Mutex<ServiceAnswer?>(nil)
            device.link.intercept { request, forward in
                let answer = try await forward(request)
                let earlier = kept.withLock { kept in
                    defer { kept = kept ?? answer }
                    return kept
                }
                return earlier ?? answer
            }
            let engine = try await device.engine()
            return [await engine.buy("coins").code, await engine.buy("coins").code]
        },
        KitCase(
            "A swapped purchase under the nonce of this request", coins: 1, unfinished: 2,
            codes: ["answer_signature_invalid"]
        ) {
            device in
            let other = try await device.sell("coins")
            device.link.intercept { request, forward in
                var swapped = request
                let claim = PurchaseRequest(
                    signedTransaction: other.signedTransaction, productID: "coins",
                    transactionID: other.transactionID ?? "", customerID: device.customer)
                swapped.body = [UInt8](try JSONEncoder().encode(claim))
                swapped.headers["content-digest"] = ContentDigest.text(sha256: Array(SHA256.hash(data: swapped.body)))
                return try await forward(swapped)
            }
            return [try await device.engine().buy("coins").code]
        },
        KitCase(
            "A swapped purchase under the digest of the true one", coins: 0, unfinished: 2,
            codes: ["content_digest_mismatch"]
        ) {
            device in
            let other = try await device.sell("coins")
            device.link.intercept { request, forward in
                var swapped = request
                let claim = PurchaseRequest(
                    signedTransaction: other.signedTransaction, productID: "coins",
                    transactionID: other.transactionID ?? "", customerID: device.customer)
                swapped.body = [UInt8](try JSONEncoder().encode(claim))
                return try await forward(swapped)
            }
            return [try await device.engine().buy("coins").code]
        },
        KitCase("A refusal that became a success", coins: 0, unfinished: 1, codes: ["answer_signature_invalid"]) {
            device in
            let id = try #require(try await device.sell("coins").transactionID)
            try await device.simulated.control("transactions/\(id)/refund")
            device.link.intercept { request, forward in
                var answer = try await forward(request)
                answer.body = Array(
                    String(decoding: answer.body, as: UTF8.self).replacing("refused", with: "granted").utf8)
                answer.headers["content-digest"] = ContentDigest.text(sha256: Array(SHA256.hash(data: answer.body)))
                return answer
            }
            return [try await device.engine().handle(try await device.simulated.stored(id)).code]
        },
        KitCase("A signed answer with an unknown disposition", unfinished: 1, codes: ["accepted"]) { device in
            let key = Curve25519.Signing.PrivateKey()
            let keys = try AnswerKeys(current: key.publicKey.rawRepresentation.base64EncodedString())
            device.link.intercept { request, forward in
                var answer = try await forward(request)
                answer.body = Array(
                    String(decoding: answer.body, as: UTF8.self).replacing("\"granted\"", with: "\"celebrated\"").utf8)
                return try resigned(answer, request, by: key, keyID: id(of: key))
            }
            return [try await device.engine(keys: keys).buy("coins").code]
        },
        KitCase("A signed answer about another transaction", unfinished: 1, codes: ["answer_mismatch"]) { device in
            let key = Curve25519.Signing.PrivateKey()
            let keys = try AnswerKeys(current: key.publicKey.rawRepresentation.base64EncodedString())
            device.link.intercept { request, forward in
                var answer = try await forward(request)
                answer.body = Array(
                    String(decoding: answer.body, as: UTF8.self)
                        .replacing(/"transaction_id":"[0-9]+"/, with: "\"transaction_id\":\"1\"").utf8)
                return try resigned(answer, request, by: key, keyID: id(of: key))
            }
            return [try await device.engine(keys: keys).buy("coins").code]
        },
    ]

    /// A purchase whose answer is changed in transit: the server has granted it, and the device waits for a genuine
    /// answer.
    private static func forged(
        _ name: String, _ code: String,
        _ change: @escaping @Sendable (ServiceRequest, ServiceAnswer) throws -> ServiceAnswer
    ) -> KitCase {
        KitCase(name, unfinished: 0, codes: [code, "granted"]) { device in
            device.link.intercept { request, forward in try change(request, try await forward(request)) }
            let engine = try await device.engine()
            let outcome = await engine.buy("coins")
            #expect(try await engine.purchases().isEmpty && device.queue.finished.withLock { $0.isEmpty })
            guard case .undetermined = outcome else { return [outcome.code] }
            device.link.intercept(nil)
            return [outcome.code, try await device.retry(engine)]
        }
    }

    @Test("After a change to the next key, an app that pins both accepts it, and one that pins neither waits")
    func rotation() async throws {
        try await KitWorld.run { world in
            let other = AnswerSigner().publicKey
            let device = try await world.device()
            let both = try AnswerKeys(current: other, next: world.signer.publicKey)
            #expect(try await device.engine(keys: both).buy("coins").code == "granted")
            let neither = try AnswerKeys(current: other, next: AnswerSigner().publicKey)
            #expect(try await device.engine(keys: neither).buy("coins").code == "answer_key_unknown")
            #expect(try await device.unfinished() == 1)
        }
    }

    /// The answer signed with another key over this very request.
    static func resigned(
        _ answer: ServiceAnswer, _ request: ServiceRequest, by key: Curve25519.Signing.PrivateKey, keyID: String?,
        created: Int64 = 0
    ) throws -> ServiceAnswer {
        var answer = answer
        let wanted = try #require(AnswerSignature.Wanted(acceptSignature: request.headers["accept-signature"] ?? ""))
        let signed = try #require(
            AnswerSignature.read(
                label: wanted.label, input: answer.headers["signature-input"] ?? "",
                signature: answer.headers["signature"] ?? ""))
        let parameters = AnswerSignature(
            label: wanted.label, created: created, keyID: keyID ?? signed.parameters.keyID, nonce: wanted.nonce)
        let digest = ContentDigest.text(sha256: Array(SHA256.hash(data: answer.body)))
        let base = parameters.base(
            of: AnswerSignature.Message(
                status: answer.status, contentType: answer.headers["content-type"] ?? "", contentDigest: digest,
                method: request.method, path: request.path,
                requestDigest: request.headers["content-digest"] ?? ""))
        answer.headers["content-digest"] = digest
        answer.headers["signature-input"] = parameters.input
        answer.headers["signature"] = parameters.field(signature: [UInt8](try key.signature(for: base)))
        return answer
    }

    static func id(of key: Curve25519.Signing.PrivateKey) -> String {
        SHA256.hash(data: key.publicKey.rawRepresentation).prefix(8).map { byte in
            String(byte >> 4, radix: 16) + String(byte & 15, radix: 16)
        }.joined()
    }
}

/// A store whose disk is full after some writes.
final class FailingStore: PurchaseStore, Sendable {
    private let store: FilePurchaseStore
    private let writes: Mutex<Int>

    init(store: FilePurchaseStore, writes: Int) {
        self.store = store
        self.writes = Mutex(writes)
    }

    func read() throws -> [UInt8]? { try store.read() }

    func evidence(_ name: String) throws -> [UInt8]? { try store.evidence(name) }
    func keepEvidence(_ evidence: [UInt8], _ name: String) throws { try store.keepEvidence(evidence, name) }
    func removeEvidence(_ name: String) throws { try store.removeEvidence(name) }

    func write(_ document: [UInt8]) throws {
        let isFull = writes.withLock { writes in
            writes -= 1
            return writes < 0
        }
        if isFull { throw PurchaseError(.storeFailed, found: "no space left on device") }
        try store.write(document)
    }
}
