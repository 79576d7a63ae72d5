import Testing
@Test func stub() {}
import HummingbirdTesting
