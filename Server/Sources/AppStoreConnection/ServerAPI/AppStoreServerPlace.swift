/// The environments in which an operation can be called.
public enum AppStoreServerPlace: Sendable, Equatable {
    /// The operation names a transaction or the like, which one of the environments knows: production is asked first,
    /// then the sandbox.
    case environmentOfID
    /// The operation has an effect or an answer in each environment: production, unless the caller names another.
    case anyEnvironment
    /// Only one environment has the operation.
    case only(ValidationEnvironment)
}
