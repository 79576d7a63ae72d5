#if canImport(StoreKit) && canImport(Security)
    import Foundation
    public import PurchaseKit
    import Security

    /// A store in the Keychain, which survives the deletion of the app. The record is one item, and the evidence of
    /// each waiting transaction and the guest are one each.
    ///
    /// On the Mac it is the data protection keychain, which only signed apps with a keychain group have; the old
    /// keychain of files would ask the user.
    public struct KeychainPurchaseStore: PurchaseStore {
        private let service: String
        private let account: String
        private let movesAlong: Bool
        private let guestMoves: Bool

        /// - Parameters:
        ///   - service: the name of the items, such as the bundle id.
        ///   - account: another name, if the app has several stores.
        ///   - movesAlong: whether a new device that is set up from a backup of this one gets the store. RMStore's
        ///     does: consumables that only the device counts are then kept. With a server, leave it out: the server
        ///     counts.
        ///   - guestMoves: whether the guest moves to the customer's other devices and to a new one, by a backup and
        ///     iCloud Keychain, so that an app without a login keeps purchases. Not on tvOS, which has neither.
        public init(
            service: String, account: String = "purchases", movesAlong: Bool = false, guestMoves: Bool = true
        ) {
            (self.service, self.account, self.movesAlong) = (service, account, movesAlong)
            #if os(tvOS)
                self.guestMoves = false
            #else
                self.guestMoves = guestMoves
            #endif
        }

        public func read() throws -> [UInt8]? { try read(item(account)) }

        public func write(_ document: [UInt8]) throws { try write(document, item(account), moves: movesAlong) }

        /// Gives the item another name. It stays in the Keychain until the app removes it.
        public func setAside() throws {
            let place = [kSecAttrAccount as String: "\(account).damaged-\(UUID().uuidString)"]
            let status = SecItemUpdate(item(account) as CFDictionary, place as CFDictionary)
            guard status == errSecSuccess || status == errSecItemNotFound else { throw Self.failure(status) }
        }

        public func evidence(_ name: String) throws -> [UInt8]? { try read(item(evidenceAccount(name))) }

        public func keepEvidence(_ evidence: [UInt8], _ name: String) throws {
            try write(evidence, item(evidenceAccount(name)), moves: movesAlong)
        }

        public func removeEvidence(_ name: String) throws { try remove(item(evidenceAccount(name))) }

        public func guest() throws -> [UInt8]? { try read(guestItem) }

        public func keepGuest(_ guest: [UInt8]?) throws {
            if let guest { try write(guest, guestItem, moves: guestMoves) } else { try remove(guestItem) }
        }

        private var guestItem: [String: Any] {
            item("\(account).guest").merging([kSecAttrSynchronizable as String: guestMoves]) { $1 }
        }

        private func remove(_ item: [String: Any]) throws {
            let status = SecItemDelete(item as CFDictionary)
            guard status == errSecSuccess || status == errSecItemNotFound else { throw Self.failure(status) }
        }

        private func evidenceAccount(_ name: String) -> String { "\(account).evidence-\(name)" }

        private func read(_ item: [String: Any]) throws -> [UInt8]? {
            var query = item
            query[kSecReturnData as String] = true
            query[kSecMatchLimit as String] = kSecMatchLimitOne
            var result: CFTypeRef?
            let status = SecItemCopyMatching(query as CFDictionary, &result)
            if status == errSecItemNotFound { return nil }
            guard status == errSecSuccess, let data = result as? Data else { throw Self.failure(status) }
            return [UInt8](data)
        }

        private func write(_ bytes: [UInt8], _ item: [String: Any], moves: Bool) throws {
            // Renewals arrive while the device is locked, but never before its first unlock. An item of an earlier
            // version gets the access, too.
            let access =
                moves ? kSecAttrAccessibleAfterFirstUnlock : kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly
            let content: [String: Any] = [
                kSecValueData as String: Data(bytes), kSecAttrAccessible as String: access,
            ]
            var status = SecItemUpdate(item as CFDictionary, content as CFDictionary)
            if status == errSecItemNotFound {
                status = SecItemAdd(item.merging(content) { $1 } as CFDictionary, nil)
            }
            guard status == errSecSuccess else { throw Self.failure(status) }
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
