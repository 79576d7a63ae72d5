#if canImport(StoreKit)
    public import Foundation
    public import PurchaseKit
    public import PurchaseVerification
    import StoreKit

    /// The app receipt of this device. The refresh may ask the customer for their password.
    ///
    /// On the Mac, an app can also end with the status 173 at launch, whereupon the system fetches a receipt and starts
    /// it again. That is the method of old systems, and is not used here.
    public struct DeviceReceipt: ReceiptSource {
        private let file: URL?

        /// - Parameter file: the file of the receipt.
        public init(file: URL? = Bundle.main.appStoreReceiptURL) { self.file = file }

        public func load() async throws -> [UInt8]? {
            guard let file, FileManager.default.fileExists(atPath: file.path) else { return nil }
            return [UInt8](try Data(contentsOf: file))
        }

        /// Replaces the file by a new receipt. `AppTransaction.refresh()` writes none.
        public func refresh() async throws {
            try await StoreRequest(SKReceiptRefreshRequest(receiptProperties: nil)).run()
        }

        /// The signed app transaction, which proves the app and its download where there is no receipt; `nil` before
        /// iOS 16 and macOS 13. Give it to `PurchaseEngine.verify(_:)`.
        ///
        /// - Parameter refreshes: whether the App Store makes a new one, which may ask for a password.
        public func appTransaction(refreshes: Bool = false) async throws -> DeviceAppTransaction? {
            guard #available(iOS 16, macOS 13, tvOS 16, watchOS 9, *) else { return nil }
            let result =
                refreshes ? try await StoreKit.AppTransaction.refresh() : try await StoreKit.AppTransaction.shared
            return DeviceAppTransaction(result, signed: result.jwsRepresentation)
        }
    }

    /// The signed app transaction of this device, and what StoreKit thinks of it.
    public struct DeviceAppTransaction: Sendable {
        /// The app transaction, as Apple signed it.
        public let signed: String
        /// Whether StoreKit returned it as `verified`, which includes a comparison with the device.
        public let isVerifiedByStoreKit: Bool

        /// Generic, because `StoreKit.AppTransaction` is newer than this type.
        init<Signed>(_ result: VerificationResult<Signed>, signed: String) {
            self.signed = signed
            isVerifiedByStoreKit = if case .verified = result { true } else { false }
        }
    }

    extension PurchaseEngine {
        /// Checks the app transaction as an app does at its launch, without network. On a device that has no identifier
        /// (`AppStore.deviceVerificationID` is `nil`), one that StoreKit verified counts.
        ///
        /// - Throws: `PurchaseError`: why it is not accepted.
        @discardableResult
        public func verify(_ appTransaction: DeviceAppTransaction) async throws -> SignedAppTransaction {
            try await verify(
                appTransaction: appTransaction.signed, isVerifiedByStoreKit: appTransaction.isVerifiedByStoreKit)
        }
    }
#endif
