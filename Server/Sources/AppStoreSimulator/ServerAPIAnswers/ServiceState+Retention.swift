import EvidenceMint
import Foundation

extension ServiceState {
    /// The answers of the Retention Messaging API.
    mutating func retentionAnswer(_ request: ServerAPIRequest, _ scope: ServerAPIScope) throws -> ServerAPIAnswer {
        var content = serverAPI.retention[scope.key] ?? RetentionContent()
        let answer: ServerAPIAnswer
        let sandbox = ServerAPIScope(app: scope.app, environment: .sandbox)
        if request.operation == .setRealtimeURL, scope.environment == .production,
            serverAPI.retention[sandbox.key]?.tests.isEmpty ?? true
        {
            throw ServerAPIFailure(4_030_026, "The app has passed no performance test in the sandbox.")
        }
        switch request.operation {
        case .uploadImage, .deleteImage, .images: answer = try content.imageAnswer(request, scope)
        case .uploadMessage, .deleteMessage, .messages: answer = try content.messageAnswer(request, scope)
        case .performanceTest:
            _ = try content.passTest(
                of: try testedSubscription(request, scope), at: store.now)
            answer = content.testAnswer()
        case .performanceTestResult: answer = try content.testResult(request.path[0])
        case .setRealtimeURL, .realtimeURL, .deleteRealtimeURL: answer = try content.realtimeAnswer(request, scope)
        default:
            let isProduct = store.state.products[StoreState.key(scope.app.bundleID, request.path[0])] != nil
            guard isProduct else { throw ServerAPIFailure(4_000_023, "The app has no such product.") }
            answer = try content.defaultAnswer(request)
        }
        if content != serverAPI.retention[scope.key] ?? RetentionContent() { serverAPI.retention[scope.key] = content }
        return answer
    }

    /// The subscription that a performance test asks about.
    private func testedSubscription(_ request: ServerAPIRequest, _ scope: ServerAPIScope) throws -> String {
        let invalid = ServerAPIFailure(4_000_211, "The performance test needs an original transaction of the app.")
        guard let id = try request.object().string("originalTransactionId", or: invalid),
            let subscription = store.state.subscriptions[id], subscription.bundleID == scope.app.bundleID,
            store.state.customers[subscription.customerID]?.environment == scope.environment
        else { throw invalid }
        return id
    }
}
