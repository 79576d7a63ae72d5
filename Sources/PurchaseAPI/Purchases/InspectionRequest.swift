/// `POST /v1/inspect`: evidence of any kind to decode and explain.
public struct InspectionRequest: Codable, Sendable, Equatable {
    /// Evidence of any kind, in any encoding.
    public var evidence: String?
    /// The same under the name of a claim's receipt.
    public var receiptData: String?
    /// The same under the name of a claim's signed transaction.
    public var signedTransaction: String?

    /// A request with one of the three.
    public init(evidence: String? = nil, receiptData: String? = nil, signedTransaction: String? = nil) {
        (self.evidence, self.receiptData, self.signedTransaction) = (evidence, receiptData, signedTransaction)
    }

    enum CodingKeys: String, CodingKey {
        case evidence
        case receiptData = "receipt_data"
        case signedTransaction = "signed_transaction"
    }

    /// The evidence, under whichever name it was sent.
    public var sent: String? { evidence ?? receiptData ?? signedTransaction }
}

extension InspectionRequest: RequestMessage {
    public init(members: inout RequestMembers) {
        evidence = members.text(CodingKeys.evidence)
        receiptData = members.text(CodingKeys.receiptData)
        signedTransaction = members.text(CodingKeys.signedTransaction)
        switch [evidence, receiptData, signedTransaction].count(where: { $0 != nil }) {
        case 1: break
        case 0:
            members.findMisnamed(RestoreRequest.otherReceiptNames, expected: CodingKeys.evidence)
            members.miss(Self.names)
        default: members.refuse(CodingKeys.evidence, "one of \(Self.names)")
        }
    }

    private static let names = [CodingKeys.evidence, .receiptData, .signedTransaction].map(\.rawValue)
        .joined(separator: ", ")
}
