public import Foundation

/// The content of an app receipt. Nothing is checked, so that wrong receipts can be made as well.
///
/// A field that is nil is omitted, unless its comment says that it is written as an empty text.
public struct AppReceiptTemplate: Hashable, Sendable {
    /// 0: `Production`, `ProductionSandbox`, `ProductionVPP`, `ProductionVPPSandbox` or `Xcode`
    public var receiptType: String?
    /// 1: the number of the app in the App Store; 0 in the sandbox
    public var adamID: UInt64?
    /// 2
    public var bundleID: String?
    /// 3: the build, CFBundleVersion on iOS and CFBundleShortVersionString on the Mac
    public var applicationVersion: String?
    /// 4: goes into the device hash; 16 octets from Apple, 8 from Xcode
    public var opaqueValue: [UInt8]?
    /// The version of attribute 4: 2 from Apple, 1 from Xcode
    public var opaqueValueVersion = 2
    /// 5
    public var deviceHash = DeviceHash.none
    /// 6: encrypted by Apple, 40 to 106 octets; only Apple can read it
    public var encryptedValue6: [UInt8]?
    /// 7: encrypted by Apple, 37 to 89 octets; only Apple can read it
    public var encryptedValue7: [UInt8]?
    /// 8: the creation date of the receipt that the device sent. If it is nil, the text is empty, as in the sandbox.
    public var sentReceiptCreationDate: Date?
    /// 9: four characters, such as `P305`, written as one INTEGER
    public var serverVersion: String?
    /// 10: such as `4+`
    public var ageRating: String?
    /// 11: the number of the developer; 0 in the sandbox
    public var sellerID: UInt64?
    /// 12: when this receipt was created; the certificates must be valid then
    public var creationDate: Date?
    /// 13: probably a version of the client, such as 150101
    public var clientVersion: UInt64?
    /// 14: 1 on the Mac, 27 and more on iOS; no meaning is known
    public var attribute14: UInt64?
    /// 15: 0 in the sandbox
    public var downloadID: UInt64?
    /// 16: 0 in the sandbox
    public var versionExternalIdentifier: UInt64?
    /// 17, once for each
    public var purchases: [PurchaseTemplate] = []
    /// 18: when the app was first bought; always 2013-08-01T07:00:00Z in the sandbox
    public var originalPurchaseDate: Date?
    /// 19: always `1.0` in the sandbox
    public var originalApplicationVersion: String?
    /// 20: present and empty on iOS, absent on the Mac
    public var attribute20: String?
    /// 21: when a receipt of the Volume Purchase Program ends
    public var expirationDate: Date?
    /// 25
    public var store: Store?
    /// Further attributes, after the others in the order `asGiven`.
    public var extraAttributes: [RawAttribute] = []
    /// The numbers of attributes to omit. It does not affect the extra ones.
    public var omitted: Set<Int> = []
    /// The order of the attributes of the receipt, and of those of each purchase.
    public var attributeOrder = AttributeOrder.der
    /// The format of dates.
    public var dateStyle = ReceiptDateStyle.seconds

    /// A receipt with nothing in it but an empty attribute 8.
    public init() {}

    /// The store that the app came from.
    public struct Store: RawRepresentable, Hashable, Sendable {
        public let rawValue: UInt64

        public init(rawValue: UInt64) { self.rawValue = rawValue }

        /// The Mac App Store
        public static let mac = Store(rawValue: 2)
        /// The App Store on iOS
        public static let iOS = Store(rawValue: 3)
    }

    /// The payload that the signature covers: a SET of attributes.
    public func payload() -> [UInt8] { attributeOrder.set(attributes()) }
}

extension AppReceiptTemplate {
    /// All attributes, by their numbers, then the extra ones.
    func attributes() -> [RawAttribute] {
        let list: [RawAttribute?] = [
            receiptType.map { .utf8(0, $0) },
            adamID.map { .integer(1, $0) },
            bundleID.map { .utf8(2, $0) },
            applicationVersion.map { .utf8(3, $0) },
            opaqueValue.map { RawAttribute(type: 4, version: opaqueValueVersion, value: $0) },
            deviceHashValue.map { RawAttribute(type: 5, value: $0) },
            encryptedValue6.map { RawAttribute(type: 6, value: $0) },
            encryptedValue7.map { RawAttribute(type: 7, value: $0) },
            date(8, sentReceiptCreationDate) ?? .ia5(8, ""),
            serverVersion.map { RawAttribute(type: 9, value: DER.integer(magnitude: Array($0.utf8))) },
            ageRating.map { .ia5(10, $0) },
            sellerID.map { .integer(11, $0) },
            date(12, creationDate),
            clientVersion.map { .integer(13, $0) },
            attribute14.map { .integer(14, $0) },
            downloadID.map { .integer(15, $0) },
            versionExternalIdentifier.map { .integer(16, $0) },
        ]
        let entries = purchases.map { RawAttribute(type: 17, value: $0.value(order: attributeOrder)) }
        let rest: [RawAttribute?] = [
            date(18, originalPurchaseDate),
            originalApplicationVersion.map { .utf8(19, $0) },
            attribute20.map { .utf8(20, $0) },
            date(21, expirationDate),
            store.map { .integer(25, $0.rawValue) },
        ]
        let all = list.compactMap(\.self) + entries + rest.compactMap(\.self)
        return all.filter { !omitted.contains($0.type) } + extraAttributes
    }

