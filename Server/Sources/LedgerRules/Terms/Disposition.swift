/// The instruction to an app about its transaction.
public enum Disposition: String, Sendable, CaseIterable {
    /// Finish it: the customer has the purchase.
    case granted
    /// Finish it: it is worthless to this customer.
    case refused
    /// Do not finish it; try again later.
    case retry
    /// Do not finish it: a setting or a key on the server's side is wrong.
    case `operator`
}
