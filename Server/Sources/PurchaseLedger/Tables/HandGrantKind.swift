import PurchaseVerification

/// The two manual acts of an operator.
enum HandGrantKind: String, Sendable {
    case grant
    case revocation
}