    private var deviceHashValue: [UInt8]? {
        deviceHash.value(opaqueValue: opaqueValue ?? [], bundleIDValue: bundleID.map(DER.utf8String) ?? [])
    }

    private func date(_ type: Int, _ date: Date?) -> RawAttribute? {
        date.map { .ia5(type, dateStyle.text($0, attribute: type)) }
    }
}

/// The order in which attributes are written.
public enum AttributeOrder: Sendable {
    /// The order in which Apple writes them: the DER order of a SET OF, which is the shortest first.
    case der
    /// By their numbers, as Xcode writes them.
    case byType
    /// By their numbers, but extra attributes last, as they were listed.
    case asGiven
    /// The reverse of `der`.
    case reversed
}

extension AttributeOrder {
    /// The SET of the attributes in this order.
    func set(_ attributes: [RawAttribute]) -> [UInt8] {
        switch self {
        case .der: DER.sortedSet(attributes.map(\.der))
        case .byType: DER.set(Self.sortedByType(attributes).map(\.der))
        case .asGiven: DER.set(attributes.map(\.der))
        case .reversed: DER.set(DER.sorted(attributes.map(\.der)).reversed())
        }
    }

    /// Swift's sort promises no stability, and two purchases have the same type.
    private static func sortedByType(_ attributes: [RawAttribute]) -> [RawAttribute] {
        attributes.enumerated()
            .sorted { ($0.element.type, $0.offset) < ($1.element.type, $1.offset) }
            .map(\.element)
    }
}

/// The content of attribute 5: the proof that a receipt was made for a device.
public enum DeviceHash: Hashable, Sendable {
    /// No attribute 5.
    case none
    /// SHA-1 over the device identifier, the value of attribute 4 and the DER value of attribute 2. The identifier is
    /// the 16 octets of an identifierForVendor, or the 6 octets of a Mac's primary network address.
    case forDevice([UInt8])
    /// Any bytes.
    case raw([UInt8])
}

extension DeviceHash {
    func value(opaqueValue: [UInt8], bundleIDValue: [UInt8]) -> [UInt8]? {
        switch self {
        case .none: nil
        case .forDevice(let identifier): ReceiptDigest.sha1.hash(identifier + opaqueValue + bundleIDValue)
        case .raw(let bytes): bytes
        }
    }
}

/// The format of dates in a receipt (RFC 3339, in an IA5String).
public enum ReceiptDateStyle: Hashable, Sendable {
    /// `2024-10-30T10:46:36Z`: nearly every receipt.
    case seconds
    /// `2020-10-08T11:17:49.131Z` in attributes 8 and 18, seconds elsewhere: seen in receipts for the Mac.
    case milliseconds
    /// `2021-04-03T22:38:45+0300` in the receipt, with no colon in the zone, and `Z` in its purchases: seen from
    /// Xcode. The offset is in minutes east of UTC.
    case numericOffset(minutes: Int)
}

extension ReceiptDateStyle {
    /// The text of an attribute of the receipt itself.
    func text(_ date: Date, attribute: Int) -> String {
        switch self {
        case .milliseconds where attribute == 8 || attribute == 18:
            let time = CivilTime(date)
            return "\(time.internet).\(time.millisecond.padded(3))Z"
        case .numericOffset(let minutes):
            let time = CivilTime(date, offset: minutes * 60)
            let zone = (abs(minutes) / 60).padded(2) + (abs(minutes) % 60).padded(2)
            return time.internet + (minutes < 0 ? "-" : "+") + zone
        case .seconds, .milliseconds: return Self.plain(date)
        }
    }

    /// The text of a date in a purchase, which has the same format everywhere.
    static func plain(_ date: Date) -> String { CivilTime(date).internet + "Z" }
}

extension AppReceiptTemplate {
    /// The default device of a receipt: 16 zero octets, as in receipts that the App Store makes without a device.
    public static let noDevice = [UInt8](repeating: 0, count: 16)

