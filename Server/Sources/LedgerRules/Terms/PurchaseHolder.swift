/// The Apple account that has copies of an original transaction, as far as evidence tells it apart.
public enum PurchaseHolder: Sendable, Hashable {
    /// The one who bought it. Evidence from before 2021 does not state the ownership type; then it counts as bought.
    case buyer
    /// A member of a family, by the member's download of the app; evidence from before 2025 does not state that.
    case family(appTransactionID: ExactText?)
    /// A member to whom a seat was assigned, by the member's download of the app.
    case assigned(appTransactionID: ExactText)
    /// A member whose download is not stated, by the member's transaction.
    case assignedTransaction(ExactText)

    /// A name that no other holder has.
    package var name: String { names.map(\.string).joined(separator: "/") }

    /// The parts of a name that no other holder has.
    package var names: [ExactText] {
        switch self {
        case .buyer: ["bought"]
        case .family(let id): ["shared"] + [id].compactMap(\.self)
        case .assigned(let id): ["assigned", id]
        case .assignedTransaction(let id): ["assigned_transaction", id]
        }
    }
}
