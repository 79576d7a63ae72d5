import Foundation
public import PurchaseKit
public import PurchaseVerification

public struct SimulatorDevice: DeviceIdentity {
    private let store: SimulatedStore

    public init(_ store: SimulatedStore) { self.store = store }

    public func receiptIdentifiers() async -> [DeviceIdentifier] { [await deviceVerificationID()].compactMap(\.self) }

    public func deviceVerificationID() async -> DeviceIdentifier? {
        // Unknown while the store does not answer, as before the first unlock of a device.
        (try? await store.get(StoreAnswers.Device.self, "app/device")).flatMap { DeviceIdentifier($0.deviceId) }
    }
}

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
