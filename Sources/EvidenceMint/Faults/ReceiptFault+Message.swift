extension ReceiptFault {
    /// Changes the message after it was signed.
    func alter(_ message: inout SignedMessage, of plan: ReceiptPlan) {
        switch self {
        case .flippedPayloadByte:
            message.content.flipBit(at: Self.meaninglessPosition(in: message.content, of: plan.template))
        case .flippedSignatureByte:
            for index in message.signers.indices {
                message.signers[index].signature.flipBit(at: message.signers[index].signature.count / 2)
            }
        case .flippedLeafCertificateByte:
            if let index = Self.leafIndex(in: message, of: plan),
                // Our own certificate, so it can be read.
                let fields = try? CertificateFields(plan.authority.leaf.certificate)
            {
                message.certificates?[index].flipBit(at: fields.subjectRange.upperBound - 1)
            }
        case .nonMinimalLength:
            message.padsLength = true
        case .digestMismatch:
            message.digestAlgorithms = [plan.options.digest.another.algorithmIdentifier]
        case .signatureAlgorithmMismatch:
            let other = plan.options.digest.another
            let isElliptic = plan.options.signatureAlgorithm == .digestWithECDSA
            for index in message.signers.indices {
                message.signers[index].signatureAlgorithm = (isElliptic ? other.withECDSA : other.withRSA).der
            }
        case .noSigner:
            message.signers = []
        case .twoSigners:
            message.signers += message.signers
        case .signerNotEmbedded:
            message.certificates?.removeAll { $0 == plan.authority.leaf.certificate }
        case .noCertificates:
            message.certificates = nil
        case .duplicateCertificate:
            message.certificates?.insert(plan.authority.leaf.certificate, at: 0)
        default:
            break
        }
    }

    /// Changes the finished bytes.
    func alter(_ bytes: inout [UInt8]) {
        switch self {
        case .truncated:
            bytes.removeLast()
        case .trailingBytes:
            bytes += [0xDE, 0xAD, 0xBE, 0xEF]
        default:
            break
        }
    }

    private static func leafIndex(in message: SignedMessage, of plan: ReceiptPlan) -> Int? {
        message.certificates?.firstIndex(of: plan.authority.leaf.certificate)
    }

    /// A byte whose change spoils nothing but the signature: the payload still parses, and its claims stay.
    private static func meaninglessPosition(in content: [UInt8], of template: AppReceiptTemplate) -> Int {
        let values = [template.encryptedValue7, template.encryptedValue6, template.opaqueValue]
        for value in values.compactMap(\.self) where !value.isEmpty {
            let last = content.count - value.count
            guard last >= 0 else { continue }
            if let start = (0...last).first(where: { content[$0...].starts(with: value) }) {
                return start + value.count - 1
            }
        }
        return content.count - 1
    }
}

extension [UInt8] {
    /// Changes the lowest bit of one octet.
    mutating func flipBit(at index: Int) {
        guard indices.contains(index) else { return }
        self[index] ^= 0x01
    }
}
