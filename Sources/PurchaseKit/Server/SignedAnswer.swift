import Foundation
import PurchaseMessages

#if canImport(CryptoKit)
    import CryptoKit
#else
    import Crypto
#endif

/// An answer with its signature, before it is verified.
struct SignedAnswer: Sendable {
    let status: Int
    let contentType: String
    let body: Data
    let input: String
    let signature: String
    /// The method of the request, and its path in the API, as the server sees it.
    let (method, path): (String, String)
    let requestDigest: String
    let nonce: String

    static let label = "assay"

    /// An answer to a request, if it has the fields of a signature.
    init(_ answer: ServiceAnswer, _ request: ServiceRequest, requestDigest: String, nonce: String) throws {
        guard answer.body.count <= ServiceAnswer.largestBody else { throw PurchaseError(.answerTooLarge) }
        guard let input = answer.headers[AnswerSignature.inputField.lowercased()],
            let signature = answer.headers[AnswerSignature.signatureField.lowercased()],
            let contentType = answer.headers["content-type"]
        else { throw PurchaseError(.answerUnsigned, found: "status \(answer.status)") }
        status = answer.status
        body = Data(answer.body)
        (self.contentType, self.input, self.signature) = (contentType, input, signature)
        (method, path, self.requestDigest, self.nonce) = (request.method, request.path, requestDigest, nonce)
        // The signature must cover the digest of the received content, so this comparison only distinguishes the
        // causes.
        if let stated = answer.headers[ContentDigest.field.lowercased()], stated != contentDigest {
            throw PurchaseError(.answerDigestMismatch)
        }
    }

    /// Verifies the signature, against the content that arrived and the request that was sent. The signing time is not
    /// compared with the device's clock, because the nonce proves that the answer is new.
    ///
    /// - Returns: when the server signed it, by the server's clock, in seconds since 1970.
    func verify(_ keys: AnswerKeys) throws -> Int64 {
        guard
            let (parameters, signature) = AnswerSignature.read(
                label: Self.label, input: input, signature: signature)
        else { throw PurchaseError(.answerUnsigned) }
        guard parameters.nonce.utf8.elementsEqual(nonce.utf8) else { throw PurchaseError(.answerNonceMismatch) }
        guard let key = keys.key(parameters.keyID) else {
            throw PurchaseError(.answerKeyUnknown, found: parameters.keyID)
        }
        let message = AnswerSignature.Message(
            status: status, contentType: contentType, contentDigest: contentDigest, method: method,
            path: path, requestDigest: requestDigest)
        guard key.isValidSignature(signature, for: parameters.base(of: message)) else {
            throw PurchaseError(.answerSignatureInvalid)
        }
        return parameters.created
    }

    private var contentDigest: String { ContentDigest.text(sha256: body.sha256) }
}
