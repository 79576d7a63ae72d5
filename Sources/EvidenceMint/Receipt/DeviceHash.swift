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
