import Crypto
import CryptoExtras
import EvidenceMint
import Foundation
import TestSupport

/// A transaction receipt assembled by hand, so that a test can write forms that no encoder writes.
struct HandmadeTransactionReceipt {
    /// The version that is written.
    var version: UInt8
    /// The signature, and the version that it covers.
    let signedAs: MintedVersion
    /// The signed property list.
    var purchaseInfo: [UInt8]
    var certificate: [UInt8]
    var key: SigningKey
    /// Further entries of the outer list, as raw text.
    var unsigned = "\t\"environment\" = \"Sandbox\";\n\t\"pod\" = \"100\";\n\t\"signing-status\" = \"0\";\n"

    /// A receipt in the form that the shared store signs.
    init(_ version: MintedVersion, purchaseInfo: String? = nil) throws {
        let store = try MintedWorld.store()
        self.version = version.rawValue
        signedAs = version
        self.purchaseInfo = purchaseInfo.map { Array($0.utf8) } ?? MintedWorld.transactionReceipt().purchaseInfo()
        certificate = store.transactionReceiptLeaf(version).certificate
        key = store.transactionReceiptLeaf(version).privateKey
    }

    struct NoSignature: Error {}

    /// The signature's field: version, signature, length, certificate.
    func signatureField() throws -> [UInt8] {
        let signature = try signature()
        let length = UInt32(certificate.count)
        return [version] + signature + withUnsafeBytes(of: length.bigEndian) { Array($0) } + certificate
    }

    func bytes() throws -> [UInt8] { try bytes(signatureField: signatureField()) }

    func bytes(signatureField: [UInt8]) -> [UInt8] {
        bytes(signature: Data(signatureField).base64EncodedString())
    }

    func bytes(signature: String) -> [UInt8] {
        let info = Data(purchaseInfo).base64EncodedString()
        return Array("{\n\t\"signature\" = \"\(signature)\";\n\t\"purchase-info\" = \"\(info)\";\n\(unsigned)}".utf8)
    }

    private func signature() throws -> [UInt8] {
        guard case .rsa(let key) = key else { throw NoSignature() }
        let message = [version] + purchaseInfo
        let signature =
            signedAs == .four
            ? try key.signature(for: SHA256.hash(data: message), padding: .insecurePKCS1v1_5)
            : try key.signature(for: Insecure.SHA1.hash(data: message), padding: .insecurePKCS1v1_5)
        return [UInt8](signature.rawRepresentation)
    }

    /// A leaf of a version, changed before an issuer signs it.
    static func leaf(
        _ version: MintedVersion, issuer: SigningIdentity? = nil,
        _ change: (inout CertificateTemplate) -> Void
    ) throws -> [UInt8] {
        let store = try MintedWorld.store()
        let issuer = issuer ?? store.transactionReceiptIssuer(version)
        var template = CertificateTemplate.transactionReceiptLeaf(version)
        template.issuer = issuer.subject
        change(&template)
        return try template.signed(
            by: issuer.privateKey, publicKeyInfo: store.transactionReceiptLeaf(version).privateKey.publicKeyInfo)
    }
}
