import Foundation
public import PurchaseKit

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
