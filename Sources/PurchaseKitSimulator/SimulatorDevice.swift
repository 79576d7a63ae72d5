import Foundation
public import PurchaseKit
public import PurchaseVerification

/// The identifiers of a device at the simulated store.
public struct SimulatorDevice: DeviceIdentity {
    private let store: SimulatedStore

    public init(_ store: SimulatedStore) { self.store = store }

    public func receiptIdentifiers() async -> [DeviceIdentifier] { [await deviceVerificationID()].compactMap(\.self) }

    public func deviceVerificationID() async -> DeviceIdentifier? {
        do {
            return DeviceIdentifier(try await store.get(StoreAnswers.Device.self, "app/device").deviceId)
        } catch {
            // Unknown while the store does not answer, as before the first unlock of a device.
            return nil
        }
    }
}

/// The app receipt of a device at the simulated store.
public struct SimulatorReceipt: ReceiptSource {
    private let store: SimulatedStore

    public init(_ store: SimulatedStore) { self.store = store }

    public func load() async throws -> [UInt8]? {
        do {
            let receipt = try await store.get(StoreAnswers.Receipt.self, "app/receipt")
            return Data(base64Encoded: receipt.appReceipt).map { [UInt8]($0) }
        } catch let error as SimulatedStoreError where error.status == 404 {
            return nil
        }
    }

    public func refresh() async throws {
        _ = try await store.post(StoreAnswers.Receipt.self, "app/receipt/refresh", store.owner)
    }
}

/// A store that forgets everything when the process ends, for previews and for a first try.
///
/// Unchecked, because the lock guards what changes.
public final class MemoryPurchaseStore: PurchaseStore, @unchecked Sendable {
    private let lock = NSLock()
    private var document: [UInt8]?
    private var kept: [String: [UInt8]] = [:]

    public init() {}

    public func read() throws -> [UInt8]? { locked { document } }
    public func write(_ document: [UInt8]) throws { locked { self.document = document } }
    public func setAside() throws { locked { document = nil } }
    public func evidence(_ name: String) throws -> [UInt8]? { locked { kept[name] } }
    public func keepEvidence(_ evidence: [UInt8], _ name: String) throws { locked { kept[name] = evidence } }
    public func removeEvidence(_ name: String) throws { locked { kept[name] = nil } }

    private func locked<Result>(_ body: () -> Result) -> Result {
        lock.lock()
        defer { lock.unlock() }
        return body()
    }
}
