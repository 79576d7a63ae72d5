import Foundation
import TextFormats

/// A year of a shop: its customers buy, renew, fail to pay, get refunds, and some cheat. The story is drawn from a
/// seed; the store and the server are asked over HTTP, as apps and backends do.
public struct DemoYear: Sendable {
    public static let days = 365
    private static let bundleID = "com.example.app"

    /// The addresses, without a path.
    private let (storeAddress, serverAddress): (String, String)
    private let client: String
    private let customers: Int
    /// The acts of each day, in their order.
    private let plan: [[Act]]

    /// Something that a customer does.
    private enum Act {
        case buy(String, customer: Int)
        /// The payment of the next renewal fails, and succeeds some days later.
        case failBilling(customer: Int)
        case recover(customer: Int)
        case cancel(customer: Int)
        case refund(customer: Int)
        /// Claims what somebody else bought.
        case steal(customer: Int)
        /// Sends forged evidence.
        case forge(customer: Int)
    }

    /// SplitMix64 (Steele, Lea and Flood, 2014): the same numbers on every machine.
    private struct Numbers {
        var state: UInt64

        mutating func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var number = state
            number = (number ^ (number >> 30)) &* 0xBF58_476D_1CE4_E5B9
            number = (number ^ (number >> 27)) &* 0x94D0_49BB_1331_11EB
            return number ^ (number >> 31)
        }

