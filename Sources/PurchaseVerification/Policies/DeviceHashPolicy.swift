import Crypto

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// The receipt was made for this device: attribute 5 is the SHA-1 of device identifier, opaque value (attribute 4) and
/// bundle id (the DER value of attribute 2), in this order (Apple, "Validating receipts on the device").
public struct DeviceHashPolicy: AppReceiptPolicy {
    private let device: DeviceIdentifier

    public init(_ device: DeviceIdentifier) { self.device = device }

    public var name: String { "device hash" }

    public func check<Trust>(_ receipt: AppReceiptContent<Trust>) throws(VerificationError) {
        guard let found = receipt.deviceHash else {
            throw VerificationError(.attributeMissing, expected: "a device hash (attribute 5)")
        }
        guard let opaqueValue = receipt.opaqueValue else {
            throw VerificationError(.attributeMissing, expected: "an opaque value (attribute 4)")
        }
        guard let bundleID = receipt.bundleIDValue else {
            throw VerificationError(.attributeMissing, expected: "a bundle id (attribute 2)")
        }
        var hash = Insecure.SHA1()
        hash.update(data: device.bytes)
        hash.update(data: opaqueValue)
        hash.update(data: bundleID)
        let digest = hash.finalize()
        // The comparison of digests takes the same time wherever they differ.
        guard digest == found else {
            throw VerificationError(
                .deviceHashMismatch, expected: hexadecimal(digest), found: hexadecimal(found))
        }
    }
}

/// What identifies a device to its receipts.
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
}
