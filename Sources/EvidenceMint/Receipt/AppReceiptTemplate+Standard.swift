public import Foundation

extension AppReceiptTemplate {
    /// The default device of a receipt: 16 zero octets, as in receipts that the App Store makes without a device.
    public static let noDevice = [UInt8](repeating: 0, count: 16)

    /// A receipt of the sandbox, as TestFlight and development builds on iOS get it.
    ///
    /// The same parameters always make the same receipt; Apple's random values are derived from them.
    /// - Parameter device: the device identifier that goes into the device hash.
    public static func sandbox(
        bundleID: String,
        creationDate: Date,
        purchases: [PurchaseTemplate] = [],
        device: [UInt8] = noDevice
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
        bundleID: String,
        creationDate: Date,
        purchases: [PurchaseTemplate] = [],
        device: [UInt8] = noDevice
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
        bundleID: String,
        creationDate: Date,
        expirationDate: Date,
        purchases: [PurchaseTemplate] = [],
        device: [UInt8] = noDevice
    ) -> AppReceiptTemplate {
        var template = production(
            bundleID: bundleID, creationDate: creationDate, purchases: purchases, device: device
        )
        template.receiptType = "ProductionVPP"
        template.expirationDate = expirationDate
        return template
    }

    /// A receipt of the Mac App Store.
    /// - Parameter device: the six octets of the primary network address, which go into the device hash.
    public static func mac(
        bundleID: String,
        creationDate: Date,
        purchases: [PurchaseTemplate] = [],
        device: [UInt8] = [0x02, 0x00, 0x00, 0x00, 0x00, 0x01]
    ) -> AppReceiptTemplate {
        var template = production(
            bundleID: bundleID, creationDate: creationDate, purchases: purchases, device: device
        )
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
        bundleID: String,
        creationDate: Date,
        purchases: [PurchaseTemplate] = [],
        device: [UInt8] = noDevice
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
        _ bundleID: String,
        _ creationDate: Date,
        _ purchases: [PurchaseTemplate],
        _ device: [UInt8]
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
