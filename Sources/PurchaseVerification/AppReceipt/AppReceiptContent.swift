// The content of an app receipt, verified and unverified.

/// An app receipt that the verifier vouches for. Only `PurchaseVerifier` creates one, so having one proves that it was
/// verified.
public typealias AppReceipt = AppReceiptContent<VerifiedContent>

/// The same content, read from unverified bytes: for display, never for granting. Only `inspect` creates one.
public typealias UnverifiedAppReceipt = AppReceiptContent<UnverifiedContent>

/// The content was verified: signature, certificate path, markers and the caller's policies.
public enum VerifiedContent {}

/// The content was read but not verified.
public enum UnverifiedContent {}

/// The content of an app receipt (Apple, "Validating receipts on the device"; the meaning of each attribute as
/// measured, docs/receipt-format.md). The type parameter states whether it was verified; there is no public
/// initialiser.
public struct AppReceiptContent<Trust>: Sendable {
    let payload: AppReceiptPayload
    private let path: CertificatePath?

    init(_ payload: AppReceiptPayload, path: CertificatePath?) {
        self.payload = payload
        self.path = path
    }

    /// `receipt_type`: `Production`, `ProductionVPP`, `ProductionSandbox`, `ProductionVPPSandbox` or `Xcode` (attribute
    /// 0).
    public var receiptType: String? { payload.text(payload.record.receiptType) }

    /// The environment in which the receipt was made; `nil` if the receipt does not state it.
    public var environment: AppStoreEnvironment? {
        payload.record.knownEnvironment ?? receiptType.map(AppStoreEnvironment.init(receiptType:))
    }

    /// The App Store's number of the app, `adam_id` and `app_item_id`; 0 in the sandbox (attribute 1).
    public var appAppleID: UInt64? { payload.record.adamID }

    /// The bundle id of the app (attribute 2).
    public var bundleID: String? { payload.text(payload.record.bundleID) }

    /// The app's `CFBundleVersion`, or on the Mac its `CFBundleShortVersionString` (attribute 3).
    public var applicationVersion: String? { payload.text(payload.record.applicationVersion) }

    /// The version of the app that was first bought; always `1.0` in the sandbox (attribute 19).
    public var originalApplicationVersion: String? { payload.text(payload.record.originalApplicationVersion) }

    /// Opaque bytes that go into the device hash (attribute 4).
    public var opaqueValue: [UInt8]? { payload.raw(payload.record.opaqueValue) }

    /// SHA-1 over device identifier, opaque value and bundle id (attribute 5).
    public var deviceHash: [UInt8]? { payload.raw(payload.record.deviceHash) }

    /// The bundle id with its DER header, as it goes into the device hash.
    var bundleIDValue: [UInt8]? { payload.raw(payload.record.bundleIDValue) }

    /// When this receipt was made; the validity of its certificates is checked at this time (attribute 12).
    public var creationDate: AppStoreTime? { payload.record.creationDate }

    /// In a receipt that Apple's server made from an older receipt: the creation date of the older one (attribute 8).
    public var sentReceiptCreationDate: AppStoreTime? { payload.record.sentReceiptCreationDate }

    /// When the app was first bought (attribute 18).
    public var originalPurchaseDate: AppStoreTime? { payload.record.originalPurchaseDate }

    /// When the receipt expires: only for apps of the Volume Purchase Program (attribute 21).
    public var expirationDate: AppStoreTime? { payload.record.expirationDate }

    /// `download_id` (attribute 15); beyond 2^53, so not every JSON reader can hold it.
    public var downloadID: UInt64? { payload.record.downloadID }

    /// `version_external_identifier`, the App Store's number of the app's version; 0 in the sandbox (attribute 16).
    public var versionExternalIdentifier: UInt64? { payload.record.versionExternalIdentifier }

    /// The age rating of the app, such as `4+` (attribute 10).
    public var ageRating: String? { payload.descriptiveText(ReceiptAttributeType.ageRating) }

    /// The seller's number at the App Store (attribute 11); its meaning is inferred, not documented.
    public var sellerID: UInt64? { payload.descriptiveNumber(ReceiptAttributeType.sellerID) }

    /// The store: 3 for iOS, 2 for the Mac (attribute 25). The meaning is inferred; Apple does not document it.
    public var store: UInt64? { payload.descriptiveNumber(ReceiptAttributeType.store) }

    /// The purchases, in the order of the receipt.
    public var inAppPurchases: InAppPurchaseList<Trust> { InAppPurchaseList(payload: payload) }

    /// Every attribute of the receipt itself, unchanged, including purchases (17) and unknown attributes.
    public var attributes: [ReceiptAttribute] { payload.attributes() }
}

extension AppReceiptContent where Trust == VerifiedContent {
    /// The subject of the certificate that signed the receipt, and of the anchor that vouches for it.
    public var signer: (subject: String, trustAnchor: String)? {
        path.map { ($0.leaf.subject.description, $0.anchor.subject) }
    }
}

extension AppReceiptContent: Equatable {
    /// Two receipts are equal if their signed attributes are the same bytes.
    public static func == (left: AppReceiptContent, right: AppReceiptContent) -> Bool {
        let (leftBytes, rightBytes) = (left.payload.bytes[...], right.payload.bytes[...])
        return leftBytes.span.isEqual(left.payload.range, rightBytes.span.extracting(right.payload.range))
    }
}

extension AppReceiptPayload {
    /// A slice of the array would be retained for each text, which costs a tenth of reading a large receipt.
    func text(_ compact: CompactRange) -> String? {
        guard let range = compact.range, range.upperBound <= bytes.count else { return nil }
        return bytes.withUnsafeBufferPointer { bytes in
            String(decoding: UnsafeBufferPointer(rebasing: bytes[range]), as: UTF8.self)
        }
    }

    func raw(_ compact: CompactRange) -> [UInt8]? {
        compact.range.map { Array(bytes[$0]) }
    }

    /// Text of an attribute that no check needs; also absent if it has another format.
    func descriptiveText(_ type: Int64) -> String? {
        guard let value = value(of: type, in: range) else { return nil }
        let bytes = bytes[...]
        do throws(VerificationError) {
            return text(try ReceiptAttributeReader(type: type).text(bytes.span, value))
        } catch {
            return nil
        }
    }

    /// A number of an attribute that no check needs; also absent if it has another format.
    func descriptiveNumber(_ type: Int64) -> UInt64? {
        guard let value = value(of: type, in: range) else { return nil }
        let bytes = bytes[...]
        do throws(VerificationError) {
            return try ReceiptAttributeReader(type: type).unsigned(bytes.span, value)
        } catch {
            return nil
        }
    }

    private func value(of type: Int64, in range: Range<Int>) -> Range<Int>? {
        let bytes = bytes[...]
        var cursor = DERCursor(range)
        do throws(VerificationError) {
            while !cursor.isAtEnd {
                let attribute = try ReceiptAttributeElement(bytes.span, &cursor)
                if attribute.type == type { return attribute.value }
            }
        } catch {
            // The initialiser has read the same bytes without an error.
            return nil
        }
        return nil
    }
}
