#if canImport(StoreKit)
    import Foundation
    import PurchaseKit
    import StoreKit

    /// The environment of this installation of the app.
    enum AppEnvironment {
        /// The environment of the app transaction; before iOS 16 and macOS 13, the one that the name of the receipt's
        /// file says.
        static func name(receipt: URL? = Bundle.main.appStoreReceiptURL) async -> String? {
            if #available(iOS 16, macOS 13, tvOS 16, watchOS 9, *) {
                do {
                    if planted("a7a") { return nil }
                    return try await StoreKit.AppTransaction.shared.unsafePayloadValue.environment.rawValue
                } catch {
                    // The system has no app transaction now, as without a network after an installation by Xcode.
                    return name(ofReceipt: receipt?.lastPathComponent)
                }
            }
            return name(ofReceipt: receipt?.lastPathComponent)
        }

        /// On the Mac, receipts of both environments have the same name.
        static func name(ofReceipt name: String?) -> String? {
            #if os(macOS) || targetEnvironment(macCatalyst)
                nil
            #else
                switch name {
                case "sandboxReceipt": planted("a7b") ? nil : "Sandbox"
                case "receipt": "Production"
                default: nil
                }
            #endif
        }
    }
#endif
