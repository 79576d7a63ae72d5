import Crypto
import Foundation
import PurchaseLedger

/// The root certificate of a notification that the verifier does not trust. It is read for the operator, and proves
/// nothing.
enum UnknownRoot {
    /// Larger certificates and longer chains are refused as evidence, too (`VerificationBudget`).
    private static let certificateBytes = 16 << 10
    private static let chainLength = 3

    private struct Header: Decodable {
        let x5c: [String]
    }

    /// The parts of a notification that are signed separately.
    private struct Content: Decodable {
        struct Data: Decodable {
            let signedTransactionInfo: String?
            let signedRenewalInfo: String?
        }

        struct AppData: Decodable {
            let signedAppTransactionInfo: String?
        }

        let data: Data?
        let appData: AppData?

        var parts: [String] {
            [data?.signedTransactionInfo, data?.signedRenewalInfo, appData?.signedAppTransactionInfo]
                .compactMap(\.self)
        }
    }

    /// The SHA-256 of the root in DER, in hexadecimal, as Apple publishes it.
    ///
    /// - Parameters:
    ///   - payload: the notification, whose size was checked.
    ///   - isKnown: whether the certificates of signed data were verified. If those of the notification itself were,
    ///     the unknown root is that of a part.
    /// - Returns: `nil` if the certificates cannot be read.
    static func sha256(of payload: [UInt8], isKnown: ([UInt8]) -> Bool) -> String? {
        guard isKnown(payload) else { return root(of: payload) }
        guard let json = segment(1, of: payload), let content = try? JSONDecoder().decode(Content.self, from: json)
        else { return nil }
        return content.parts.lazy.map { Array($0.utf8) }.first { !isKnown($0) }.flatMap { root(of: $0) }
    }

    private static func root(of signed: [UInt8]) -> String? {
        guard let json = segment(0, of: signed), let header = try? JSONDecoder().decode(Header.self, from: json),
            header.x5c.count <= chainLength, let text = header.x5c.last,
            text.utf8.count <= (certificateBytes + 2) / 3 * 4, let certificate = Data(base64Encoded: text),
            !certificate.isEmpty
        else { return nil }
        return Array(SHA256.hash(data: certificate)).hexadecimal
    }

    /// A segment of a compact JWS, decoded from base64url (RFC 7515, 7.1).
    private static func segment(_ number: Int, of signed: [UInt8]) -> Data? {
        let segments = signed.split(separator: UInt8(ascii: "."), maxSplits: 2, omittingEmptySubsequences: false)
        guard number < segments.count else { return nil }
        var text = segments[number].map { byte in
            switch byte {
            case UInt8(ascii: "-"): UInt8(ascii: "+")
            case UInt8(ascii: "_"): UInt8(ascii: "/")
            default: byte
            }
        }
        while text.count % 4 != 0 { text.append(UInt8(ascii: "=")) }
        return Data(base64Encoded: Data(text))
    }
}
