// The two clients of the App Store, with their calls counted and timed.

import AppStoreConnection

/// The App Store Server API. The operation is the name of its type, so it is one of this version's.
struct MeasuredAppStoreServer: AppStoreServer {
    let server: any AppStoreServer
    let metrics: ServerMetrics

    func call<Operation: AppStoreServerOperation>(
        _ operation: Operation, for app: AppStoreServerApp, in environment: ValidationEnvironment?
    ) async throws(AppStoreServerError) -> AppStoreServerAnswer<Operation.Answer> {
        let start = ContinuousClock.now
        let name = operation.terms.name
        do throws(AppStoreServerError) {
            let answer = try await server.call(operation, for: app, in: environment)
            metrics.noteCall(name, result: "answered", .now - start)
            return answer
        } catch {
            metrics.noteCall(name, result: error.code.rawValue, .now - start)
            throw error
        }
    }

    func circuit(of environment: ValidationEnvironment) -> CircuitState { server.circuit(of: environment) }

    func spacing<Operation: AppStoreServerOperation>(
        of operation: Operation.Type, in environment: ValidationEnvironment
    ) -> Duration {
        server.spacing(of: operation, in: environment)
    }
}

/// `verifyReceipt`.
struct MeasuredReceiptValidation: ReceiptValidation {
    let client: any ReceiptValidation
    let metrics: ServerMetrics

    func validate(_ request: ReceiptValidationRequest) async -> ReceiptValidationOutcome {
        let start = ContinuousClock.now
        let outcome = await client.validate(request)
        let result =
            switch outcome {
            case .conclusive: "answered"
            case .undetermined(let undetermined): undetermined.code.rawValue
            }
        metrics.noteCall("verifyReceipt", result: result, .now - start)
        return outcome
    }

    func circuit(of environment: ValidationEnvironment) -> CircuitState { client.circuit(of: environment) }
}
