#if canImport(StoreKit) && canImport(Security)
    import Foundation
    public import PurchaseKit
    import Security

    /// A store in the Keychain, which survives the deletion of the app. The record is one item, and the evidence of
    /// each waiting transaction is one.
    ///
    /// On the Mac it is the data protection keychain, which only signed apps with a keychain group have; the old
    /// keychain of files would ask the user.
    public struct KeychainPurchaseStore: PurchaseStore {
        private let service: String
        private let account: String
        private let movesAlong: Bool

        /// - Parameters:
        ///   - service: the name of the items, such as the bundle id.
        ///   - account: another name, if the app has several stores.
        ///   - movesAlong: whether a new device that is set up from a backup of this one gets the store. RMStore's
        ///     does: consumables that only the device counts are then kept. With a server, leave it out: the server
        ///     counts.
        public init(service: String, account: String = "purchases", movesAlong: Bool = false) {
            self.service = service
            self.account = account
            self.movesAlong = movesAlong
        }

        public func read() throws -> [UInt8]? { try read(account) }

        public func write(_ document: [UInt8]) throws { try write(document, account) }

        /// Gives the item another name. It stays in the Keychain until the app removes it.
        public func setAside() throws {
            let place = [kSecAttrAccount as String: "\(account).damaged-\(UUID().uuidString)"]
            let status = SecItemUpdate(item(account) as CFDictionary, place as CFDictionary)
            guard status == errSecSuccess || status == errSecItemNotFound else { throw Self.failure(status) }
        }

        public func evidence(_ name: String) throws -> [UInt8]? { try read(evidenceAccount(name)) }

        public func keepEvidence(_ evidence: [UInt8], _ name: String) throws {
            try write(evidence, evidenceAccount(name))
        }

        public func removeEvidence(_ name: String) throws {
            let status = SecItemDelete(item(evidenceAccount(name)) as CFDictionary)
            guard status == errSecSuccess || status == errSecItemNotFound else { throw Self.failure(status) }
        }

        private func evidenceAccount(_ name: String) -> String { "\(account).evidence-\(name)" }

        private func read(_ account: String) throws -> [UInt8]? {
            var query = item(account)
            query[kSecReturnData as String] = true
            query[kSecMatchLimit as String] = kSecMatchLimitOne
            var result: CFTypeRef?
            let status = SecItemCopyMatching(query as CFDictionary, &result)
            if status == errSecItemNotFound { return nil }
            guard status == errSecSuccess, let data = result as? Data else { throw Self.failure(status) }
            return [UInt8](data)
        }

        private func write(_ bytes: [UInt8], _ account: String) throws {
            // An item of an earlier version gets the access, too.
            let content: [String: Any] = [
                kSecValueData as String: Data(bytes), kSecAttrAccessible as String: accessibility,
            ]
            var status = SecItemUpdate(item(account) as CFDictionary, content as CFDictionary)
            if status == errSecItemNotFound {
                status = SecItemAdd(item(account).merging(content) { $1 } as CFDictionary, nil)
            }
            guard status == errSecSuccess else { throw Self.failure(status) }
        }

        /// Renewals arrive while the device is locked, but never before its first unlock.
        private var accessibility: CFString {
            movesAlong ? kSecAttrAccessibleAfterFirstUnlock : kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly
        }

        private func item(_ account: String) -> [String: Any] {
            [
                kSecClass as String: kSecClassGenericPassword, kSecAttrService as String: service,
                kSecAttrAccount as String: account, kSecUseDataProtectionKeychain as String: true,
            ]
        }

        private static func failure(_ status: OSStatus) -> PurchaseError {
            PurchaseError(.storeFailed, expected: "the Keychain", found: "status \(status)")
        }
    }
#endif
