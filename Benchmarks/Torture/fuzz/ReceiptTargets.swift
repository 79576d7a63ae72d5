import HostileBytes
import PurchaseVerification

/// Uses the input as the signed content of a genuine container, once in DER and once in BER. `inspect` reads it
/// although the signature does not match, so the readers of attributes, purchases, dates and text get every input.
struct PayloadTarget {
    private let container: DERTree

    init(_ minted: MintedSamples) throws {
        guard let container = DERTree(try minted.mint()) else { throw FuzzError.unreadableSeed }
        self.container = container
    }

    /// The signed content of a container.
    static func content(of bytes: [UInt8]) -> [UInt8]? {
        DERTree(bytes).flatMap { $0.inDefiniteLengths[1, 0, 2, 1, 0]?.contentBytes }
    }

    func check(_ content: [UInt8]) {
        let der = with(DERTree(tag: 0x04, content: content))
        let inspection = World.shared.checkVerdict(of: der.bytes)
        if let receipt = inspection.receipt, let set = DERTree(content) {
            // The set may be wrapped in one more octet string, and may be BER.
            let inner = set.tag == 0x04 ? set.contentBytes : content
            let read = DERTree(tag: 0x31, children: receipt.attributes.map(ReceiptReading.element)).bytes
            let isSame =
                read == inner || set.inDefiniteLengths.bytes == read || DERTree(inner)?.inDefiniteLengths.bytes == read
            demand(isSame, "the receipt does not re-serialise to what was read")
        }
        var pieces = DERTree(
            tag: 0x24,
            children: [content.prefix(content.count / 2), content.suffix(content.count - content.count / 2)].map {
                DERTree(tag: 0x04, content: Array($0))
            })
        pieces.length = .indefinite
        let other = World.shared.warmed.inspect(with(pieces).bytes, policies: [])
        demand(other.firstFailure == inspection.firstFailure, "the same content in pieces fails otherwise")
        demand(other.receipt == inspection.receipt, "the same content in pieces reads otherwise")
    }

    private func with(_ content: DERTree) -> DERTree {
        var result = container
        result.children[1].children[0].children[2].children[1].children[0] = content
        return result
    }
}

enum FuzzError: Error {
    case unreadableSeed
}

/// Puts the input wherever a certificate can be: as an anchor, as the signer, as an authority, and beside a genuine
/// chain.
struct CertificateTarget {
    private let container: DERTree
    /// Leaf, intermediate and root of the container.
    private let chain: [DERTree]

    init(_ minted: MintedSamples) throws {
        guard let container = DERTree(try minted.mint()), let certificates = container[1, 0, 3] else {
            throw FuzzError.unreadableSeed
        }
        self.container = container
        chain = certificates.children
    }

    /// The embedded certificates of a container.
    static func certificates(of bytes: [UInt8]) -> [[UInt8]] {
        DERTree(bytes)?[1, 0, 3]?.children.map(\.bytes) ?? []
    }

    func check(_ certificate: [UInt8]) {
        let world = World.shared
        if let anchor = try? TrustAnchor(certificate: certificate) {
            _ = anchor.subject
            // As the anchor of a genuine receipt, and of a receipt that it signed itself, as Xcode's certificate does.
            world.checkVerdict(of: container.bytes, anchors: [anchor])
            world.checkVerdict(of: with([certificate], signer: certificate).bytes, anchors: [anchor])
        }
        let (leaf, intermediate, root) = (chain[0].bytes, chain[1].bytes, chain[2].bytes)
        world.checkVerdict(of: with([leaf, certificate, root]).bytes)
        world.checkVerdict(of: with([certificate, intermediate], signer: certificate).bytes)
        world.checkVerdict(of: with([leaf, intermediate, certificate]).bytes)
    }

    /// The container with other certificates, and the signer named as the given certificate names itself.
    private func with(_ certificates: [[UInt8]], signer: [UInt8]? = nil) -> DERTree {
        var result = container
        result.children[1].children[0].children[3] = DERTree(
            tag: 0xA0, content: certificates.flatMap { $0 })
        guard let signed = signer.flatMap({ DERTree($0) })?[0] else { return result }
        let fields = signed.children.drop { $0.tag == 0xA0 }
        guard fields.count >= 3, let serialNumber = fields.first else { return result }
        let identifier = DERTree(tag: 0x30, children: [fields[fields.startIndex + 2], serialNumber])
        result.children[1].children[0].children[4].children[0].children[1] = identifier
        return result
    }
}

/// Uses the input as a part of a genuine transaction receipt. `inspect` reads the signed list although the signature
/// does not match, so the readers of lists, dates and numbers get every input.
struct TransactionReceiptTarget {
    private let genuine: LooseTransactionReceipt

    init(_ store: EvidenceSamples) throws {
        guard let sample = try store.transactionReceipts().last, let genuine = LooseTransactionReceipt(sample.bytes)
        else { throw FuzzError.unreadableSeed }
        self.genuine = genuine
    }

