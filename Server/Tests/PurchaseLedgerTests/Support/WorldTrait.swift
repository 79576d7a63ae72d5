import Foundation
import PurchaseLedger
import TestSupport
import Testing

/// Opens a world before a test and closes it after the test, once for each engine. Of several, the innermost is used.
final class WorldTrait<World: Sendable>: SuiteTrait, TestTrait, TestScoping {
    let isRecursive = true
    private let open: @Sendable ((World) async throws -> Void) async throws -> Void

    init(_ open: @escaping @Sendable ((World) async throws -> Void) async throws -> Void) { self.open = open }

    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        guard test.traits.last(where: { $0 is WorldTrait }) as? WorldTrait === self else { return try await function() }
        try await open { world in try await CurrentWorld.with(world, function) }
    }
}

/// What the traits of the running test have opened, by type. A suite has it as a property.
enum CurrentWorld {
    @TaskLocal private static var values: [ObjectIdentifier: any Sendable] = [:]

    static func opened<World>() -> World {
        guard let world = values[ObjectIdentifier(World.self)] as? World else {
            preconditionFailure("no trait of the test opens a \(World.self)")
        }
        return world
    }

    static func with<World: Sendable>(_ world: World, _ body: () async throws -> Void) async throws {
        try await $values.withValue(values.merging([ObjectIdentifier(World.self): world]) { $1 }) { try await body() }
    }
}

extension Trait where Self == WorldTrait<LedgerWorld> {
    static var ledger: Self { ledger { _ in } }

    static func ledger(_ change: @escaping @Sendable (inout RegisteredApp) -> Void) -> Self {
        WorldTrait { body in try await LedgerWorld.with(change, body) }
    }
}

extension Trait where Self == WorldTrait<SealedWorld> {
    static var sealed: Self { WorldTrait { try await SealedWorld.with($0) } }
}

extension Trait where Self == WorldTrait<OrderedWorld> {
    static var ordered: Self { WorldTrait { body in try await OrderedWorld.with({ _ in }, body) } }
}

extension Trait where Self == WorldTrait<URL> {
    /// A folder that is deleted after the test.
    static var folder: Self { WorldTrait { try await TemporaryFolder.with($0) } }
}

extension Trait where Self == WorldTrait<ThrowawayPostgreSQL.Database> {
    static var postgreSQL: Self {
        WorldTrait { body in try await ThrowawayPostgreSQL.withDatabase { try await body($0) } }
    }
}
