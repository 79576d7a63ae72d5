import EvidenceMint
import Foundation
import PurchaseVerification
import TestSupport
import Testing

/// Evidence that breaks one rule, and how to verify it.
struct CounterExample: Sendable, CustomTestStringConvertible {
    /// The code with which it must be refused.
    let code: ReasonCode
    /// A description of the fault.
    let fault: String
    let policies: [any PurchasePolicy]
    /// When it is refused, if that matters.
    let now: AppStoreTime?
    /// The function that verifies it.
    let entry: Entry
    private let make: @Sendable () throws -> [UInt8]
    private let anchors: @Sendable () throws -> [[UInt8]]

    init(
        _ code: ReasonCode, _ fault: String, policies: [any PurchasePolicy] = [],
        entry: Entry = .anyEvidence, now: AppStoreTime? = nil,
        anchors: @escaping @Sendable () throws -> [[UInt8]] = { [try MintedWorld.authority().root.certificate] },
        _ make: @escaping @Sendable () throws -> [UInt8]
    ) {
        self.code = code
        self.fault = fault
        self.policies = policies
        self.entry = entry
        self.now = now
        self.anchors = anchors
        self.make = make
    }

    /// The two entry points of the verifier.
    enum Entry: Sendable {
        /// `verifyEvidence`, and the corresponding `inspect`.
        case anyEvidence
        /// `verify`, which accepts only app receipts.
        case appReceipt
    }

    var testDescription: String { "\(code.rawValue): \(fault)" }

    func evidence() throws -> [UInt8] { try make() }

    func verifier() throws -> PurchaseVerifier {
        PurchaseVerifier(anchors: TrustAnchor.apple + (try anchors().map { try TrustAnchor(certificate: $0) }))
    }
}

extension CounterExample {
    /// A receipt with one of the simulator's faults.
    static func minted(_ code: ReasonCode, _ fault: ReceiptFault) -> CounterExample {
        CounterExample(code, fault.rawValue) { try MintedWorld.mint(fault: fault) }
    }

    /// A genuine container with one change to its tree, not signed again.
    static func container(
        _ code: ReasonCode, _ fault: String, signing: SigningOptions = SigningOptions(),
        _ change: @escaping @Sendable (inout DERTree) throws -> Void
    ) -> CounterExample {
        CounterExample(code, fault) {
            var tree = DERTree(try MintedWorld.mint(signing: signing))
            try change(&tree)
            return tree.bytes
        }
    }

    /// A genuine payload with one change to its tree, signed by the authority.
    static func payload(
        _ code: ReasonCode, _ fault: String, policies: [any PurchasePolicy] = [],
        _ change: @escaping @Sendable (inout DERTree) throws -> Void
    ) -> CounterExample {
        CounterExample(code, fault, policies: policies) {
            var tree = DERTree(MintedWorld.receipt().payload())
            try change(&tree)
            var signing = SigningOptions()
            signing.payload = tree.bytes
            return try MintedWorld.mint(signing: signing)
        }
    }

    /// A receipt below an authority whose leaf is changed and signed again.
    static func leaf(
        _ code: ReasonCode, _ fault: String, _ change: @escaping @Sendable (inout CertificateTemplate) -> Void
    ) -> CounterExample {
        CounterExample(code, fault) {
            try MintedWorld.mint(authority: try MintedWorld.authority().replacingLeaf(change))
        }
    }

    /// A receipt below an authority whose intermediate is changed and signed again.
    static func intermediate(
        _ code: ReasonCode, _ fault: String, _ change: @escaping @Sendable (inout CertificateTemplate) -> Void
    ) -> CounterExample {
        CounterExample(code, fault) {
            try MintedWorld.mint(authority: try MintedWorld.authority().replacingIntermediate(change))
        }
    }
}

extension CounterExample {
    /// Evidence of any kind, for a verifier that trusts the whole store.
    static func evidence(
        _ code: ReasonCode, _ fault: String, policies: [any PurchasePolicy] = [],
        _ make: @escaping @Sendable () throws -> [UInt8]
    ) -> CounterExample {
        CounterExample(code, fault, policies: policies, anchors: MintedWorld.trustedCertificates, make)
    }

