import Foundation

extension PurchaseKey {
    /// A short name of the transaction, for long lists.
    var digest: String { Data(transactionID.utf8.sha256.prefix(8)).base64EncodedString() }
}

extension PurchaseRecord {
    /// The name of a consumable's totals in an environment. Without an environment it is the product's id, as it was
    /// for all totals before they were separated. No product id has a space.
    static func unitsName(_ productID: String, in environment: String?) -> String {
        environment.map { "\($0) \(productID)" } ?? productID
    }

    /// The totals of each consumable in the environments that count.
    func units(where counts: (String?) -> Bool) -> [String: [UnitTotals]] {
        var found: [String: [UnitTotals]] = [:]
        for (name, totals) in units {
            let parts = name.split(separator: " ", maxSplits: 1)
            let environment = parts.count > 1 ? parts.first.map { String($0) } : nil
            guard counts(environment), let product = parts.last else { continue }
            found[String(product), default: []].append(totals)
        }
        return found
    }
}

/// The units of one consumable that were bought and used in one environment, without a server.
struct UnitTotals: Codable, Equatable {
    /// Units of purchases that are no longer listed one by one.
    var boughtEarlier: Int64 = 0
    /// All units that were used, those of `uses` included.
    var used: Int64 = 0
    /// The newest uses, so that a repeated call changes nothing.
    var uses: [ConsumedUnits] = []

    /// The number of uses that are listed one by one. A repetition of an older use is not recognised.
    static let limit = 200

    mutating func use(_ units: ConsumedUnits) {
        guard !uses.contains(where: { $0.consumptionID == units.consumptionID }) else { return }
        used += units.quantity
        uses = uses.suffix(Self.limit - 1) + [units]
    }

    /// Adds another device's totals: its listed uses once; of the earlier ones the larger sum counts.
    mutating func add(_ other: UnitTotals) {
        func listed(_ totals: UnitTotals) -> Int64 { totals.uses.reduce(0) { $0 + $1.quantity } }
        used += max(0, other.used - listed(other) - (used - listed(self)))
        boughtEarlier = max(boughtEarlier, other.boughtEarlier)
        for units in other.uses { use(units) }
    }
}

/// Units that the app used up, under a name that makes a repeated call harmless.
public struct ConsumedUnits: Sendable, Codable, Equatable {
    public var consumptionID: String
    public var productID: String
    public var quantity: Int64
}
