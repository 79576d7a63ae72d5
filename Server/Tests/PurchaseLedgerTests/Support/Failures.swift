import PurchaseLedger
import Testing

// A body that ends by another error than the expected kind is an issue, and one that does not end by an error is nil.

func refusal<Value>(_ body: () async throws -> Value) async -> LedgerRefusal.Code? {
    await failure(LedgerRefusal.self, body)?.code
}

func storageFailure<Value>(_ body: () async throws -> Value) async -> LedgerStorageError.Kind? {
    await failure(LedgerStorageError.self, body)?.kind
}

func storageFailure<Value>(_ body: () throws -> Value) -> LedgerStorageError.Kind? {
    failure(LedgerStorageError.self, body)?.kind
}

func logFailure<Value>(_ body: () async throws -> Value) async -> LogError.Code? {
    await failure(LogError.self, body)?.code
}

func logFailure<Value>(_ body: () throws -> Value) -> LogError.Code? { failure(LogError.self, body)?.code }

func failure<Failure: Error, Value>(_: Failure.Type, _ body: () async throws -> Value) async -> Failure? {
    do {
        _ = try await body()
    } catch {
        return failure(Failure.self) { throw error }
    }
    return nil
}

func failure<Failure: Error, Value>(_: Failure.Type, _ body: () throws -> Value) -> Failure? {
    do {
        _ = try body()
    } catch let failure as Failure {
        return failure
    } catch {
        Issue.record("\(error) is not a \(Failure.self)")
    }
    return nil
}
