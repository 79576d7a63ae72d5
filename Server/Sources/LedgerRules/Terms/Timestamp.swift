public import PurchaseVerification

/// A time, under the name that the ledger uses for it. `PurchaseVerification` does not: its names are also those of
/// apps.
public typealias Timestamp = AppStoreTime
