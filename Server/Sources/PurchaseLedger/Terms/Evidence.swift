public import PurchaseVerification

/// Evidence without its text encoding, under the name that the ledger uses for it. `PurchaseVerification` does not: its
/// names are also those of apps.
public typealias Evidence = RecognizedEvidence
