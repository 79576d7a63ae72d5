import Crypto
import Foundation
import HTTPTypes
import NIOCore
import PurchaseAPI
import PurchaseLedger
import PurchaseServer
import ServerTestSupport
import TestSupport
import Testing

/// Signatures of answers, and the digests that requests state.
@Suite("Signed answers and stated digests")
struct SignedAnswerTests {
    private static func digest(_ body: Data) -> String { ContentDigest.text(sha256: Array(SHA256.hash(data: body))) }

    private static func headers(_ digest: String, isSigned: Bool) throws -> HTTPFields {
        var headers: HTTPFields = [try #require(HTTPField.Name(ContentDigest.field)): digest]
        if isSigned {
            headers[try #require(HTTPField.Name(AnswerSignature.acceptField))] =
                AnswerSignature.Wanted(nonce: "bm8=").text
        }
        return headers
    }

    private static let routes: [(HTTPRequest.Method, String)] = [
        (.get, "/healthz"), (.get, "/openapi.yaml"), (.get, "/nothing"), (.post, "/verifyReceipt"),
        (.get, "/v1/orders"), (.post, "/v1/orders"), (.post, "/v1/orders/0A8C2A63-4D2C-4C6B-8B53-0A1D6B0B8B11/fulfil"),
        (.post, "/v1/purchases"), (.post, "/v1/restores"), (.post, "/v1/customers/a/consume"), (.put, "/v1/orders"),
        (.delete, "/v1/testers/a"), (.get, "/v1/me/entitlements"), (.get, "/v1/me/offers"),
        (.post, "/v1/customers/a/tokens"),
    ]

    @Test("B.5 A stated digest is compared with the body on every route, whether or not a signature is asked for")
    func digests() async throws {
        try await PurchaseServerWorld.run {
            $0.answerSigner = AnswerSigner()
        } _: { world async throws in
            for (method, path) in Self.routes {
                for isSigned in [true, false] {
                    let body = method == .get ? nil : Data("{}".utf8)
                    let wrong = try Self.headers(Self.digest(Data("[]".utf8)), isSigned: isSigned)
                    let refused = try await world.send(method, path, data: body, as: .admin, headers: wrong)
                    #expect(
                        refused.status == 400 && refused.text.contains("content_digest_mismatch"), "\(method) \(path)")
                    let right = try Self.headers(Self.digest(body ?? Data()), isSigned: isSigned)
                    let answer = try await world.send(method, path, data: body, as: .admin, headers: right)
                    #expect(!answer.text.contains("content_digest_mismatch"), "\(method) \(path)")
                }
            }
        }
    }

    @Test("B.5 The signature covers the path of the request, without its query")
    func path() async throws {
        let signer = AnswerSigner()
        let key = try Curve25519.Signing.PublicKey(
            rawRepresentation: try #require(Data(base64Encoded: signer.publicKey)))
        try await PurchaseServerWorld.run {
            $0.answerSigner = signer
        } _: { world async throws in
            for (method, path) in Self.routes {
                let body = method == .get ? nil : Data("{}".utf8)
                let digest = Self.digest(body ?? Data())
                let answer = try await world.send(
                    method, path + "?limit=1", data: body, as: .admin, headers: Self.headers(digest, isSigned: true))
                func field(_ name: String) throws -> String {
                    let name = try #require(HTTPField.Name(name))
                    return try #require(answer.headers[name], "\(method) \(path)")
                }
                let (parameters, signature) = try #require(
                    AnswerSignature.read(
                        label: "assay", input: field(AnswerSignature.inputField),
                        signature: field(AnswerSignature.signatureField)))
                var message = AnswerSignature.Message(
                    status: answer.status, contentType: try #require(answer.headers[.contentType]),
                    contentDigest: Self.digest(Data(answer.text.utf8)), method: method.rawValue, path: path,
                    requestDigest: digest)
                #expect(key.isValidSignature(signature, for: parameters.base(of: message)), "\(method) \(path)")
                message.path = "/v1/another"
                #expect(!key.isValidSignature(signature, for: parameters.base(of: message)))
            }
        }
    }

    @Test("B.5 The server's own header field for faults in heads is ignored when it comes from outside")
    func headFault() async throws {
        try await PurchaseServerWorld.run { world async throws in
            for value in ["target_too_long", "server_busy", "x"] {
                for name in ["Assay-Head-Fault", "assay-head-fault"] {
                    let answer = try await RawConnection.request(
                        port: world.client.port, "GET /healthz HTTP/1.1\r\nHost: x\r\n\(name): \(value)\r\n\r\n")
                    #expect(answer.hasPrefix("HTTP/1.1 200"), "\(answer)")
                }
            }
        }
    }
}
