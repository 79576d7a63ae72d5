import PurchaseVerification

import struct Foundation.UUID

/// A part of the ledger that one write at a time may change.
///
/// It is identified by a 64-bit number. If two parts have the same number, their writes wait for each other, which is
/// harmless.
public struct LedgerLock: Sendable, Hashable {
    /// The number, the same in every process.
    public let number: Int64

    /// An original transaction: its transactions, their owners, its lot, acts, revocations and renewal info.
    static func original(_ environment: AppStoreEnvironment, _ id: String) -> LedgerLock {
        LedgerLock(1, environment.name.utf8, id.utf8)
    }

    /// A customer with an outside name: balances, entitlements, orders and manual grants.
    static func customer(_ name: String) -> LedgerLock { LedgerLock(2, name.utf8) }

    /// A customer whose name was erased.
    static func customer(reference: UUID) -> LedgerLock { LedgerLock(3, reference.bytes) }

    /// An order whose customer is not known yet.
    static func order(_ id: UUID) -> LedgerLock { LedgerLock(4, id.bytes) }

    /// The assignment of an account token.
    static func token(_ token: UUID) -> LedgerLock { LedgerLock(5, token.bytes) }

    /// The row of evidence with a hash.
    static func evidence(_ sha256: [UInt8]) -> LedgerLock { LedgerLock(6, sha256) }

    /// The daily budget for unverified evidence.
    static var unverified: LedgerLock { LedgerLock(8, []) }

    /// The Merkle log.
    static var log: LedgerLock { LedgerLock(7, []) }

    /// A webhook: its cursor, its lease and the waiting events.
    package static func webhook(_ app: String, _ url: String) -> LedgerLock { LedgerLock(9, app.utf8, url.utf8) }

    /// The leases of the claims that are checked with the App Store.
    static var appStoreClaims: LedgerLock { LedgerLock(10, []) }

    /// The leases of other work with the App Store Server API.
    static var appStoreTasks: LedgerLock { LedgerLock(17, []) }

    /// The operators of the console, their sessions, and the log of their sign-ins.
    static var operators: LedgerLock { LedgerLock(18, []) }

    /// The row of a notification.
    static func notification(_ id: String) -> LedgerLock { LedgerLock(11, id.utf8) }

    /// A ground of another shop, by the shop's reference.
    static func ground(_ app: String, _ source: String, _ reference: String) -> LedgerLock {
        LedgerLock(14, app.utf8, source.utf8, reference.utf8)
    }

    /// The id of a seat, claimed or unclaimed, in capitals or small letters.
    static func seat(_ id: String) -> LedgerLock { LedgerLock(12, id.lowercased().utf8) }

    /// The leases of the answers to refund requests, and of extensions.
    static var requestLeases: LedgerLock { LedgerLock(15, []) }

    /// A request for an extension.
    static func extensionRequest(_ app: String, _ id: String) -> LedgerLock { LedgerLock(16, app.utf8, id.utf8) }

    /// FNV-1a with 64 bits: it is the same in every process, and a collision only costs time.
    private init(_ kind: UInt8, _ parts: any Collection<UInt8>...) {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        func add(_ byte: UInt8) { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
        add(kind)
        for part in parts {
            for byte in part { add(byte) }
            // No byte of UTF-8 is 0xFF, so this marks the end of a part.
            add(0xFF)
        }
        number = Int64(bitPattern: hash)
    }
}
