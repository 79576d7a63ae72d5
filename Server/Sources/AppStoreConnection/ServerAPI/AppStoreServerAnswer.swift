/// The answer to an operation.
public struct AppStoreServerAnswer<Value: Sendable>: Sendable {
    /// The environment that answered.
    public let environment: ValidationEnvironment
    /// The answer, read and verified.
    public let value: Value
    /// The answer as received.
    public let body: [UInt8]

    public init(environment: ValidationEnvironment, value: Value, body: [UInt8]) {
        self.environment = environment
        self.value = value
        self.body = body
    }
}
