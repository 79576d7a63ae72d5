import PurchaseLedger
import PurchaseVerification

/// A claim of coins by customer 1 for an order, decided on day 4 without a database. Each test changes one thing.
struct ClaimStory {
    var app = RegisteredApp(id: "example", bundleIDs: ["com.example.app"])
    var claim = ClaimFields()
    var proven = ClaimStory.facts()
    var source = EvidenceSource.signedData
    var token: AppAccountToken?
    var isErased = false
    var owner: Int64? = 1
    /// The customer of the account token.
    var tokenOwner: Int64?
    var isOfErasedCustomer = false
    var purchase = ClaimedPurchase(ClaimStory.facts(), kind: .consumable, withdrawal: nil)
    var entitlement: Entitlement?
    var order = OrderTerms(
        "coins", quantity: 1, environments: [.production], from: .day(0), to: .day(2), status: .created)
    var role = ClaimStep.OrderRole.ofClaim

    static let now = Timestamp.day(4)

    init() {
        app.products["coins"] = RegisteredProduct(kind: .consumable)
        (claim.productID, claim.quantity) = ("coins", 1)
    }

    /// A claim of another product, bought on day 1, that names no order.
    init(_ product: String, _ kind: ProductKind, until end: Double? = nil, from start: Double = 1) {
        self.init()
        app.products[product] = RegisteredProduct(kind: kind)
        claim.productID = product
        proven = ObservedTransaction(.signed("1", ExactText(product), kind, on: start, until: end))
        purchase = ClaimedPurchase(proven, kind: kind, withdrawal: nil)
        role = .none
    }

    static func facts(_ change: (inout TransactionStatement) -> Void = { _ in }) -> ObservedTransaction {
        var statement = TransactionStatement.signed("1", "coins", .consumable, on: 1)
        change(&statement)
        return ObservedTransaction(statement)
    }

    mutating func withdraw(_ cause: Withdrawal.Cause, _ proven: ObservedTransaction) {
        purchase.withdrawal = Withdrawal(date: .day(3), cause: cause, units: 1)
        self.proven = proven
    }

    /// What the owner has of the product: access if there is no reason against it.
    mutating func entitle(_ reason: NoAccessReason?, until end: Double? = nil, transaction: String? = nil) {
        entitlement = Entitlement(
            productID: "coins", environment: .production, productKind: .consumable, state: Entitlement.State(reason),
            reason: reason, until: end.map(Timestamp.day), transactionID: transaction)
    }

    var step: ClaimStep {
        var statement = ClaimStatement(claim, of: proven, source, by: 1, app)
        (statement.isErased, statement.token, statement.tokenOwner) = (isErased, token, tokenOwner)
        return ClaimStep(statement, order: role)
    }

    private var known: ClaimSituation {
        var situation = ClaimSituation()
        var owned = ClaimedOwner(owner, of: proven, claimedBy: 1, app)
        (owned.tokenOwner, owned.isOfErasedCustomer) = (tokenOwner, isOfErasedCustomer)
        (situation.owner, situation.purchase, situation.order) = (owned, purchase, order)
        situation.entitlement = entitlement
        return situation
    }

    /// The verdict, and what the step asked for.
    func decided() throws -> (verdict: ClaimVerdict, needs: [ClaimStep.Need]) {
        var (situation, needs) = (ClaimSituation(), [ClaimStep.Need]())
        for _ in 0...3 {
            switch step.decide(situation, at: Self.now) {
            case .decided(let verdict): return (verdict, needs)
            case .needs(let need):
                needs.append(need)
                switch need {
                case .owner: situation.owner = known.owner
                case .purchase: (situation.purchase, situation.entitlement) = (known.purchase, known.entitlement)
                case .order: situation.order = known.order
                }
            }
        }
        throw Endless()
    }

    /// The refusal as one text: the code, the expected and the found fact; `nil` if the claim is accepted.
    func refusal() throws -> String? { try decided().verdict.refusal.map(Self.text) }

    static func text(_ refusal: Rejection) -> String {
        "\(refusal.code), \(refusal.expected ?? "-"), \(refusal.found ?? "-")"
    }

    struct Endless: Error {}
}
