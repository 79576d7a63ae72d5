public import Foundation

/// The proof that a signed payload was made for a device: the claims `deviceVerification` and
/// `deviceVerificationNonce`.
public struct DeviceVerification: Hashable, Sendable {
    /// `deviceVerificationNonce`, written in small letters.
    public var nonce: UUID
    /// `deviceVerification`: base64.
    public var value: String

    /// Any value, right or wrong.
    public init(nonce: UUID, value: String) {
        self.nonce = nonce
        self.value = value
    }

    /// The proof for a device: the SHA-384 of nonce and device identifier, both as UUID texts in small letters
    /// (Apple, StoreKit: `AppTransaction.deviceVerification`).
    /// - Parameter deviceID: the device's `AppStore.deviceVerificationID`.
    public init(nonce: UUID, deviceID: UUID) {
        let text = nonce.uuidString.lowercased() + deviceID.uuidString.lowercased()
        self.init(nonce: nonce, value: Data(ReceiptDigest.sha384.hash(Array(text.utf8))).base64EncodedString())
    }

    /// The proof for a device, with a nonce that is derived from a text, so that it is the same each time.
    init(deviceID: UUID, seed: String) {
        self.init(nonce: UUID(derivedFrom: "nonce|" + seed), deviceID: deviceID)
    }
}

extension UUID {
    /// A UUID that looks random (version 4) and is the same for the same text.
    init(derivedFrom seed: String) {
        var octets = Array(ReceiptDigest.sha256.hash(Array(seed.utf8)).prefix(16))
        octets[6] = octets[6] & 0x0F | 0x40
        octets[8] = octets[8] & 0x3F | 0x80
        let groups = [octets[0..<4], octets[4..<6], octets[6..<8], octets[8..<10], octets[10..<16]]
        let text = groups.map { $0.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() }
        self = UUID(uuidString: text.joined(separator: "-")) ?? UUID()
    }
}