        mutating func below(_ bound: Int) -> Int { Int(next() % UInt64(bound)) }
        mutating func isOne(of percent: Int) -> Bool { below(100) < percent }
    }

    /// - Parameters:
    ///   - store: `http://HOST:PORT` of a new store with a standing clock and the app `com.example.app`.
    ///   - server: the same of the server that takes claims and gets the store's notifications.
    ///   - clientKey: the key with which an app claims.
    ///   - customers: their number.
    ///   - seed: selects the story.
    public init(store: String, server: String, clientKey: String, customers: Int, seed: UInt64) {
        (storeAddress, serverAddress, client) = (store, server, clientKey)
        self.customers = customers
        var plan = [[Act]](repeating: [], count: Self.days)
        var numbers = Numbers(state: seed)
        for customer in 0..<customers {
            func add(_ act: Act, on day: Int) { if plan.indices.contains(day) { plan[day].append(act) } }
            if numbers.isOne(of: 60) {
                let first = numbers.below(Self.days - 10)
                add(.buy("monthly", customer: customer), on: first)
                if numbers.isOne(of: 15) {
                    let month = first + 30 * (1 + numbers.below(6)) - 2
                    add(.failBilling(customer: customer), on: month)
                    if numbers.isOne(of: 70) { add(.recover(customer: customer), on: month + 8) }
                }
                if numbers.isOne(of: 30) { add(.cancel(customer: customer), on: first + 20 + numbers.below(200)) }
            }
            if numbers.isOne(of: 70) {
                for _ in 0...numbers.below(4) {
                    add(.buy("coins", customer: customer), on: numbers.below(Self.days))
                }
            }
            if numbers.isOne(of: 15) { add(.buy("pro", customer: customer), on: numbers.below(Self.days)) }
            if numbers.isOne(of: 8) { add(.refund(customer: customer), on: numbers.below(Self.days)) }
            if numbers.isOne(of: 4) { add(.steal(customer: customer), on: numbers.below(Self.days)) }
            if numbers.isOne(of: 3) { add(.forge(customer: customer), on: numbers.below(Self.days)) }
        }
        self.plan = plan
    }

    private static func name(_ customer: Int) -> String {
        let first = ["ada", "björn", "chiara", "dmitri", "eva", "farid", "grace", "hiro", "inês", "jörg"]
        return "\(first[customer % first.count])-\(customer / first.count + 1)"
    }

    /// What was bought, and by whom.
    private struct Bought {
        let transaction: String
        let customer: String
        let product: String
        let signed: String
    }

    /// Lets the year pass.
    ///
    /// - Parameter progress: called after each day, from 1.
    /// - Returns: what happened, as a sentence.
    public func run(_ progress: (Int) -> Void) async throws -> String {
        var (bought, subscriptions) = ([Bought](), [Int: String]())
        var latest: [Int: Int] = [:]
        var (accepted, refused) = (0, 0)
        for customer in 0..<customers {
            _ = try await store("customers", ["customer_id": Self.name(customer), "environment": "production"])
        }
        for (day, acts) in plan.enumerated() {
            for act in acts {
                switch act {
                case .buy(let product, let customer):
                    let new = try await buy(product, Self.name(customer))
                    if product == "monthly" { subscriptions[customer] = new.transaction }
                    latest[customer] = bought.count
                    bought.append(new)
                    if try await claim(new, by: new.customer) { accepted += 1 } else { refused += 1 }
                case .failBilling(let customer): try await change(subscriptions[customer], "billing", ["works": false])
                case .recover(let customer):
                    try await change(subscriptions[customer], "billing", ["works": true])
                    try await change(subscriptions[customer], "recover", [:])
                case .cancel(let customer): try await change(subscriptions[customer], "cancel", [:])
                case .refund(let customer):
                    guard let place = latest[customer] else { continue }
                    _ = try await store("transactions/\(bought[place].transaction)/refund", [:], mayBeRefused: true)
                case .steal(let customer):
                    guard let other = bought.last(where: { $0.customer != Self.name(customer) }) else { continue }
                    if try await claim(other, by: Self.name(customer)) { accepted += 1 } else { refused += 1 }
                case .forge(let customer):
                    _ = try await store("faults/evidence", ["kind": "signed_transaction", "fault": "edited-claims"])
                    let forged = try await buy("coins", Self.name(customer))
                    if try await claim(forged, by: forged.customer) { accepted += 1 } else { refused += 1 }
                }
            }
            _ = try await store("clock", ["advance_seconds": 86_400])
            _ = try await store("notifications/deliver", [:])
            progress(day + 1)
        }
        _ = try await store("clock", ["rate": 1])
        return
            "\(counted(customers, "customer")), \(counted(bought.count, "purchase")); "
            + "\(counted(accepted, "claim was", "claims were")) accepted and \(refused) refused"
    }

    private func change(_ subscription: String?, _ act: String, _ body: [String: any Sendable]) async throws {
        guard let subscription else { return }
        _ = try await store("subscriptions/\(subscription)/\(act)", body, mayBeRefused: true)
    }

    private func buy(_ product: String, _ customer: String) async throws -> Bought {
        struct Answer: Decodable {
            struct Transaction: Decodable {
                let transaction_id: String
            }
            struct Evidence: Decodable {
                let signed_transaction: String
            }
            let transaction: Transaction
            let evidence: Evidence
        }
        let text = try await store(
            "purchases", ["bundle_id": Self.bundleID, "product_id": product, "customer_id": customer])
        let answer = try JSONDecoder().decode(Answer.self, from: text)
        return Bought(
            transaction: answer.transaction.transaction_id, customer: customer, product: product,
            signed: answer.evidence.signed_transaction)
    }

    /// Claims a purchase as an app does.
    /// - Returns: whether it was accepted.
    private func claim(_ bought: Bought, by customer: String) async throws -> Bool {
        let (status, text) = try await post(
            serverAddress, "/v1/purchases",
            [
                "signed_transaction": bought.signed, "product_id": bought.product,
                "transaction_id": bought.transaction, "customer_id": customer,
            ], key: client)
        guard status < 500 else {
            throw DemoFailure("\(serverAddress) answered \(status): \(String(decoding: text, as: UTF8.self))")
        }
        return status == 200
    }

    private func store(
        _ path: String, _ body: [String: any Sendable], mayBeRefused: Bool = false
    ) async throws -> Data {
        let (status, text) = try await post(storeAddress, "/control/\(path)", body)
        // A refund of what was refunded already, or a cancellation of what has ended, is a part of the story.
        guard status < 300 || mayBeRefused && status < 500 else {
            throw DemoFailure("the store answered \(status) to \(path): \(String(decoding: text, as: UTF8.self))")
        }
        return text
    }

    private func post(
        _ address: String, _ path: String, _ body: [String: any Sendable], key: String? = nil
    ) async throws -> (status: Int, text: Data) {
        let json = try JSONSerialization.data(withJSONObject: body)
        let answer = try await AttackClient(address, timeLimit: .seconds(600)).request(
            "POST", path, [UInt8](json), headers: key.map { [("Authorization", "Bearer \($0)")] } ?? [])
        return (answer.status, answer.body)
    }
}

/// A part of a demonstration that did not go as planned.
public struct DemoFailure: Error, CustomStringConvertible {
    public let description: String

    init(_ description: String) { self.description = description }
}
