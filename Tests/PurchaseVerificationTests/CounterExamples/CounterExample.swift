import AppStoreSimulator
import Foundation
import PurchaseVerification
import TestSupport
import Testing

/// A receipt that breaks one rule, and how it is verified.
struct CounterExample: Sendable, CustomTestStringConvertible {
    /// The code with which it must be refused.
    let code: ReasonCode
    /// What is wrong with it, in words.
    let fault: String
    let policies: [any PurchasePolicy]
    private let make: @Sendable () throws -> [UInt8]
    private let anchors: @Sendable () throws -> [[UInt8]]

    init(
        _ code: ReasonCode, _ fault: String, policies: [any PurchasePolicy] = [],
        anchors: @escaping @Sendable () throws -> [[UInt8]] = { [try MintedWorld.authority().root.certificate] },
        _ make: @escaping @Sendable () throws -> [UInt8]
    ) {
        self.code = code
        self.fault = fault
        self.policies = policies
        self.anchors = anchors
        self.make = make
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

    /// A genuine container with one change to its tree, which nobody signs again.
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

/// Where things lie in the tree of a container.
extension DERTree {
    /// SignedData.
    var signedData: DERTree {
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
