import Foundation
import PurchaseVerification

#if canImport(OpenSSLReceipt)
    import OpenSSLReceipt
#endif

/// One of the implementations that are compared.
struct Contender {
    /// `RECEIPT/ROW`, the argument of `--callgrind`.
    let name: String
    /// The description in the tables.
    let title: String
    /// Runs once. The result depends on the work, so that no optimiser can remove it.
    let run: () throws -> Int
}

/// The contenders that every receipt has.
enum ContenderRow: String, CaseIterable {
    case floorA = "floor-a"
    case floorB = "floor-b"
    case assayHot = "assay-hot"
    case assayHotStrings = "assay-hot-strings"
    case assayFirstSight = "assay-first-sight"
    #if canImport(OpenSSLReceipt)
        case openSSL = "openssl"
    #endif

    /// The description in the tables.
    var title: String {
        switch self {
        case .floorA: "floor A: digest and one RSA verification, key ready"
        case .floorB: "floor B: three RSA verifications, keys ready"
        case .assayHot: "Assay, chain seen before"
        case .assayHotStrings: "Assay, chain seen before, every string read"
        case .assayFirstSight: "Assay, first sight of the chain"
        #if canImport(OpenSSLReceipt)
            case .openSSL: "OpenSSL, as most servers use it"
        #endif
        }
    }
}

extension BenchmarkReceipts {
    /// The names of all contenders of all receipts.
    var contenderNames: [String] {
        receipts.flatMap { receipt in ContenderRow.allCases.map { receipt.contenderName($0) } }
            + signed.flatMap { evidence in SignedEvidenceRow.allCases.map { evidence.contenderName($0) } }
    }

    /// The contender with a name. No other one is created, so that counted instructions are its own.
    func contender(named name: String) throws -> Contender {
        for receipt in receipts {
            for row in ContenderRow.allCases where receipt.contenderName(row) == name {
                return try receipt.contender(row)
            }
        }
        for evidence in signed {
            for row in SignedEvidenceRow.allCases where evidence.contenderName(row) == name {
                return try evidence.contender(row)
            }
        }
        throw BenchmarkError("no contender is called '\(name)'; --list names them")
    }
}

extension BenchmarkReceipt {
    func contenderName(_ row: ContenderRow) -> String { "\(name)/\(row.rawValue)" }

    /// All contenders of this receipt.
    func contenders() throws -> [Contender] { try ContenderRow.allCases.map(contender) }

    func contender(_ row: ContenderRow) throws -> Contender {
        let run =
            switch row {
            case .floorA: try floorA()
            case .floorB: try floorB()
            case .assayHot: try assayHot()
            case .assayHotStrings: try assayHotStrings()
            case .assayFirstSight: assayFirstSight()
            #if canImport(OpenSSLReceipt)
                case .openSSL: try openSSL()
            #endif
            }
        return Contender(name: contenderName(row), title: row.title, run: run)
    }

    private func floorA() throws -> () throws -> Int {
        let signature = try parts.contentSignature()
        return {
            guard signature.isValid() else { throw BenchmarkError("floor A: invalid") }
            return 1
        }
    }

    private func floorB() throws -> () throws -> Int {
        let signatures = [try parts.contentSignature()] + (try parts.certificateSignatures())
        return {
            for signature in signatures {
                guard signature.isValid() else { throw BenchmarkError("floor B: invalid") }
            }
            return signatures.count
        }
    }

    /// Base64 to typed content, with a chain that was seen before.
    private func assayHot() throws -> () throws -> Int {
        let verifier = PurchaseVerifier(anchors: anchors)
        let (base64, policies, count) = (base64, policies, purchases)
        _ = try verifier.verifyAppReceipt(base64, policies: policies)
        return {
            let receipt = try verifier.verifyAppReceipt(base64, policies: policies)
            guard receipt.inAppPurchases.count == count else { throw BenchmarkError("Assay: purchases are missing") }
            return count
        }
    }

    /// The same, and the whole content of the receipt is read.
    private func assayHotStrings() throws -> () throws -> Int {
        let verifier = PurchaseVerifier(anchors: anchors)
        let (base64, policies) = (base64, policies)
        _ = try verifier.verifyAppReceipt(base64, policies: policies)
        return { try verifier.verifyAppReceipt(base64, policies: policies).everythingRead() }
    }

