import Foundation
import PurchaseMessages

#if canImport(CryptoKit)
    import CryptoKit
#else
    import Crypto
#endif

extension ServiceAnswer {
    static let signatureLabel = "assay"

    /// Verifies the signature, against the content that arrived and the request that was sent. The signing time is not
    /// compared with the device's clock, because the nonce proves that the answer is new.
    ///
    /// - Returns: when the server signed it, by the server's clock, in seconds since 1970.
    func verify(_ keys: AnswerKeys, _ request: ServiceRequest, requestDigest: String, nonce: String) throws -> Int64 {
        guard body.count <= Self.largestBody else { throw PurchaseError(.answerTooLarge) }
        guard let input = headers[AnswerSignature.inputField.lowercased()],
            let signature = headers[AnswerSignature.signatureField.lowercased()],
            let contentType = headers["content-type"]
        else { throw PurchaseError(.answerUnsigned, found: "status \(status)") }
        let contentDigest = ContentDigest.text(sha256: body.sha256)
        // The signature must cover the digest of the received content, so this comparison only distinguishes the
        // causes.
        if let stated = headers[ContentDigest.field.lowercased()], stated != contentDigest {
            throw PurchaseError(.answerDigestMismatch)
        }
        guard
            let (parameters, signed) = AnswerSignature.read(
                label: Self.signatureLabel, input: input, signature: signature)
        else { throw PurchaseError(.answerUnsigned) }
        guard parameters.nonce.utf8.elementsEqual(nonce.utf8) else { throw PurchaseError(.answerNonceMismatch) }
        guard let key = keys.key(parameters.keyID) else {
            throw PurchaseError(.answerKeyUnknown, found: parameters.keyID)
        }
        let message = AnswerSignature.Message(
            status: status, contentType: contentType, contentDigest: contentDigest, method: request.method,
            path: request.path, requestDigest: requestDigest)
        guard key.isValidSignature(signed, for: parameters.base(of: message)) else {
            throw PurchaseError(.answerSignatureInvalid)
        }
        return parameters.created
    }
}
