import Crypto
import Foundation

extension UUID {
    /// A UUID that looks random (RFC 9562, version 4) and is the same for the same text, so that a script that is run
    /// again gives the same devices and notifications.
    init(derivedFrom seed: String) {
        var octets = Array(SHA256.hash(data: Data(seed.utf8)).prefix(16))
        octets[6] = octets[6] & 0x0F | 0x40
        octets[8] = octets[8] & 0x3F | 0x80
        self = octets.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
    }
}
