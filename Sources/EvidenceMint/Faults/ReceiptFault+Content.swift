import Foundation

extension ReceiptFault {
    /// Changes the content before it is signed; the signature will be valid.
    func alterContent(of plan: inout ReceiptPlan) {
        switch self {
        case .missingCreationDate:
            plan.template.omitted.insert(12)
        case .missingBundleID:
            plan.template.omitted.insert(2)
        case .missingReceiptType:
            plan.template.omitted.insert(0)
        case .duplicateAttribute:
            plan.template.extraAttributes.append(.utf8(2, (plan.template.bundleID ?? "com.example") + ".other"))
        case .malformedDate:
            plan.template.omitted.insert(12)
            plan.template.extraAttributes.append(.ia5(12, "2024-02-30T12:00:00Z"))
        case .noTransactionID:
            if plan.template.purchases.isEmpty {
                plan.template.purchases = [
                    .nonConsumable(
                        productID: "product", transactionID: "",
                        purchaseDate: plan.template.creationDate ?? .distantPast
                    )
                ]
            }
            for index in plan.template.purchases.indices {
                plan.template.purchases[index].omitted.insert(1703)
            }
        case .payloadNotASet:
            var payload = plan.options.payload ?? plan.template.payload()
            if !payload.isEmpty {
                payload[0] = DER.Tag.sequence
            }
            plan.options.payload = payload
        case .wrongContentType:
            plan.contentType = KnownOID.digestedData
        case .signedAttributesWithoutDigest:
            plan.options.signedAttributes = true
            plan.messageDigest = .missing
        case .wrongMessageDigest:
            plan.options.signedAttributes = true
            plan.messageDigest = .wrong
        default:
            break
        }
    }
}
