import Foundation
import PurchaseAPI
import PurchaseLedger
import PurchaseVerification
import TextFormats

/// The sentences that answer the three usual complaints, from what the ledger has decided. Nothing is decided here.
struct CustomerCase {
    var entitlements: [Entitlement]
    /// The last seen first.
    var purchases: [RecordedPurchase]
    /// The newest first.
    var submissions: [SubmissionMessage]
    var orders: [Order]
    var handGrants: [HandGrantMessage]
    /// The purchases that nobody owns and that claims of the customer name, by transaction.
    var held: [String: RecordedPurchase] = [:]

    /// A sentence, and what to do.
    struct Line: Equatable {
        var text: String
        var action: String
        /// The purchase that it leads to.
        var transaction: String?
    }

    /// "I paid and got nothing."
    var paidAndGotNothing: [Line] {
        var lines = entitlements.map { line($0) }
        for order in orders where order.status == .created {
            let isRefused = submissions.contains {
                $0.verdict != .accepted && $0.orderID.flatMap(UUID.init(uuidString:)) == order.id
            }
            lines.append(
                Line(
                    text: "Order \(order.id.uuidString.lowercased()) for \(order.productID) waits for payment.",
                    action: isRefused
                        ? "A claim for it was not accepted; the reason is below."
                        : "No purchase for it arrived. Ask the customer to open the app again."))
        }
        for order in orders where order.status == .paid && order.fulfilledUnits < order.quantity {
            lines.append(
                Line(
                    text: "Order \(order.id.uuidString.lowercased()) is paid, and \(order.fulfilledUnits) of "
                        + "\(order.quantity) were delivered.",
                    action: "Tell a developer: the backend has to deliver the rest."))
        }
        // The page of a held purchase.
        for purchase in purchases where purchase.customerID == nil {
            lines.append(Line(text: purchase.heldSentence, action: purchase.advice))
        }
        var told: Set<String> = []
        for claim in submissions where claim.verdict != .accepted {
            let held = claim.transactionID.flatMap { self.held[$0] }
            guard told.insert("\(claim.code) \(held?.transactionID ?? "")").inserted else { continue }
            var line = Line(
                text: "A claim of \(claim.receivedAt) was not accepted: \(claim.sentence) (\(claim.code))",
                action: claim.action)
            if let held, purchases.contains(held) {
                line.action = "Ask \(claim.customerID ?? "who sent it") whether the purchase is theirs."
            } else if let held {
                line.text += " The purchase that it names, \(held.transactionID), is recorded: \(held.heldSentence)"
                (line.action, line.transaction) = (held.advice, held.transactionID)
            }
            lines.append(line)
        }
        if lines.isEmpty {
            lines.append(
                Line(
                    text: "No purchase and no claim of this customer is recorded.",
                    action:
                        "Search for the order number in Apple's mail to them, or for another account that they use: a "
                        + "purchase that nobody claimed can be given to them on its page."))
        }
        return lines
    }

    /// "I was charged twice."
    var chargedTwice: [Line] {
        let kept = purchases.filter { $0.withdrawal == nil && !$0.isFamilyShared }
        let groups = Dictionary(grouping: kept) { "\($0.productID) \($0.environment.name)" }
        var lines: [Line] = []
        for (_, group) in groups.sorted(by: { $0.key < $1.key }) where group.count > 1 {
            let product = group[0].productID
            let originals = Set(group.map(\.originalTransactionID))
            let times = group.compactMap(\.purchasedAt).map { "\($0)" }.sorted().joined(separator: ", ")
            if originals.count == 1, group[0].productKind == .autoRenewable {
                lines.append(
                    Line(
                        text: "\(product): one subscription with \(group.count) periods, each charged once: \(times).",
                        action: "These are renewals, not a second charge for one period."))
            } else if group[0].productKind == .consumable {
                lines.append(
                    Line(
                        text: "\(product): \(group.count) purchases, and each gave its units: \(times).",
                        action: "If the customer wanted only one, they ask Apple for a refund."))
            } else {
                lines.append(
                    Line(
                        text: "\(product): \(originals.count) separate purchases are recorded: \(times).",
                        action: "Apple charged more than once. The customer asks for a refund at "
                            + "reportaproblem.apple.com."))
            }
        }
        let repeated = submissions.filter { $0.code == DecisionCode.alreadyClaimed.rawValue }.count
        if repeated > 0 {
            lines.append(
                Line(
                    text:
                        "A purchase was sent again \(repeated == 1 ? "once" : "\(repeated) times") and refused as already "
                        + "claimed.",
                    action: "Sending it again charges nothing."))
        }
        if lines.isEmpty {
            lines.append(
                Line(
                    text: "Each product was bought at most once.",
                    action: "If the bank shows two charges, one may be of another account: search for its transaction.")
            )
        }
        return lines
    }

    /// "It was refunded, but it is still locked, or still unlocked."
    var refunded: [Line] {
        var lines: [Line] = []
        for purchase in purchases {
            guard let withdrawal = purchase.withdrawal else { continue }
            let access = entitlements.first {
                $0.productID == purchase.productID && $0.environment == purchase.environment && $0.state == .active
            }
            let what =
                "\(purchase.productID): Apple withdrew transaction \(purchase.transactionID) on "
                + "\(withdrawal.date)."
            if let access, access.productKind == .consumable {
                lines.append(
                    Line(
                        text: what + " \(Self.left(access.balance)), from other purchases or grants.",
                        action: "They are not those of the refund: the table of units says where each is from."))
            } else if let access, access.transactionID == purchase.transactionID {
                lines.append(
                    Line(
                        text: what + " It was a part of the purchase, and the product is still active.",
                        action: "The rest of the purchase was not refunded."))
            } else if let access {
                let other = access.transactionID.map { "transaction \($0)" } ?? "a grant or another shop"
                lines.append(
                    Line(
                        text: what + " The product is still active from \(other).",
                        action: "That is another ground. Revoke it only if the customer has no right to it."))
            } else {
                lines.append(
                    Line(
                        text: what + " The product is locked.",
                        action: "If Apple reversed the refund, the news of it has not arrived: ask the customer to use "
                            + "Restore Purchases."))
            }
        }
        for act in handGrants where act.isRevocation && act.liftedAt == nil {
            lines.append(
                Line(
                    text: "\(act.productID): an operator revoked it on \(act.from).",
                    action: "Lift the revocation if it no longer applies."))
        }
        if lines.isEmpty {
            lines.append(
                Line(
                    text: "Apple reported no refund of a purchase of this customer.",
                    action: "If Apple refunded one, its notification has not arrived: ask the customer to use Restore "
                        + "Purchases, and tell a developer if nothing changes."))
        }
        return lines
    }

    private static func left(_ units: Int64) -> String { counted(units, "unit is", "units are") + " left" }

    private func line(_ entitlement: Entitlement) -> Line {
        let product = entitlement.productID
        let until = entitlement.until.map { " until \($0)" } ?? ""
        let units = entitlement.productKind == .consumable ? " \(Self.left(entitlement.balance))." : ""
        guard let reason = entitlement.reason else {
            return Line(
                text: "\(product) is active\(until).\(units)",
                action: "The customer has it. If the app shows nothing, they use Restore Purchases.")
        }
        let (sentence, action) = reason.explanation
        let state = entitlement.state == .active ? "is active\(until)" : "gives no access"
        return Line(text: "\(product) \(state): \(sentence) (\(reason.rawValue))", action: action)
    }
}
