public import Foundation

/// The file of a snapshot, which the app writes and its extensions read, as in the container of an App Group.
public struct PurchaseSnapshotFile: Sendable {
    private let file: URL

    private static let name = "purchases.json"

    /// - Parameter file: the file; its folder must exist.
    public init(file: URL) { self.file = file }

    #if canImport(Darwin)
        /// The file in an App Group; `nil` if the program does not belong to the group.
        public init?(appGroup: String) {
            guard let folder = FileManager.default.containerURL(forSecurityApplicationGroupIdentifier: appGroup) else {
                return nil
            }
            file = folder.appendingPathComponent(Self.name)
        }
    #endif

    /// The snapshot; `nil` if the app has written none yet.
    public func read() throws -> PurchaseSnapshot? {
        guard FileManager.default.fileExists(atPath: file.path) else { return nil }
        return try JSONDecoder.ofRecord.decode(PurchaseSnapshot.self, from: try Data(contentsOf: file))
    }

    /// Replaces the snapshot as a whole. Extensions cannot write one.
    func write(_ snapshot: PurchaseSnapshot) throws {
        try JSONEncoder.ofRecord.encode(snapshot).write(to: file, options: .atomic)
    }
}

extension PurchaseEngine {
    /// Writes a snapshot now and after each change, until the task is cancelled.
    ///
    /// - Parameters:
    ///   - file: the file.
    ///   - written: called after each change, with the error if it failed; reload the widgets' timelines there.
    public nonisolated func writeSnapshots(
        to file: PurchaseSnapshotFile, written: @Sendable ((any Error)?) -> Void = { _ in }
    ) async {
        for await entitlements in entitlementUpdates() {
            do {
                var snapshot = PurchaseSnapshot(entitlements: entitlements, writtenAt: time.now)
                snapshot.ends = shownEnds(of: entitlements)
                try file.write(snapshot)
                written(nil)
            } catch {
                written(error)
            }
        }
    }
}

/// What the customer may use, for widgets and other extensions: a copy of the moment when it was written. It is not
/// signed, so let it decide what is shown, and not what is delivered.
public struct PurchaseSnapshot: Sendable, Codable, Equatable {
    public var entitlements: [PurchaseEntitlement]
    public var writtenAt: Date
    /// When the app would no longer show a product that ends, if nothing newer arrived: the leeway is over.
    var ends: [String: Date]?

    public init(entitlements: [PurchaseEntitlement], writtenAt: Date) {
        (self.entitlements, self.writtenAt) = (entitlements, writtenAt)
    }

    /// Whether a product or a named entitlement may be used at a moment: a widget's timeline asks for moments to come.
    public func isActive(_ name: String, at moment: Date = Date()) -> Bool {
        entitlements.filter { one in (ends?[one.productID] ?? one.until).map { $0 > moment } ?? true }.isActive(name)
    }

    /// The remaining units of a consumable product when it was written.
    public func balance(_ productID: String) -> Int64 { entitlements.balance(of: productID) }
}