    func check(list: [UInt8]) {
        World.shared.checkVerdict(of: list)
        var receipt = genuine
        receipt.purchaseInfo = list
        World.shared.checkVerdict(of: receipt.bytes)
    }

    func check(signatureField: [UInt8]) {
        var receipt = genuine
        receipt.field = signatureField
        World.shared.checkVerdict(of: receipt.bytes)
    }

    /// Reads a receipt through every accessor: every value read is in the list.
    static func check<Trust>(_ receipt: TransactionReceiptContent<Trust>) {
        let attributes = receipt.attributes
        func value(_ key: String) -> String? { attributes.first { $0.key == key }?.value }
        demand(!receipt.transactionID.isEmpty && !receipt.productID.isEmpty, "a purchase without a name")
        demand(Set(attributes.map(\.key)).count <= attributes.count, "keys were lost")
        demand(attributes.contains { $0.value == receipt.transactionID }, "a transaction that nobody wrote")
        if let quantity = receipt.quantity {
            demand(attributes.contains { UInt64($0.value) == quantity }, "a quantity that nobody wrote")
        }
        _ = (receipt.purchaseDate.description, receipt.originalPurchaseDate?.description)
        _ = (receipt.expiresDate?.description, receipt.cancellationDate?.description, receipt.environment?.name)
        _ = (receipt.productAppleID, receipt.appAppleID, receipt.versionExternalIdentifier, receipt.webOrderLineItemID)
        _ = (receipt.bundleID, receipt.applicationVersion, receipt.subscriptionGroupIdentifier, receipt.ownershipType)
        _ = (receipt.uniqueIdentifier, receipt.uniqueVendorIdentifier, receipt.isTrialPeriod)
        _ = (receipt.originalTransactionID, receipt.isInIntroOfferPeriod)
    }
}

/// Reads a receipt through every accessor, and compares the values with those of an independent reader.
enum ReceiptReading {
    static func check<Trust>(_ receipt: AppReceiptContent<Trust>) {
        let attributes = receipt.attributes
        let purchases = receipt.inAppPurchases
        demand(attributes.count { $0.type == 17 } == purchases.count, "purchases were lost or invented")
        touch(receipt)
        for (attribute, purchase) in zip(attributes.filter { $0.type == 17 }, purchases) {
            demand(
                DERTree(tag: 0x31, children: purchase.attributes.map(element)).bytes == attribute.value,
                "a purchase does not re-serialise to what was read")
            demand(!purchase.productID.isEmpty && !purchase.transactionID.isEmpty, "a purchase without a name")
            touch(purchase)
        }
        if let date = receipt.creationDate { checkDate(date, attributes.first { $0.type == 12 }) }
    }

    /// The attribute in DER.
    static func element(_ attribute: ReceiptAttribute) -> DERTree {
        DERTree(
            tag: 0x30,
            children: [
                DERTree(tag: 0x02, content: integer(attribute.type)),
                DERTree(tag: 0x02, content: integer(attribute.version)),
                DERTree(tag: 0x04, content: attribute.value),
            ])
    }

    private static func integer(_ value: Int64) -> [UInt8] {
        var bytes = withUnsafeBytes(of: value.bigEndian) { Array($0) }
        while bytes.count > 1, (bytes[0] == 0 && bytes[1] < 0x80) || (bytes[0] == 0xFF && bytes[1] >= 0x80) {
            bytes.removeFirst()
        }
        return bytes
    }

    /// A date in the usual form is written as it was read.
    private static func checkDate(_ date: AppStoreTime, _ attribute: ReceiptAttribute?) {
        guard let attribute, case .text(let text) = attribute.content, text.utf8.count == 20 else { return }
        demand(date.description == text, "\(text) was read as \(date)")
    }

    private static func touch<Trust>(_ receipt: AppReceiptContent<Trust>) {
        _ = (receipt.receiptType, receipt.environment?.name, receipt.bundleID, receipt.applicationVersion)
        _ = (receipt.originalApplicationVersion, receipt.opaqueValue, receipt.deviceHash, receipt.appAppleID)
        _ = (receipt.sentReceiptCreationDate?.description, receipt.originalPurchaseDate?.description)
        _ = (receipt.expirationDate?.description, receipt.downloadID, receipt.versionExternalIdentifier)
        _ = (receipt.ageRating, receipt.sellerID, receipt.store)
        for attribute in receipt.attributes { _ = attribute.content }
    }

    private static func touch<Trust>(_ purchase: InAppPurchaseContent<Trust>) {
        _ = (purchase.quantity, purchase.originalTransactionID, purchase.productType, purchase.productAppleID)
        _ = (purchase.purchaseDate?.description, purchase.originalPurchaseDate?.description)
        _ = (purchase.expiresDate?.description, purchase.cancellationDate?.description)
        _ = (purchase.webOrderLineItemID, purchase.isTrialPeriod, purchase.isInIntroOfferPeriod)
        _ = (purchase.offerIdentifier, purchase.ownershipType)
        for attribute in purchase.attributes { _ = attribute.content }
    }
}
