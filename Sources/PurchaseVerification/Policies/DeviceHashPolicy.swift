// The check that an app receipt belongs to a device.

import TextFormats

#if canImport(CryptoKit)
    import CryptoKit
#else
    import Crypto
#endif

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// Requires evidence for this device. In an app receipt, attribute 5 is the SHA-1 of device identifier, opaque value
/// (attribute 4) and bundle id (the DER value of attribute 2), in this order (Apple, "Validating receipts on the
/// device"). Transaction receipts name the device, and StoreKit 2 has its own hash.
public struct DeviceHashPolicy: PurchasePolicy {
    private let device: DeviceIdentifier

    public init(_ device: DeviceIdentifier) { self.device = device }

    public var name: String { "device hash" }

    public func check(_ facts: some EvidenceFacts) throws(VerificationError) { try facts.requireDevice(device) }
}

extension AppReceiptContent {
    public func requireDevice(_ device: DeviceIdentifier) throws(VerificationError) {
        guard let found = deviceHash else {
            throw VerificationError(.attributeMissing, expected: "a device hash (attribute 5)")
        }
        guard let opaqueValue else {
            throw VerificationError(.attributeMissing, expected: "an opaque value (attribute 4)")
        }
        guard let bundleIDValue else {
            throw VerificationError(.attributeMissing, expected: "a bundle id (attribute 2)")
        }
        var hash = Insecure.SHA1()
        hash.update(data: device.bytes)
        hash.update(data: opaqueValue)
        hash.update(data: bundleIDValue)
        let digest = hash.finalize()
        // The digests are compared in constant time.
        guard digest == found else {
            throw VerificationError(
                .deviceHashMismatch, expected: hexadecimal(digest), found: hexadecimal(found))
        }
    }
}

extension TransactionReceiptContent {
    public func requireDevice(_ device: DeviceIdentifier) throws(VerificationError) {
        let named = [uniqueVendorIdentifier, uniqueIdentifier].compactMap(\.self)
        guard !named.isEmpty else {
            throw VerificationError(
                .attributeMissing, expected: "unique-vendor-identifier or unique-identifier")
        }
        guard named.contains(where: { DeviceIdentifier($0) == device }) else {
            throw VerificationError(
                .deviceHashMismatch, expected: hexadecimal(device.bytes), found: named.joined(separator: ", "))
        }
    }
}

/// The device hash of StoreKit 2 (Apple, "deviceVerification"): SHA-384 over the nonce and the device identifier, both
/// as UUID in lower case.
enum DeviceVerification {
    static func require(
        _ device: DeviceIdentifier, hash: String?, nonce: String?
    ) throws(VerificationError) {
        guard let hash, let found = Base64Decoder.decode(Array(hash.utf8)) else {
            throw VerificationError(.attributeMissing, expected: "deviceVerification in base64")
        }
        guard let nonce else {
            throw VerificationError(.attributeMissing, expected: "deviceVerificationNonce")
        }
        guard let identifier = device.uuidText else {
            throw VerificationError(
                .deviceHashMismatch, expected: "a device identifier that is a UUID", found: hexadecimal(device.bytes))
        }
        let digest = SHA384.hash(data: Array((nonce.lowercased() + identifier).utf8))
        guard digest == found else {
            throw VerificationError(.deviceHashMismatch, expected: hexadecimal(digest), found: hexadecimal(found))
        }
    }
}

/// The identifier of a device in its receipts.
public struct DeviceIdentifier: Sendable, Hashable {
    /// 16 bytes of a vendor identifier on iOS, 6 bytes of a network address on the Mac.
    public let bytes: [UInt8]

    /// The bytes as they go into the hash.
    public init(bytes: [UInt8]) { self.bytes = bytes }

    /// `UIDevice.identifierForVendor` of an iOS device.
    public init(identifierForVendor uuid: UUID) {
        bytes = withUnsafeBytes(of: uuid.uuid) { Array($0) }
    }

    /// A UUID, or hexadecimal digits with or without `:` or `-` between the bytes; `nil` for anything else.
    public init?(_ text: String) {
        let digits = text.utf8.filter { $0 != UInt8(ascii: ":") && $0 != UInt8(ascii: "-") }
        guard !digits.isEmpty, digits.count % 2 == 0, digits.count <= 128 else { return nil }
        var bytes: [UInt8] = []
        var high: UInt8?
        for digit in digits {
            guard let value = Character(UnicodeScalar(digit)).hexDigitValue else { return nil }
            if let first = high {
                bytes.append(first << 4 | UInt8(value))
                high = nil
            } else {
                high = UInt8(value)
            }
        }
        self.bytes = bytes
    }

    /// The bytes as a UUID in lower case; `nil` if they are not 16.
    var uuidText: String? {
        guard bytes.count == 16 else { return nil }
        let digits = hexadecimal(bytes)
        var text = ""
        for (index, digit) in digits.enumerated() {
            if [8, 12, 16, 20].contains(index) { text.append("-") }
            text.append(digit)
        }
        return text
    }
}
