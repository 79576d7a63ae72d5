#if canImport(StoreKit)
    import Foundation
    import PurchaseKit
    import StoreKit

    enum AppEnvironment {
        /// The environment that the name of the receipt's file says, or otherwise the one of the app transaction, which
        /// may ask for a password at the launch of an app. Builds of Xcode ask for it first: only the app transaction
        /// tells Xcode's store from the sandbox.
        static func name(receipt: URL? = Bundle.main.appStoreReceiptURL) async -> String? {
            #if !DEBUG
                if let name = name(ofReceipt: receipt?.lastPathComponent) { return name }
            #endif
            guard #available(iOS 16, macOS 13, tvOS 16, watchOS 9, *) else {
                return name(ofReceipt: receipt?.lastPathComponent)
            }
            return await name(receipt: receipt) {
                try await StoreKit.AppTransaction.shared.unsafePayloadValue.environment.rawValue
            }
        }

        /// The time after which the app transaction is no longer waited for, in seconds. Without a network, or while
        /// the system asks for a password, it may come late or never, and everything else of a start waits for it.
        static let longestWait: Double = 10

        /// The environment that the app transaction says. If there is none now, as without a network after an
        /// installation by Xcode, or not in time, the name of the receipt's file says it.
        static func name(
            receipt: URL?, within seconds: Double = longestWait,
            ofAppTransaction read: @escaping @Sendable () async throws -> String
        ) async -> String? {
            await TimeLimit.value(within: seconds, of: read) ?? name(ofReceipt: receipt?.lastPathComponent)
        }

        /// On the Mac, receipts of both environments have the same name.
        static func name(ofReceipt name: String?) -> String? {
            #if os(macOS) || targetEnvironment(macCatalyst)
                nil
            #else
                switch name {
                case "sandboxReceipt": "Sandbox"
                case "receipt": "Production"
                default: nil
                }
            #endif
        }
    }
#endif
