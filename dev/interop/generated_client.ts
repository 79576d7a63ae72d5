// Buys coins with the client that openapi-generator generated: node generated_client.js SERVER KEY STORE BUNDLE_ID
import { Configuration, OrdersApi, PurchasesApi, RecordApi, ResponseError } from "./client/index";

declare const process: { argv: string[]; exit(status: number): never };

const [server, key, store, bundleId] = process.argv.slice(2);

function expect(condition: boolean, what: unknown) {
  if (!condition) throw new Error(`unexpected: ${JSON.stringify(what)}`);
}

/** Buys in the simulated store, and returns the transaction id and the signed transaction. */
async function buy(product: string, customer: string, token: string) {
  const answer = await fetch(`${store}/control/purchases`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({
      bundle_id: bundleId, product_id: product, customer_id: customer, app_account_token: token, quantity: 3,
    }),
  });
  const bought = await answer.json();
  return [bought.transaction.transaction_id, bought.evidence.signed_transaction];
}

async function main() {
  const configuration = new Configuration({ basePath: server, accessToken: key });
  const [orders, purchases, record] = [OrdersApi, PurchasesApi, RecordApi].map((Api) => new Api(configuration)) as [
    OrdersApi, PurchasesApi, RecordApi];
  const refused = await orders
    .createOrder({ idempotencyKey: crypto.randomUUID(), orderRequest: { customerId: "", productId: "coins" } })
    .catch((error) => (error instanceof ResponseError ? error.response.status : error));
  expect(refused === 400, refused);
  const order = await orders.createOrder({
    idempotencyKey: crypto.randomUUID(),
    orderRequest: { customerId: "production", productId: "coins", quantity: 3 },
  });
  const [transactionId, signedTransaction] = await buy("coins", "production", order.appAccountToken);
  const answer = await purchases.submitPurchase({
    purchaseRequest: { productId: "coins", transactionId, signedTransaction, orderId: order.orderId },
  });
  expect(answer.disposition === "granted", answer);
  const delivered = await orders.fulfilOrder({ orderId: order.orderId });
  expect(delivered.status === "fulfilled" && delivered.replayed === false, delivered);
  const events = await record.listEvents({ orderId: order.orderId });
  const types = events.events.map((event) => event.type).join();
  expect(types === "order_created,order_paid,order_fulfilled", types);
  console.log(`typescript client: bought ${order.quantity} coins, accepted, delivered`);
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