    /// A new verifier each time: it knows its anchors and has seen no chain.
    private func assayFirstSight() -> () throws -> Int {
        let (base64, policies, anchors, count) = (base64, policies, anchors, purchases)
        return {
            let receipt = try PurchaseVerifier(anchors: anchors).verifyAppReceipt(base64, policies: policies)
            guard receipt.inAppPurchases.count == count else { throw BenchmarkError("Assay: purchases are missing") }
            return count
        }
    }

    /// The checks that a server makes on every receipt.
    private var policies: [any PurchasePolicy] {
        [EnvironmentPolicy(accepting: [.production, .sandbox]), BundleIDPolicy(bundleID)]
    }
}

extension AppReceipt {
    /// Reads every typed field of the receipt and of its purchases, and adds up their contents.
    func everythingRead() -> Int {
        var sum =
            length(receiptType) + length(bundleID) + length(applicationVersion) + length(originalApplicationVersion)
        sum += (opaqueValue?.count ?? 0) + (deviceHash?.count ?? 0)
        sum &+= number(appAppleID) &+ number(downloadID) &+ number(versionExternalIdentifier)
        sum &+= moment(creationDate) &+ moment(originalPurchaseDate) &+ moment(expirationDate)
        for purchase in inAppPurchases {
            sum &+= purchase.productID.utf8.count + purchase.transactionID.utf8.count
            sum &+= length(purchase.originalTransactionID) + length(purchase.offerIdentifier)
            sum &+= number(purchase.quantity) &+ number(purchase.productAppleID) + length(purchase.webOrderLineItemID)
            sum &+= moment(purchase.purchaseDate) &+ moment(purchase.originalPurchaseDate)
            sum &+= moment(purchase.expiresDate) &+ moment(purchase.cancellationDate)
            sum &+= (purchase.isTrialPeriod == true ? 1 : 0) + (purchase.isInIntroOfferPeriod == true ? 1 : 0)
            sum &+= (purchase.productType == .consumable ? 1 : 0) + (purchase.ownershipType == .familyShared ? 1 : 0)
        }
        return sum
    }

    private func length(_ text: String?) -> Int { text?.utf8.count ?? 0 }
    private func number(_ number: UInt64?) -> Int { Int(truncatingIfNeeded: number ?? 0) }
    private func moment(_ moment: AppStoreTime?) -> Int { Int(truncatingIfNeeded: moment?.millisecondsSince1970 ?? 0) }
}

#if canImport(OpenSSLReceipt)
    extension BenchmarkReceipt {
        /// libcrypto as RMStore and most servers use it; its result was compared with Assay's before.
        fileprivate func openSSL() throws -> () throws -> Int {
            let openSSL = OpenSSLContender(base64: base64, root: parts.root.der)
            let receipt = try PurchaseVerifier(anchors: anchors).verifyAppReceipt(base64, policies: [])
            guard try openSSL.transactionIDs() == receipt.inAppPurchases.map(\.transactionID) else {
                throw BenchmarkError("OpenSSL and Assay read different purchases")
            }
            let count = purchases
            return {
                guard try openSSL.purchaseCount() == count else { throw BenchmarkError("OpenSSL: purchases missing") }
                return count
            }
        }
    }

    struct OpenSSLContender {
        let base64: [UInt8]
        let root: [UInt8]

        static var library: String { String(cString: openssl_receipt_library()) }

        func purchaseCount() throws -> Int { try verified { $0.pointee.purchase_count } }

        func transactionIDs() throws -> [String] {
            try verified { receipt in
                UnsafeBufferPointer(start: receipt.pointee.purchases, count: receipt.pointee.purchase_count).map {
                    $0.transaction_id.map { String(cString: $0) } ?? ""
                }
            }
        }

        private func verified<Result>(_ read: (UnsafeMutablePointer<openssl_receipt>) -> Result) throws -> Result {
            var failure: UnsafePointer<CChar>?
            guard let receipt = openssl_receipt_verify(base64, base64.count, root, root.count, &failure) else {
                throw BenchmarkError("OpenSSL: \(failure.map { String(cString: $0) } ?? "refused")")
            }
            defer { openssl_receipt_free(receipt) }
            return read(receipt)
        }
    }
#endif