    /// A receipt of the sandbox, as TestFlight and development builds on iOS get it.
    ///
    /// The same parameters always make the same receipt; Apple's random values are derived from them.
    /// - Parameter device: the device identifier that goes into the device hash.
    public static func sandbox(
        bundleID: String, creationDate: Date, purchases: [PurchaseTemplate] = [], device: [UInt8] = noDevice
    ) -> AppReceiptTemplate {
        var template = appStore(bundleID, creationDate, purchases, device)
        template.receiptType = "ProductionSandbox"
        template.adamID = 0
        template.sellerID = 0
        template.downloadID = 0
        template.versionExternalIdentifier = 0
        template.originalPurchaseDate = Date(timeIntervalSince1970: 1_375_340_400)
        return template
    }

    /// A receipt of the App Store on iOS, as a device sends it.
    /// - Parameter device: the device identifier that goes into the device hash.
    public static func production(
        bundleID: String, creationDate: Date, purchases: [PurchaseTemplate] = [], device: [UInt8] = noDevice
    ) -> AppReceiptTemplate {
        var template = appStore(bundleID, creationDate, purchases, device)
        template.receiptType = "Production"
        template.adamID = 1_234_567_890
        template.sellerID = 123_456_789
        template.downloadID = 503_000_000_000_000_001
        template.versionExternalIdentifier = 870_000_001
        template.sentReceiptCreationDate = creationDate
        template.originalPurchaseDate = creationDate.addingTimeInterval(-86_400)
        return template
    }

    /// A receipt of the Volume Purchase Program, which is valid until it expires.
    /// - Parameter device: the device identifier that goes into the device hash.
    public static func volumePurchase(
        bundleID: String, creationDate: Date, expirationDate: Date, purchases: [PurchaseTemplate] = [],
        device: [UInt8] = noDevice
    ) -> AppReceiptTemplate {
        var template = production(bundleID: bundleID, creationDate: creationDate, purchases: purchases, device: device)
        template.receiptType = "ProductionVPP"
        template.expirationDate = expirationDate
        return template
    }

    /// A receipt of the Mac App Store.
    /// - Parameter device: the six octets of the primary network address, which go into the device hash.
    public static func mac(
        bundleID: String, creationDate: Date, purchases: [PurchaseTemplate] = [],
        device: [UInt8] = [0x02, 0x00, 0x00, 0x00, 0x00, 0x01]
    ) -> AppReceiptTemplate {
        var template = production(bundleID: bundleID, creationDate: creationDate, purchases: purchases, device: device)
        template.applicationVersion = "1.0"
        template.clientVersion = 130_000
        template.attribute14 = 1
        template.attribute20 = nil
        template.store = .mac
        return template
    }

    /// A receipt of StoreKit testing in Xcode: few attributes, by their numbers. Sign it with an `XcodeSigner`.
    /// - Parameters:
    ///   - purchases: are cut down to the attributes that Xcode writes.
    ///   - device: the device identifier that goes into the device hash.
    public static func xcode(
        bundleID: String, creationDate: Date, purchases: [PurchaseTemplate] = [], device: [UInt8] = noDevice
    ) -> AppReceiptTemplate {
        var template = AppReceiptTemplate()
        template.receiptType = "Xcode"
        template.adamID = 0
        template.bundleID = bundleID
        template.applicationVersion = "1"
        template.opaqueValue = derived("opaque value", bundleID, creationDate, count: 8)
        template.opaqueValueVersion = 1
        template.deviceHash = .forDevice(device)
        template.creationDate = creationDate
        template.purchases = purchases.map(\.asXcodeWritesIt)
        template.expirationDate = .distantFuture
        template.attributeOrder = .byType
        return template
    }
}

extension AppReceiptTemplate {
    /// The fields that all receipts of the App Store have in common.
    private static func appStore(
        _ bundleID: String, _ creationDate: Date, _ purchases: [PurchaseTemplate], _ device: [UInt8]
    ) -> AppReceiptTemplate {
        var template = AppReceiptTemplate()
        template.bundleID = bundleID
        template.applicationVersion = "1"
        template.opaqueValue = derived("opaque value", bundleID, creationDate, count: 16)
        template.deviceHash = .forDevice(device)
        template.encryptedValue6 = derived("encrypted value 6", bundleID, creationDate, count: 55)
        template.encryptedValue7 = derived("encrypted value 7", bundleID, creationDate, count: 54)
        template.serverVersion = "P305"
        template.ageRating = "4+"
        template.creationDate = creationDate
        template.clientVersion = 180_602
        template.attribute14 = 229
        template.purchases = purchases
        template.originalApplicationVersion = "1.0"
        template.attribute20 = ""
        template.store = .iOS
        return template
    }

    /// Up to 64 octets that look random and are not.
    private static func derived(_ label: String, _ bundleID: String, _ date: Date, count: Int) -> [UInt8] {
        let seed = "\(label)|\(bundleID)|\(ReceiptDateStyle.plain(date))"
        return Array(ReceiptDigest.sha512.hash(Array(seed.utf8)).prefix(count))
    }
}
