import PurchaseVerification

/// The reasons why stored facts could not be read.
public enum FactsDecodingError: Error, Sendable, Equatable {
    /// The bytes have a version that this release does not know. A newer release wrote them.
    case unknownVersion(UInt8)
    /// The bytes differ from those that this version writes. The row was changed or is damaged: restore it with
    /// `assay rebuild`.
    case malformed(offset: Int)
}