    /// A transaction receipt whose outer list is changed as text.
    static func outerList(
        _ code: ReasonCode, _ fault: String, _ change: @escaping @Sendable (String) -> String
    ) -> CounterExample {
        evidence(code, "the outer list: \(fault)") {
            let text = String(decoding: try HandmadeTransactionReceipt(.three).bytes(), as: UTF8.self)
            return Array(change(text).utf8)
        }
    }

    /// A transaction receipt whose purchase info is changed as text and signed again.
    static func purchaseInfo(
        _ code: ReasonCode, _ fault: String, version: MintedVersion = .four, policies: [any PurchasePolicy] = [],
        _ change: @escaping @Sendable (String) -> String
    ) -> CounterExample {
        evidence(code, "purchase info: \(fault)", policies: policies) {
            let text = String(decoding: MintedWorld.transactionReceipt().purchaseInfo(), as: UTF8.self)
            return try HandmadeTransactionReceipt(version, purchaseInfo: change(text)).bytes()
        }
    }

    /// A transaction receipt whose signature's field is changed.
    static func signatureField(
        _ code: ReasonCode, _ version: MintedVersion, _ fault: String,
        _ change: @escaping @Sendable (inout [UInt8]) -> Void
    ) -> CounterExample {
        evidence(code, "version \(version.rawValue): \(fault)") {
            let receipt = try HandmadeTransactionReceipt(version)
            var field = try receipt.signatureField()
            change(&field)
            return receipt.bytes(signatureField: field)
        }
    }

    /// A transaction receipt whose leaf is changed and issued again.
    static func receiptLeaf(
        _ code: ReasonCode, _ version: MintedVersion, _ fault: String,
        _ change: @escaping @Sendable (inout CertificateTemplate) -> Void
    ) -> CounterExample {
        evidence(code, "version \(version.rawValue): \(fault)") {
            var receipt = try HandmadeTransactionReceipt(version)
            receipt.certificate = try HandmadeTransactionReceipt.leaf(version, change)
            return try receipt.bytes()
        }
    }

    /// Signed data with this payload.
    static func payload(_ code: ReasonCode, _ fault: String, _ payload: String) -> CounterExample {
        evidence(code, fault) { try HandmadeJWS(payload).bytes() }
    }

    /// A signed transaction with this header.
    static func header(
        _ code: ReasonCode, _ fault: String, _ header: @escaping @Sendable () throws -> String
    ) -> CounterExample {
        evidence(code, "header: \(fault)") {
            try HandmadeJWS(ClaimsText.object(ClaimsText.transaction), header: try header()).bytes()
        }
    }

    /// A signed transaction below an authority whose leaf is changed and signed again.
    static func dataLeaf(
        _ code: ReasonCode, _ fault: String, _ change: @escaping @Sendable (inout CertificateTemplate) -> Void
    ) -> CounterExample {
        evidence(code, "signed data: \(fault)") {
            let authority = try MintedWorld.store().signedPayload.replacingLeaf(change)
            return Array(try SignedPayloadEncoder(authority: authority).encode(MintedWorld.transaction()).utf8)
        }
    }

    /// A signed transaction below an authority whose intermediate is changed and signed again.
    static func dataIntermediate(
        _ code: ReasonCode, _ fault: String, _ change: @escaping @Sendable (inout CertificateTemplate) -> Void
    ) -> CounterExample {
        evidence(code, "signed data: \(fault)") {
            let authority = try MintedWorld.store().signedPayload.replacingIntermediate(change)
            return Array(try SignedPayloadEncoder(authority: authority).encode(MintedWorld.transaction()).utf8)
        }
    }
}

/// Positions in the tree of a container.
extension DERTree {
    /// SignedPayload.
    var signedPayload: DERTree {
        get { self[1, 0] }
        set { self[1, 0] = newValue }
    }

    /// The SignerInfo.
    var signerInfo: DERTree {
        get { self[1, 0, 4, 0] }
        set { self[1, 0, 4, 0] = newValue }
    }

    /// The number of the attribute of a type in a SET of attributes.
    func index(ofAttribute type: Int) -> Int {
        children.firstIndex { $0[0].content.reduce(0) { $0 << 8 | Int($1) } == type } ?? 0
    }
}
