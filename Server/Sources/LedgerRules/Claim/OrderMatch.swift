/// An order, and a purchase that is to pay it.
struct OrderMatch {
    let terms: OrderTerms
    let purchase: ClaimedPurchase

    var facts: ObservedTransaction { purchase.paid }
    /// Whether no purchase has paid the order yet.
    var isUnpaid: Bool { terms.status == .created || terms.status == .expired }
    /// Whether another purchase has paid it.
    var isPaidByAnother: Bool { [.paid, .fulfilled, .closed].contains(terms.status) && !purchase.hasPaidOrder }
}
