import PurchaseServer
import Testing

/// Opens a world before a test and closes it after the test. Of several, the innermost is used.
final class WorldTrait<World: Sendable>: SuiteTrait, TestTrait, TestScoping {
    typealias Body = @Sendable (World) async throws -> Void
    let isRecursive = true
    private let open: @Sendable (@escaping Body) async throws -> Void

    init(_ open: @escaping @Sendable (@escaping Body) async throws -> Void) { self.open = open }

    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        guard test.traits.last(where: { $0 is WorldTrait }) as? WorldTrait === self else { return try await function() }
        try await withoutActuallyEscaping(function) { function in
            try await open { world in try await CurrentWorld.with(world, function) }
        }
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

extension Trait where Self == WorldTrait<PurchaseServerWorld> {
    static var server: Self { server { _ in } }

    static func server(_ change: @escaping @Sendable (inout ServerConfiguration) -> Void) -> Self {
        WorldTrait { body in try await PurchaseServerWorld.run(change, body) }
    }

    /// With a listener for operators, which serves the console.
    static var console: Self { server { $0.admin = .port(host: "127.0.0.1", 0) } }
}

extension Trait where Self == WorldTrait<WebhookWorld> {
    static var webhooks: Self { WorldTrait { body in try await WebhookWorld.run { try await body($0) } } }
}
