/// The attributes of the receipt itself, as offsets and numbers.
struct AppReceiptRecord: Sendable {
    var receiptType = CompactRange.absent
    /// The environment of the receipt type, if it is known; it is used several times.
    var knownEnvironment: AppStoreEnvironment?
    var bundleID = CompactRange.absent
    /// The whole DER value of the bundle id, which goes into the device hash.
    var bundleIDValue = CompactRange.absent
    var applicationVersion = CompactRange.absent
    var opaqueValue = CompactRange.absent
    var deviceHash = CompactRange.absent
    var originalApplicationVersion = CompactRange.absent
    var adamID: UInt64?
    var downloadID: UInt64?
    var versionExternalIdentifier: UInt64?
    var creationDate: AppStoreTime?
    var sentReceiptCreationDate: AppStoreTime?
    var originalPurchaseDate: AppStoreTime?
    var expirationDate: AppStoreTime?

    /// Reads one attribute; a type without a meaning here is skipped.
    mutating func read(
        _ bytes: Span<UInt8>, _ attribute: ReceiptAttributeElement
    ) throws(VerificationError) {
        let reader = ReceiptAttributeReader(type: attribute.type)
        let value = attribute.value
        switch attribute.type {
        case ReceiptAttributeType.receiptType:
            receiptType = try reader.text(bytes, value)
            knownEnvironment = Self.environment(bytes, receiptType)
        case ReceiptAttributeType.adamID: adamID = try reader.unsigned(bytes, value)
        case ReceiptAttributeType.bundleID:
            bundleID = try reader.text(bytes, value)
            bundleIDValue = CompactRange(value)
        case ReceiptAttributeType.applicationVersion: applicationVersion = try reader.text(bytes, value)
        case ReceiptAttributeType.opaqueValue: opaqueValue = CompactRange(value)
        case ReceiptAttributeType.deviceHash: deviceHash = CompactRange(value)
        case ReceiptAttributeType.sentReceiptCreationDate: sentReceiptCreationDate = try reader.date(bytes, value)
        case ReceiptAttributeType.creationDate: creationDate = try reader.date(bytes, value)
        case ReceiptAttributeType.downloadID: downloadID = try reader.unsigned(bytes, value)
        case ReceiptAttributeType.versionExternalIdentifier:
            versionExternalIdentifier = try reader.unsigned(bytes, value)
        case ReceiptAttributeType.originalPurchaseDate: originalPurchaseDate = try reader.date(bytes, value)
        case ReceiptAttributeType.originalApplicationVersion:
            originalApplicationVersion = try reader.text(bytes, value)
        case ReceiptAttributeType.expirationDate: expirationDate = try reader.date(bytes, value)
        default: break
        }
    }
    /// The result of `AppStoreEnvironment(receiptType:)`, without creating the text; `nil` for an unknown type.
    private static func environment(_ bytes: Span<UInt8>, _ receiptType: CompactRange) -> AppStoreEnvironment? {
        guard let range = receiptType.range else { return nil }
        switch range.count {
        case 10: return bytes.holds("Production", at: range) ? .production : nil
        case 13: return bytes.holds("ProductionVPP", at: range) ? .production : nil
        case 17: return bytes.holds("ProductionSandbox", at: range) ? .sandbox : nil
        case 20: return bytes.holds("ProductionVPPSandbox", at: range) ? .sandbox : nil
        case 5: return bytes.holds("Xcode", at: range) ? .xcode : nil
        default: return nil
        }
    }
}

extension Span where Element == UInt8 {
    /// Whether the bytes between the offsets are this text.
    @inline(__always)
    fileprivate func holds(_ text: StaticString, at range: Range<Int>) -> Bool {
        guard range.count == text.utf8CodeUnitCount, range.lowerBound >= 0, range.upperBound <= count else {
            return false
        }
        for (index, offset) in range.enumerated() where self[offset] != text.utf8Start[index] { return false }
        return true
    }
}

/// The offsets of a value in eight bytes, so that a purchase's record stays small. Offset 0 is never a value's: it
/// means that the attribute is absent.
struct CompactRange: Sendable {
    private let lowerBound: UInt32
    private let count: UInt32

    static let absent = CompactRange()

    private init() { (lowerBound, count) = (0, 0) }

    /// The evidence budget keeps offsets far below 2^32.
    init(_ range: Range<Int>) {
        lowerBound = UInt32(truncatingIfNeeded: range.lowerBound)
        count = UInt32(truncatingIfNeeded: range.upperBound &- range.lowerBound)
    }

    var range: Range<Int>? {
        lowerBound == 0 ? nil : Int(lowerBound)..<(Int(lowerBound) + Int(count))
    }
}
