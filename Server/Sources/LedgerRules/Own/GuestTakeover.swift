package import PurchaseVerification

/// Whether a restore takes an original over from a guest (docs/ledger.md, "Guests").
///
/// That a customer is a guest and asked for the restore is only the app's word, keys of apps are public, and evidence
/// can be copied. So every condition must hold, and the owner loses a purchase at most once in 30 days.
package struct GuestTakeover {
    /// The time in which an original is transferred once, in milliseconds: 30 days.
    package static let pause: Int64 = 30 * 86_400_000
    /// How long after its signing an app transaction counts, in milliseconds: an hour.
    package static let appTransactionLasts: Int64 = 3_600_000

    /// The claimed transaction.
    package let facts: ObservedTransaction
    package let kind: ProductKind?
    package let customer: CustomerNumber
    package let terms: GuestRestore
    /// The owner before the restore.
    package var owner: CustomerNumber?
    /// Whether the owner has the mark of a guest.
    package var isGuest = false
    /// The customers of all known account tokens of the original.
    package var tokenOwners: Set<CustomerNumber> = []
    /// The `appTransactionId`s that the transactions of the original state.
    package var appTransactionIDs: Set<ExactText> = []
    /// When the original was transferred last.
    package var transferredAt: Timestamp?

    package init(
        of facts: ObservedTransaction, _ kind: ProductKind?, by customer: CustomerNumber, _ terms: GuestRestore
    ) {
        (self.facts, self.kind, self.customer, self.terms) = (facts, kind, customer, terms)
    }

    /// The guest who loses the original; `nil` if the restore takes nothing over.
    package func guest(at now: Timestamp) -> CustomerNumber? {
        guard let owner, owner != customer, isGuest, OwnershipAct.mayTransfer(under: .move, kind: kind),
            tokenOwners.isSubset(of: [owner, customer]),
            appTransactionIDs.allSatisfy({
                terms.appTransaction == GuestRestore.appTransaction($0.string, in: facts.key.environment)
            }),
            transferredAt.map({ now.millisecondsSince1970 - $0.millisecondsSince1970 >= Self.pause }) ?? true
        else { return nil }
        return owner
    }
}

/// What a restore states to take purchases over from guests: the customer asked for it, and `guest_restore` is `move`.
package struct GuestRestore: Codable, Sendable, Equatable {
    /// The environment and the id of the app transaction that it proved.
    package var appTransaction: String?

    package init(appTransaction: String? = nil) { self.appTransaction = appTransaction }

    package static func appTransaction(_ id: String, in environment: AppStoreEnvironment) -> String {
        "\(environment.name) \(id)"
    }
}

/// The ids of guests: `guest-` and a random UUID (RFC 9562, version 4), whose 122 random bits nobody can guess. The id
/// of a guest is their secret.
public enum GuestID {
    private static let prefix = Array("guest-".utf8)

    public static func isGuestID(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        guard bytes.count == prefix.count + 36, bytes.starts(with: prefix) else { return false }
        return bytes.dropFirst(prefix.count).enumerated().allSatisfy { place, byte in
            switch place {
            case 8, 13, 18, 23: byte == UInt8(ascii: "-")
            case 14: byte == UInt8(ascii: "4")
            case 19: "89ab".utf8.contains(byte)
            default: "0123456789abcdef".utf8.contains(byte)
            }
        }
    }
}
