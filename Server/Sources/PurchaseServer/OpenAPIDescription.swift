/// `docs/openapi.yaml`, written here by `dev/openapi.sh`.
// swift-format-ignore
let openAPIDescription = ##"""
openapi: 3.1.0
info:
  title: Assay
  version: 0.1.0
  summary: App Store purchase verification that you run yourself.
  description: |
    What the server answers: Apple's `verifyReceipt`, from the receipt alone; orders, purchases, entitlements and the record
    of everything under `/v1`; and what machines ask to operate it.

    `/v1` takes a key (`assay keys create`): `Authorization: Bearer KEY`. A key belongs to one app and has scopes: `client`
    submits purchases, `backend` does everything else, `admin` both. Without a key the answer is 401, with another scope
    403, and with too many requests 429.

    Every POST under `/v1` honours the header `Idempotency-Key`: the same request again, with the same key, gets the
    answer of the first time, byte for byte, and changes nothing.

    Whatever goes wrong under `/v1` is told by a problem document (RFC 9457) whose `code` is stable. Times are RFC 3339 in
    UTC. A member that has no value is left out.

    Every other path is answered with 404, as at `/{path}`, and every other method of HTTP (RFC 9110) than those below with
    405, each with a problem document (RFC 9457). What is no HTTP gets a 400 without a body.

    A request whose body takes longer than 30 seconds to arrive, and a connection that waits longer than 60 seconds
    for a request, is closed without an answer (`ServerConfiguration.Limits`).
servers:
  - url: http://127.0.0.1:8080
    description: Where the server listens unless it is told otherwise.
tags:
  - name: verifyReceipt
    description: Apple's contract, answered offline.
  - name: orders
    description: What a customer is about to pay.
  - name: purchases
    description: Evidence, what it proved, and what it entitles to.
  - name: record
    description: Everything that was ever submitted.
  - name: operation
    description: For the machines that run the server.
security: []

paths:
  /verifyReceipt:
    post:
      tags: [verifyReceipt]
      operationId: verifyReceipt
      summary: Verifies a production receipt, as Apple's https://buy.itunes.apple.com/verifyReceipt does.
      description: |
        A receipt of any other environment is answered with 21007. A request whose Host header is
        `sandbox.itunes.apple.com`, with any port, is answered as at `/sandbox/verifyReceipt`: a client that only
        exchanged Apple's address for this one need not change its paths.

        The answer speaks of the receipt as it was signed. What only Apple's server knows, such as
        `pending_renewal_info` and later renewals, is not in it.
      requestBody:
        $ref: '#/components/requestBodies/VerifyReceipt'
      responses:
        '200':
          $ref: '#/components/responses/VerifyReceipt'
        '413':
          $ref: '#/components/responses/BodyTooLarge'
    get: &notPosted
      tags: [verifyReceipt]
      summary: Not a POST; answered with 21000.
      responses:
        '200':
          $ref: '#/components/responses/NotPosted'
    head: *notPosted
    put: *notPosted
    patch: *notPosted
    delete: *notPosted
    options: *notPosted

  /sandbox/verifyReceipt:
    post:
      tags: [verifyReceipt]
      operationId: verifyReceiptInSandbox
      summary: Verifies a sandbox receipt, as Apple's https://sandbox.itunes.apple.com/verifyReceipt does.
      description: |
        A production receipt is answered with 21008. Receipts of Xcode and of other local environments are answered
        here, too, if the operator accepts their environment and trusts their certificate.
      requestBody:
        $ref: '#/components/requestBodies/VerifyReceipt'
      responses:
        '200':
          $ref: '#/components/responses/VerifyReceipt'
        '413':
          $ref: '#/components/responses/BodyTooLarge'
    get: *notPosted
    head: *notPosted
    put: *notPosted
    patch: *notPosted
    delete: *notPosted
    options: *notPosted

  /healthz:
    get:
      tags: [operation]
      operationId: health
      summary: The process is alive and answers.
      responses:
        '200':
          description: It is alive.
          content:
            application/json:
              schema:
                $ref: '#/components/schemas/Health'
              example: { status: ok }

  /readyz:
    get:
      tags: [operation]
      operationId: readiness
      description: It writes to find out, so one address may ask ten times a second.
      summary: The server can do its work, because the database takes what it writes.
      responses:
        '200':
          description: It can.
          content:
            application/json:
              schema:
                $ref: '#/components/schemas/Readiness'
              example: { status: ready }
        '429':
          $ref: '#/components/responses/TooManyRequests'
        '503':
          $ref: '#/components/responses/Unavailable'

  /openapi.yaml:
    get:
      tags: [operation]
      operationId: description
      summary: This document.
      responses:
        '200':
          description: It.
          content:
            application/yaml:
              schema: { type: object }

  /v1/orders:
    post:
      tags: [orders]
      operationId: createOrder
      summary: Makes an order, before it is paid.
      description: |
        Its `app_account_token` is the UUID to hand to StoreKit 2, which binds the purchase to the order. Scope `backend`.
      security: [{ key: [] }]
      parameters:
        - $ref: '#/components/parameters/IdempotencyKey'
      requestBody:
        required: true
        content:
          application/json:
            schema:
              $ref: '#/components/schemas/OrderRequest'
            example: { customer_id: alice, product_id: com.example.app.coins, quantity: 3, metadata: { basket: '7' } }
      responses:
        '201':
          description: The order.
          content:
            application/json:
              schema:
                $ref: '#/components/schemas/Order'
        '400':
          $ref: '#/components/responses/BadRequest'
        '401':
          $ref: '#/components/responses/Unauthorized'
        '403':
          $ref: '#/components/responses/Forbidden'
        '413':
          $ref: '#/components/responses/ContentTooLarge'
        '422':
          $ref: '#/components/responses/Unprocessable'
        '429':
          $ref: '#/components/responses/TooManyRequests'
        '500':
          $ref: '#/components/responses/Failed'
        '503':
          $ref: '#/components/responses/Unavailable'
    get:
      tags: [orders]
      operationId: listOrders
      summary: Orders, oldest first; how a backend learns of those that are paid.
      description: Scope `backend`.
      security: [{ key: [] }]
      parameters:
        - name: status
          in: query
          description: Only those in this state.
          schema:
            $ref: '#/components/schemas/OrderStatus'
        - $ref: '#/components/parameters/CustomerFilter'
        - $ref: '#/components/parameters/Limit'
        - $ref: '#/components/parameters/Cursor'
      responses:
        '200':
          description: A page.
          content:
            application/json:
              schema:
                $ref: '#/components/schemas/OrderList'
        '400':
          $ref: '#/components/responses/BadRequest'
        '401':
          $ref: '#/components/responses/Unauthorized'
        '403':
          $ref: '#/components/responses/Forbidden'
        '429':
          $ref: '#/components/responses/TooManyRequests'
        '500':
          $ref: '#/components/responses/Failed'
        '503':
          $ref: '#/components/responses/Unavailable'

  /v1/orders/{order_id}:
    parameters:
      - $ref: '#/components/parameters/OrderID'
    get:
      tags: [orders]
      operationId: getOrder
      summary: One order.
      description: Scope `backend`.
      security: [{ key: [] }]
      responses:
        '200':
          description: The order.
          content:
            application/json:
              schema:
                $ref: '#/components/schemas/Order'
        '404':
          $ref: '#/components/responses/NotFound'
        '400':
          $ref: '#/components/responses/BadRequest'
        '401':
          $ref: '#/components/responses/Unauthorized'
        '403':
          $ref: '#/components/responses/Forbidden'
        '429':
          $ref: '#/components/responses/TooManyRequests'
        '500':
          $ref: '#/components/responses/Failed'
        '503':
          $ref: '#/components/responses/Unavailable'

  /v1/orders/{order_id}/fulfil:
    parameters:
      - $ref: '#/components/parameters/OrderID'
    post:
      tags: [orders]
      operationId: fulfilOrder
      summary: Notes that the operator gave what was paid. Noting it again changes nothing.
      description: An order that is not paid is answered with 409 (`order_not_paid`). Scope `backend`.
      security: [{ key: [] }]
      parameters:
        - $ref: '#/components/parameters/IdempotencyKey'
      responses:
        '200':
          description: The order.
          content:
            application/json:
              schema:
                $ref: '#/components/schemas/Order'
        '404':
          $ref: '#/components/responses/NotFound'
        '409':
          $ref: '#/components/responses/Conflict'
        '400':
          $ref: '#/components/responses/BadRequest'
        '401':
          $ref: '#/components/responses/Unauthorized'
        '403':
          $ref: '#/components/responses/Forbidden'
        '413':
          $ref: '#/components/responses/ContentTooLarge'
        '422':
          $ref: '#/components/responses/Unprocessable'
        '429':
          $ref: '#/components/responses/TooManyRequests'
        '500':
          $ref: '#/components/responses/Failed'
        '503':
          $ref: '#/components/responses/Unavailable'

  /v1/orders/{order_id}/cancel:
    parameters:
      - $ref: '#/components/parameters/OrderID'
    post:
      tags: [orders]
      operationId: cancelOrder
      summary: Cancels an order that waits for its payment. Cancelling it again changes nothing.
      description: Any other order is answered with 409 (`order_not_cancellable`). Scope `backend`.
      security: [{ key: [] }]
      parameters:
        - $ref: '#/components/parameters/IdempotencyKey'
      responses:
        '200':
          description: The order.
          content:
            application/json:
              schema:
                $ref: '#/components/schemas/Order'
        '404':
          $ref: '#/components/responses/NotFound'
        '409':
          $ref: '#/components/responses/Conflict'
        '400':
          $ref: '#/components/responses/BadRequest'
        '401':
          $ref: '#/components/responses/Unauthorized'
        '403':
          $ref: '#/components/responses/Forbidden'
        '413':
          $ref: '#/components/responses/ContentTooLarge'
        '422':
          $ref: '#/components/responses/Unprocessable'
        '429':
          $ref: '#/components/responses/TooManyRequests'
        '500':
          $ref: '#/components/responses/Failed'
        '503':
          $ref: '#/components/responses/Unavailable'

  /v1/purchases:
    post:
      tags: [purchases]
      operationId: submitPurchase
      summary: Verifies evidence, decides, records, and grants what was bought, once.
      description: |
        Give `receipt_data` or `signed_transaction`, and at least one of `order_id` and `customer_id`. Whatever comes is
        kept, whatever the verdict. The same claim by the same owner gets the first answer again, with `replayed: true`.
        A purchase that is rejected is answered with a problem document whose `code` says why (docs/reason-codes.md,
        docs/purchase-server.md), with `verdict`, `replayed` and `submission_id`. Scope `client`.
      security: [{ key: [] }]
      parameters:
        - $ref: '#/components/parameters/IdempotencyKey'
      requestBody:
        required: true
        content:
          application/json:
            schema:
              $ref: '#/components/schemas/PurchaseRequest'
      responses:
        '200':
          description: It was accepted, now or before.
          content:
            application/json:
              schema:
                $ref: '#/components/schemas/PurchaseAnswer'
        '404':
          description: There is no such order (`order_unknown`).
          content:
            application/problem+json:
              schema:
                $ref: '#/components/schemas/Problem'
        '409':
          $ref: '#/components/responses/Conflict'
        '400':
          $ref: '#/components/responses/BadRequest'
        '401':
          $ref: '#/components/responses/Unauthorized'
        '403':
          $ref: '#/components/responses/Forbidden'
        '413':
          $ref: '#/components/responses/ContentTooLarge'
        '422':
          $ref: '#/components/responses/Unprocessable'
        '429':
          $ref: '#/components/responses/TooManyRequests'
        '500':
          $ref: '#/components/responses/Failed'
        '503':
          $ref: '#/components/responses/Unavailable'

  /v1/purchases/{transaction_id}:
    get:
      tags: [purchases]
      operationId: getPurchase
      summary: What is recorded of a transaction.
      description: One purchase, but for local environments, which number their own. Scope `backend`.
      security: [{ key: [] }]
      parameters:
        - name: transaction_id
          in: path
          required: true
          description: The transaction.
          schema:
            $ref: '#/components/schemas/Identifier'
      responses:
        '200':
          description: The purchases of the transaction.
          content:
            application/json:
              schema:
                $ref: '#/components/schemas/PurchaseList'
        '404':
          $ref: '#/components/responses/NotFound'
        '400':
          $ref: '#/components/responses/BadRequest'
        '401':
          $ref: '#/components/responses/Unauthorized'
        '403':
          $ref: '#/components/responses/Forbidden'
        '429':
          $ref: '#/components/responses/TooManyRequests'
        '500':
          $ref: '#/components/responses/Failed'
        '503':
          $ref: '#/components/responses/Unavailable'

  /v1/customers/{customer_id}/purchases:
    parameters:
      - $ref: '#/components/parameters/CustomerID'
    get:
      tags: [purchases]
      operationId: listPurchases
      summary: The purchases of a customer, newest first.
      description: Scope `backend`.
      security: [{ key: [] }]
      parameters:
        - $ref: '#/components/parameters/Limit'
        - $ref: '#/components/parameters/Cursor'
      responses:
        '200':
          description: A page.
          content:
            application/json:
              schema:
                $ref: '#/components/schemas/PurchaseList'
        '400':
          $ref: '#/components/responses/BadRequest'
        '401':
          $ref: '#/components/responses/Unauthorized'
        '403':
          $ref: '#/components/responses/Forbidden'
        '429':
          $ref: '#/components/responses/TooManyRequests'
        '500':
          $ref: '#/components/responses/Failed'
        '503':
          $ref: '#/components/responses/Unavailable'

  /v1/customers/{customer_id}/entitlements:
    parameters:
      - $ref: '#/components/parameters/CustomerID'
    get:
      tags: [purchases]
      operationId: listEntitlements
      summary: What a customer may use now, and why.
      description: A customer of whom nothing is known has no entitlements. Scope `backend`.
      security: [{ key: [] }]
      parameters:
        - name: If-None-Match
          in: header
          description: The `ETag` of an answer that the sender has already.
          schema: { type: string }
      responses:
        '200':
          description: The entitlements.
          headers:
            ETag:
              description: The same as long as the answer is.
              schema: { type: string }
          content:
            application/json:
              schema:
                $ref: '#/components/schemas/EntitlementList'
        '304':
          description: The sender has them already.
        '400':
          $ref: '#/components/responses/BadRequest'
        '401':
          $ref: '#/components/responses/Unauthorized'
        '403':
          $ref: '#/components/responses/Forbidden'
        '429':
          $ref: '#/components/responses/TooManyRequests'
        '500':
          $ref: '#/components/responses/Failed'
        '503':
          $ref: '#/components/responses/Unavailable'

  /v1/customers/{customer_id}/consume:
    parameters:
      - $ref: '#/components/parameters/CustomerID'
    post:
      tags: [purchases]
      operationId: consume
      summary: Takes from the balance of a consumable, never below zero.
      description: |
        The same `consumption_id` again changes nothing and has the same answer, with `replayed: true`. Where it is left
        out, the `Idempotency-Key` stands for it; one of both is needed. Scope `backend`.
      security: [{ key: [] }]
      parameters:
        - $ref: '#/components/parameters/IdempotencyKey'
      requestBody:
        required: true
        content:
          application/json:
            schema:
              $ref: '#/components/schemas/ConsumptionRequest'
            example: { product_id: com.example.app.coins, quantity: 2, consumption_id: game-17 }
      responses:
        '200':
          description: What was taken, and what was left.
          content:
            application/json:
              schema:
                $ref: '#/components/schemas/Consumption'
        '409':
          $ref: '#/components/responses/Conflict'
        '400':
          $ref: '#/components/responses/BadRequest'
        '401':
          $ref: '#/components/responses/Unauthorized'
        '403':
          $ref: '#/components/responses/Forbidden'
        '413':
          $ref: '#/components/responses/ContentTooLarge'
        '422':
          $ref: '#/components/responses/Unprocessable'
        '429':
          $ref: '#/components/responses/TooManyRequests'
        '500':
          $ref: '#/components/responses/Failed'
        '503':
          $ref: '#/components/responses/Unavailable'

  /v1/submissions:
    get:
      tags: [record]
      operationId: listSubmissions
      summary: What was submitted, newest first.
      description: Scope `backend`.
      security: [{ key: [] }]
      parameters:
        - $ref: '#/components/parameters/CustomerFilter'
        - name: order_id
          in: query
          description: Only those for this order.
          schema:
            $ref: '#/components/schemas/Identifier'
        - name: transaction_id
          in: query
          description: Only those of this transaction.
          schema:
            $ref: '#/components/schemas/Identifier'
        - name: verdict
          in: query
          description: Only those with this verdict.
          schema: { type: string, enum: [accepted, rejected] }
        - name: code
          in: query
          description: Only those with this code.
          schema:
            $ref: '#/components/schemas/Identifier'
        - name: from
          in: query
          description: Only those received at this time or later.
          schema: { type: string, format: date-time }
        - name: to
          in: query
          description: Only those received before this time.
          schema: { type: string, format: date-time }
        - $ref: '#/components/parameters/Limit'
        - $ref: '#/components/parameters/Cursor'
      responses:
        '200':
          description: A page.
          content:
            application/json:
              schema:
                $ref: '#/components/schemas/SubmissionList'
        '400':
          $ref: '#/components/responses/BadRequest'
        '401':
          $ref: '#/components/responses/Unauthorized'
        '403':
          $ref: '#/components/responses/Forbidden'
        '429':
          $ref: '#/components/responses/TooManyRequests'
        '500':
          $ref: '#/components/responses/Failed'
        '503':
          $ref: '#/components/responses/Unavailable'

  /v1/submissions/{submission_id}:
    get:
      tags: [record]
      operationId: getSubmission
      summary: One submission.
      description: Scope `backend`.
      security: [{ key: [] }]
      parameters:
        - name: submission_id
          in: path
          required: true
          description: The submission.
          schema:
            $ref: '#/components/schemas/Identifier'
      responses:
        '200':
          description: The submission.
          content:
            application/json:
              schema:
                $ref: '#/components/schemas/Submission'
        '404':
          $ref: '#/components/responses/NotFound'
        '400':
          $ref: '#/components/responses/BadRequest'
        '401':
          $ref: '#/components/responses/Unauthorized'
        '403':
          $ref: '#/components/responses/Forbidden'
        '429':
          $ref: '#/components/responses/TooManyRequests'
        '500':
          $ref: '#/components/responses/Failed'
        '503':
          $ref: '#/components/responses/Unavailable'

  /{path}:
    parameters:
      - name: path
        in: path
        required: true
        description: Any other path.
        schema: { type: string }
    get:
      tags: [operation]
      summary: Nothing is here.
      responses:
        '404':
          $ref: '#/components/responses/NotFound'

components:
  securitySchemes:
    key:
      type: http
      scheme: bearer
      description: A key from `assay keys create`.

  parameters:
    IdempotencyKey:
      name: Idempotency-Key
      in: header
      description: |
        The sender's name for the request: the same request again gets the answer of the first time, another one under
        the same name is a 422 (`idempotency_key_reused`). Answers are kept for seven days.
      schema: { type: string, minLength: 1, maxLength: 255, pattern: '^[!-~]+$' }
    OrderID:
      name: order_id
      in: path
      required: true
      description: The order.
      schema:
        $ref: '#/components/schemas/Identifier'
    CustomerID:
      name: customer_id
      in: path
      required: true
      description: The customer, by the operator's own name for him.
      schema:
        $ref: '#/components/schemas/Identifier'
    CustomerFilter:
      name: customer_id
      in: query
      description: Only those of this customer.
      schema:
        $ref: '#/components/schemas/Identifier'
    Limit:
      name: limit
      in: query
      description: How many a page may have.
      schema: { type: integer, minimum: 1, maximum: 500, default: 50 }
    Cursor:
      name: cursor
      in: query
      description: Where to go on; the `next_cursor` of the page before.
      schema: { type: string, pattern: '^[A-Za-z0-9_-]+$' }

  requestBodies:
    VerifyReceipt:
      required: true
      description: |
        A JSON object of at most 17 MiB (a setting). It is read as JSON whatever the Content-Type says, since clients
        send it under several. A body that is not a JSON object is answered with 21000 (`not_json`).
      content:
        application/json:
          schema:
            $ref: '#/components/schemas/VerifyReceiptRequest'

  headers:
    Assay-Reason:
      description: |
        Why the status is not 0, as a stable code. `docs/reason-codes.md` explains each. Absent with status 0.
      schema:
        type: string
        pattern: '^[a-z0-9]+(_[a-z0-9]+)*$'
      example: certificate_signature_invalid
    Assay-State:
      description: |
        To what time the answer speaks. `as-of-signing`: it holds `latest_receipt_info` or `latest_expired_receipt_info`, and that says what was known
        when the receipt was signed; a later renewal or refund is not in it. Absent where the answer holds neither
        that nor `latest_expired_receipt_info`.
      schema:
        type: string
        const: as-of-signing

  responses:
    VerifyReceipt:
      description: |
        The answer, whatever its status: as with Apple, the HTTP status is 200 and the member `status` says how it went.
      headers:
        Assay-Reason:
          $ref: '#/components/headers/Assay-Reason'
        Assay-State:
          $ref: '#/components/headers/Assay-State'
      content:
        application/json:
          schema:
            $ref: '#/components/schemas/VerifyReceiptResponse'
          examples:
            valid:
              summary: A sandbox receipt with one purchase
              value:
                environment: Sandbox
                receipt:
                  receipt_type: ProductionSandbox
                  adam_id: 0
                  app_item_id: 0
                  bundle_id: com.example.app
                  application_version: '1'
                  download_id: 0
                  version_external_identifier: 0
                  receipt_creation_date: 2024-07-03 09:46:40 Etc/GMT
                  receipt_creation_date_ms: '1720000000000'
                  receipt_creation_date_pst: 2024-07-03 02:46:40 America/Los_Angeles
                  request_date: 2024-07-03 09:46:42 Etc/GMT
                  request_date_ms: '1720000002517'
                  request_date_pst: 2024-07-03 02:46:42 America/Los_Angeles
                  original_purchase_date: 2013-08-01 07:00:00 Etc/GMT
                  original_purchase_date_ms: '1375340400000'
                  original_purchase_date_pst: 2013-08-01 00:00:00 America/Los_Angeles
                  original_application_version: '1.0'
                  in_app:
                    - quantity: '3'
                      product_id: coins
                      transaction_id: '2000000000000001'
                      original_transaction_id: '2000000000000001'
                      purchase_date: 2024-07-03 09:46:40 Etc/GMT
                      purchase_date_ms: '1720000000000'
                      purchase_date_pst: 2024-07-03 02:46:40 America/Los_Angeles
                      original_purchase_date: 2024-07-03 09:46:40 Etc/GMT
                      original_purchase_date_ms: '1720000000000'
                      original_purchase_date_pst: 2024-07-03 02:46:40 America/Los_Angeles
                      is_trial_period: 'false'
                      in_app_ownership_type: PURCHASED
                status: 0
            forged:
              summary: A receipt that nobody trusted signed
              value: { status: 21003 }
            wrongAddress:
              summary: A sandbox receipt at the production address
              value: { status: 21007 }
    NotPosted:
      description: |
        The status 21000, with the reason `not_posted`.
      headers:
        Assay-Reason:
          required: true
          description: The request was no POST.
          schema:
            type: string
            const: not_posted
      content:
        application/json:
          schema:
            $ref: '#/components/schemas/VerifyReceiptRefusal'
          example: { status: 21000 }
    BodyTooLarge:
      description: |
        The body is larger than the server takes. The answer is still that of `verifyReceipt`, with the status 21002, so
        that a client that looks at nothing else understands it.
      headers:
        Assay-Reason:
          required: true
          description: The code for evidence that is too large.
          schema:
            type: string
            const: evidence_too_large
      content:
        application/json:
          schema:
            $ref: '#/components/schemas/VerifyReceiptRefusal'
          example: { status: 21002 }
    NotFound:
      description: |
        There is no such path, or what it names is not there (`order_unknown`,
        `transaction_unknown`, `submission_unknown`).
      content:
        application/problem+json:
          schema:
            $ref: '#/components/schemas/Problem'
          example: { type: 'about:blank', title: Not Found, status: 404, code: not_found }

    BadRequest:
      description: |
        Something is missing or malformed (`field_missing`, `field_malformed`, `body_malformed`); `expected` names it.
      content:
        application/problem+json:
          schema:
            $ref: '#/components/schemas/Problem'
    Unauthorized:
      description: No key (`key_missing`), or none that is known and in use (`key_unknown`).
      headers:
        WWW-Authenticate:
          description: How to say who one is.
          schema: { type: string, const: Bearer }
      content:
        application/problem+json:
          schema:
            $ref: '#/components/schemas/Problem'
    Forbidden:
      description: |
        The key has another scope (`scope_insufficient`), or its app is not configured (`app_unknown`).
      content:
        application/problem+json:
          schema:
            $ref: '#/components/schemas/Problem'
    Conflict:
      description: |
        It cannot be so any more: the order is in another state, the purchase is claimed (`already_claimed`), or the balance
        is too small (`balance_insufficient`).
      content:
        application/problem+json:
          schema:
            $ref: '#/components/schemas/Problem'
    ContentTooLarge:
      description: The body is larger than the server takes (`body_too_large`).
      content:
        application/problem+json:
          schema:
            $ref: '#/components/schemas/Problem'
    Unprocessable:
      description: |
        The evidence does not prove the claim, with its code; or `product_unknown`, `consumption_conflict`,
        `idempotency_key_reused`.
      content:
        application/problem+json:
          schema:
            $ref: '#/components/schemas/Problem'
    TooManyRequests:
      description: Too many requests of this key or address (`rate_limited`).
      headers:
        Retry-After:
          description: After how many seconds to try again.
          schema: { type: integer, minimum: 1 }
      content:
        application/problem+json:
          schema:
            $ref: '#/components/schemas/Problem'
    Failed:
      description: |
        A mistake of ours (`internal_server_error`, `database_error`, `database_constraint`). Nothing was written.
      content:
        application/problem+json:
          schema:
            $ref: '#/components/schemas/Problem'
    Unavailable:
      description: |
        The database cannot be written or read now (`database_full`, `database_busy`, `database_read_only`…), or too many
        bodies are held (`server_busy`). Nothing was written.
      headers:
        Retry-After:
          description: After how many seconds to try again.
          schema: { type: integer, minimum: 1 }
      content:
        application/problem+json:
          schema:
            $ref: '#/components/schemas/Problem'

  schemas:
    VerifyReceiptRequest:
      description: |
        What a client posts (Apple, "requestBody"). Other members are ignored.
      type: object
      required: [receipt-data]
      properties:
        receipt-data:
          type: string
          description: |
            The app receipt or the transaction receipt (iOS 6 and earlier) in base64. Line breaks, the URL alphabet, missing padding and plus signs that became
            spaces are repaired. Absent, or no string, it counts as empty and is answered with 21002.
          contentEncoding: base64
        password:
          type: string
          description: |
            The app's shared secret. Where the server was given one, a password that is sent must be it, and receipts
            with auto-renewable subscriptions must come with it: otherwise the status is 21004. Where the server was
            given none, the password is not looked at. A value that is no string counts as absent.
        exclude-old-transactions:
          description: |
            Whether `latest_receipt_info` shall hold only the latest period of each auto-renewable subscription. A
            boolean, as Apple documents it; since clients write it in other ways, an integer other than 0, and the
            strings `true` and `1`, count as true, too. Anything else is false.
          type: [boolean, integer, string]
          default: false

    VerifyReceiptResponse:
      description: |
        What `verifyReceipt` answers (Apple, "responseBody"), as far as the receipt alone can prove it. With the
        statuses 0 and 21006 it holds the receipt; with any other status it holds the status and nothing else.
      oneOf:
        - $ref: '#/components/schemas/VerifiedReceipt'
        - $ref: '#/components/schemas/VerifiedTransactionReceipt'
        - $ref: '#/components/schemas/ExpiredTransactionReceipt'
        - $ref: '#/components/schemas/VerifyReceiptRefusal'

    VerifyReceiptRefusal:
      description: An answer without a receipt.
      type: object
      required: [status]
      properties:
        status:
          type: integer
          description: |
            - 21000: the request was no POST, or its body no JSON object.
            - 21002: the receipt data is malformed.
            - 21003: the receipt is not authentic, its content is not what the format prescribes, or its environment
              is not accepted.
            - 21004: the shared secret is absent or wrong.
            - 21007: a receipt of another environment at the production address.
            - 21008: a production receipt at the sandbox address.
            - 21009: the server answers as many requests as it may, or the request did not arrive whole; try again.

            Apple's other status codes are not sent.
          enum: [21000, 21002, 21003, 21004, 21007, 21008, 21009]

    VerifiedTransactionReceipt:
      description: |
        An answer with status 0 to a transaction receipt. Of a subscription whose period lasts, the receipt stands there
        once more as the latest one, which is an object here.
      type: object
      required: [receipt, status]
      dependentRequired:
        latest_receipt_info: [latest_receipt]
        latest_receipt: [latest_receipt_info]
      not: { required: [environment] }
      properties:
        receipt:
          $ref: '#/components/schemas/FlatReceipt'
        latest_receipt_info:
          $ref: '#/components/schemas/FlatReceipt'
        latest_receipt:
          description: The receipt that was sent, in base64.
          type: string
          contentEncoding: base64
        status:
          type: integer
          const: 0

    ExpiredTransactionReceipt:
      description: |
        An answer with status 21006: the transaction receipt is genuine, and the period of its subscription is over.
        Whether it was renewed since, the receipt cannot say.
      type: object
      required: [receipt, latest_expired_receipt_info, status]
      properties:
        receipt:
          $ref: '#/components/schemas/FlatReceipt'
        latest_expired_receipt_info:
          $ref: '#/components/schemas/FlatReceipt'
        status:
          type: integer
          const: 21006

    FlatReceipt:
      description: |
        The signed keys of a transaction receipt with underscores for hyphens, in the order of the receipt. Every value
        is a string. Keys that are not listed here may be there, too.
      type: object
      required: [product_id, transaction_id]
      properties:
        bid:
          description: The bundle id of the app.
          type: string
        bvrs:
          description: The version of the app.
          type: string
        product_id:
          type: string
        transaction_id:
          type: string
        original_transaction_id:
          type: string
        quantity:
          type: string
        purchase_date:
          type: string
        expires_date:
          description: The end of the period in milliseconds since 1970.
          type: string
        expires_date_formatted:
          type: string
        unique_identifier:
          type: string
        unique_vendor_identifier:
          type: string
      additionalProperties:
        type: string

    VerifiedReceipt:
      description: |
        An answer with status 0. The members stand in the order of this list, which is Apple's since late 2020.
      type: object
      required: [environment, receipt, status]
      dependentRequired:
        latest_receipt_info: [latest_receipt]
        latest_receipt: [latest_receipt_info]
      properties:
        environment:
          type: string
          description: |
            `Production` or `Sandbox`; `Xcode`, or the name of another local environment, where the operator accepts it.
          examples: [Production, Sandbox, Xcode]
        receipt:
          $ref: '#/components/schemas/Receipt'
        latest_receipt_info:
          description: |
            All purchases of the receipt, newest first; those of the same moment in the order of the receipt. Only
            where it holds an auto-renewable subscription.
          type: array
          items:
            $ref: '#/components/schemas/InAppPurchase'
        latest_receipt:
          description: The receipt that was sent, in base64. Only together with `latest_receipt_info`.
          type: string
          contentEncoding: base64
        status:
          type: integer
          const: 0

    Receipt:
      description: |
        What the receipt says of the app (Apple, "responseBody.Receipt"). The members stand in the order of this list.
        The four numbers are always there, and `null` where the receipt does not have them; anything else that it does
        not have is left out.

        The numbers are 64 bits wide, and `download_id` is usually beyond 2^53: a reader that holds numbers as
        floating point, as JavaScript does, rounds it.
      type: object
      required:
        - receipt_type
        - adam_id
        - app_item_id
        - download_id
        - version_external_identifier
        - receipt_creation_date
        - receipt_creation_date_ms
        - receipt_creation_date_pst
        - request_date
        - request_date_ms
        - request_date_pst
        - in_app
      properties:
        receipt_type:
          type: string
          description: |
            `Production`, `ProductionVPP`, `ProductionSandbox` or `ProductionVPPSandbox`; `Xcode` or another name
            where the operator accepts that environment.
          examples: [Production, ProductionVPP, ProductionSandbox, ProductionVPPSandbox, Xcode]
        adam_id:
          $ref: '#/components/schemas/Number'
          description: The App Store's number of the app; 0 in the sandbox.
        app_item_id:
          $ref: '#/components/schemas/Number'
          description: The same number once more.
        bundle_id:
          type: string
        application_version:
          type: string
        download_id:
          $ref: '#/components/schemas/Number'
        version_external_identifier:
          $ref: '#/components/schemas/Number'
          description: The App Store's number of the app's version; 0 in the sandbox.
        receipt_creation_date:
          $ref: '#/components/schemas/Date'
          description: When the receipt was signed.
        receipt_creation_date_ms:
          $ref: '#/components/schemas/DateMilliseconds'
        receipt_creation_date_pst:
          $ref: '#/components/schemas/DatePacific'
        request_date:
          $ref: '#/components/schemas/Date'
          description: When the request came, by the server's clock.
        request_date_ms:
          $ref: '#/components/schemas/DateMilliseconds'
        request_date_pst:
          $ref: '#/components/schemas/DatePacific'
        original_purchase_date:
          $ref: '#/components/schemas/Date'
          description: When the app was first bought.
        original_purchase_date_ms:
          $ref: '#/components/schemas/DateMilliseconds'
        original_purchase_date_pst:
          $ref: '#/components/schemas/DatePacific'
        original_application_version:
          type: string
          description: The version of the app that was first bought; `1.0` in the sandbox.
        expiration_date:
          $ref: '#/components/schemas/Date'
          description: When the receipt ends. Only with the Volume Purchase Program, and from Xcode.
        expiration_date_ms:
          $ref: '#/components/schemas/DateMilliseconds'
        expiration_date_pst:
          $ref: '#/components/schemas/DatePacific'
        in_app:
          type: array
          description: The purchases in the order of the receipt; empty where there are none.
          items:
            $ref: '#/components/schemas/InAppPurchase'
      dependentRequired:
        original_purchase_date: [original_purchase_date_ms, original_purchase_date_pst]
        expiration_date: [expiration_date_ms, expiration_date_pst]

    InAppPurchase:
      description: |
        What the receipt says of one purchase (Apple, "responseBody.Receipt.In_app" and
        "responseBody.Latest_receipt_info"). The members stand in the order of this list, and every one of them is a
        string, numbers and booleans included. What the receipt does not have is left out.
      type: object
      required: [product_id, transaction_id]
      properties:
        quantity:
          $ref: '#/components/schemas/Digits'
        product_id:
          type: string
        transaction_id:
          type: string
        original_transaction_id:
          type: string
        purchase_date:
          $ref: '#/components/schemas/Date'
        purchase_date_ms:
          $ref: '#/components/schemas/DateMilliseconds'
        purchase_date_pst:
          $ref: '#/components/schemas/DatePacific'
        original_purchase_date:
          $ref: '#/components/schemas/Date'
        original_purchase_date_ms:
          $ref: '#/components/schemas/DateMilliseconds'
        original_purchase_date_pst:
          $ref: '#/components/schemas/DatePacific'
        expires_date:
          $ref: '#/components/schemas/Date'
          description: When the paid period ends. Only for auto-renewable subscriptions.
        expires_date_ms:
          $ref: '#/components/schemas/DateMilliseconds'
        expires_date_pst:
          $ref: '#/components/schemas/DatePacific'
        cancellation_date:
          $ref: '#/components/schemas/Date'
          description: When Apple took the purchase back, if the receipt knows of it.
        cancellation_date_ms:
          $ref: '#/components/schemas/DateMilliseconds'
        cancellation_date_pst:
          $ref: '#/components/schemas/DatePacific'
        web_order_line_item_id:
          $ref: '#/components/schemas/Digits'
          description: The order line of a subscription period. Left out where the receipt has 0, as for other products.
        is_trial_period:
          $ref: '#/components/schemas/Flag'
        is_in_intro_offer_period:
          $ref: '#/components/schemas/Flag'
        in_app_ownership_type:
          type: string
          enum: [PURCHASED, FAMILY_SHARED]
          description: Left out before 2021, and where the receipt has a number without a known meaning.
        promotional_offer_id:
          type: string
      dependentRequired:
        purchase_date: [purchase_date_ms, purchase_date_pst]
        original_purchase_date: [original_purchase_date_ms, original_purchase_date_pst]
        expires_date: [expires_date_ms, expires_date_pst]
        cancellation_date: [cancellation_date_ms, cancellation_date_pst]

    Number:
      description: A number as a number; `null` where the receipt does not have it.
      type: [integer, 'null']
      format: uint64
      minimum: 0
      maximum: 18446744073709551615
    Digits:
      description: A number as a string.
      type: string
      pattern: '^[0-9]+$'
    Flag:
      description: A boolean as a string.
      type: string
      enum: ['true', 'false']
    Date:
      description: A date in Greenwich. Each date comes three times.
      type: string
      pattern: '^[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2} Etc/GMT$'
    DateMilliseconds:
      description: |
        The same date in milliseconds since 1970, as a string. It ends in 000 but for `request_date_ms`: a fraction of a
        second in the receipt is cut off.
      type: string
      pattern: '^-?[0-9]+$'
    DatePacific:
      description: The same date on the clock of Los Angeles, daylight saving included.
      type: string
      pattern: '^[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2} America/Los_Angeles$'

    Readiness:
      type: object
      required: [status]
      properties:
        status:
          type: string
          const: ready

    Identifier:
      description: A name of at most 256 bytes of UTF-8, without control characters, and not white space alone.
      type: string
      minLength: 1
      maxLength: 256
      pattern: '^[^\u0000-\u001f\u007f-\u009f]*[^\s\u0000-\u001f\u007f-\u009f][^\u0000-\u001f\u007f-\u009f]*$'
    Quantity:
      description: How many.
      type: integer
      minimum: 1
      maximum: 1000000000
    Time:
      type: string
      format: date-time
    OrderStatus:
      type: string
      enum: [created, paid, fulfilled, expired, cancelled, refunded]

    OrderRequest:
      description: What a customer is about to pay. Other members are ignored.
      type: object
      required: [customer_id, product_id]
      properties:
        customer_id:
          $ref: '#/components/schemas/Identifier'
          description: The customer, by the operator's own name for him.
        product_id:
          $ref: '#/components/schemas/Identifier'
          description: The product.
        quantity:
          $ref: '#/components/schemas/Quantity'
          default: 1
        metadata:
          type: object
          maxProperties: 20
          propertyNames: { maxLength: 40, pattern: '^[^\u0000]*$' }
          additionalProperties: { type: string, maxLength: 200, pattern: '^[^\u0000]*$' }
          description: Whatever the operator wants to keep with it.

    Order:
      description: An order.
      type: object
      required: [order_id, customer_id, product_id, quantity, app_account_token, status, created_at, expires_at]
      properties:
        order_id:
          type: string
          description: Its name.
        customer_id:
          type: string
          description: The customer.
        product_id:
          type: string
          description: The product.
        quantity:
          $ref: '#/components/schemas/Quantity'
        metadata:
          type: object
          additionalProperties: { type: string }
        app_account_token:
          type: string
          format: uuid
          description: The UUID to hand to StoreKit 2.
        status:
          $ref: '#/components/schemas/OrderStatus'
        created_at:
          $ref: '#/components/schemas/Time'
          description: When it was made.
        expires_at:
          $ref: '#/components/schemas/Time'
          description: Until when it waits for its payment.
        paid_at:
          $ref: '#/components/schemas/Time'
          description: When it was paid.
        fulfilled_at:
          $ref: '#/components/schemas/Time'
          description: When it was fulfilled.
        closed_at:
          $ref: '#/components/schemas/Time'
          description: When it was cancelled or refunded.
        environment:
          type: string
          description: Where the purchase that paid it was made.
        transaction_id:
          type: string
          description: The transaction that paid it.

    OrderList:
      description: A page of orders.
      type: object
      required: [orders]
      properties:
        orders:
          type: array
          items:
            $ref: '#/components/schemas/Order'
        next_cursor:
          type: string
          description: Where the next page begins; absent on the last.

    PurchaseRequest:
      description: Evidence and a claim. Other members are ignored.
      type: object
      required: [product_id, transaction_id]
      properties:
        receipt_data:
          type: string
          minLength: 1
          description: An app receipt or a transaction receipt, in base64.
        signed_transaction:
          type: string
          minLength: 1
          description: A signed transaction of StoreKit 2 (JWS).
        product_id:
          $ref: '#/components/schemas/Identifier'
          description: The product.
        transaction_id:
          $ref: '#/components/schemas/Identifier'
          description: The transaction; decisive where a receipt holds several.
        order_id:
          $ref: '#/components/schemas/Identifier'
          description: The order that it pays.
        customer_id:
          $ref: '#/components/schemas/Identifier'
          description: The customer whom it is for.
        quantity:
          $ref: '#/components/schemas/Quantity'
      allOf:
        - oneOf:
            - required: [receipt_data]
            - required: [signed_transaction]
        - anyOf:
            - required: [order_id]
            - required: [customer_id]

    PurchaseAnswer:
      description: A purchase that was accepted.
      type: object
      required: [verdict, code, replayed, submission_id, transaction]
      properties:
        verdict:
          type: string
          const: accepted
        code:
          type: string
          const: accepted
        replayed:
          type: boolean
          description: Whether it was accepted before; then nothing was granted anew.
        submission_id:
          type: string
          description: The submission in the record.
        transaction:
          $ref: '#/components/schemas/Purchase'
        order:
          $ref: '#/components/schemas/Order'
        entitlement:
          $ref: '#/components/schemas/Entitlement'

    Purchase:
      description: A purchase as it is recorded.
      type: object
      required: [transaction_id, original_transaction_id, product_id, product_type, quantity, environment, customer_id, kind, state, purchased_at, recorded_at, submission_id]
      properties:
        transaction_id:
          type: string
          description: The transaction.
        original_transaction_id:
          type: string
          description: The first transaction of a subscription or of a restored product.
        product_id:
          type: string
          description: The product.
        product_type:
          type: string
          enum: [consumable, non_consumable, auto_renewable, non_renewing]
        quantity:
          $ref: '#/components/schemas/Quantity'
        environment:
          type: string
          description: Where it was made.
        customer_id:
          type: string
          description: Who owns it.
        order_id:
          type: string
          description: The order that it paid.
        kind:
          type: string
          enum: [bought, renewed, restored]
        state:
          type: string
          enum: [active, withdrawn]
        purchased_at:
          $ref: '#/components/schemas/Time'
          description: When it was bought.
        expires_at:
          $ref: '#/components/schemas/Time'
          description: When the paid period ends.
        withdrawn_at:
          $ref: '#/components/schemas/Time'
          description: When the App Store took it back.
        recorded_at:
          $ref: '#/components/schemas/Time'
          description: When it was recorded.
        submission_id:
          type: string
          description: The submission that was accepted.

    PurchaseList:
      description: Purchases.
      type: object
      required: [purchases]
      properties:
        purchases:
          type: array
          items:
            $ref: '#/components/schemas/Purchase'
        next_cursor:
          type: string
          description: Where the next page begins; absent on the last.

    Entitlement:
      description: What a customer may use of a product, and why.
      type: object
      required: [product_id, type, environment, state, since, transaction_id, why, updated_at]
      properties:
        product_id:
          type: string
          description: The product.
        type:
          type: string
          enum: [consumable, non_consumable, auto_renewable, non_renewing]
        environment:
          type: string
          description: Where it was bought.
        state:
          type: string
          enum: [active, consumed, expired, withdrawn, moved]
          description: Only `active` entitles.
        balance:
          type: integer
          minimum: 0
          description: How many are left; only of consumables.
        since:
          $ref: '#/components/schemas/Time'
          description: Since when.
        until:
          $ref: '#/components/schemas/Time'
          description: Until when; absent where it does not end.
        transaction_id:
          type: string
          description: The transaction that it rests on.
        why:
          type: string
          enum: [bought, renewed, extended, restored, moved, cancelled, revoked, upgraded, withdrawn, consumed]
        updated_at:
          $ref: '#/components/schemas/Time'
          description: When it changed last.

    EntitlementList:
      description: The entitlements of a customer.
      type: object
      required: [customer_id, entitlements]
      properties:
        customer_id:
          type: string
          description: The customer.
        entitlements:
          type: array
          items:
            $ref: '#/components/schemas/Entitlement'

    ConsumptionRequest:
      description: What is to be taken. Other members are ignored.
      type: object
      required: [product_id]
      properties:
        product_id:
          $ref: '#/components/schemas/Identifier'
          description: The product.
        quantity:
          $ref: '#/components/schemas/Quantity'
          default: 1
        consumption_id:
          $ref: '#/components/schemas/Identifier'
          description: The sender's name for it, so that it is made once.
        environment:
          $ref: '#/components/schemas/Identifier'
          description: Of which balance; the only one, or that of production, where it is left out.

    Consumption:
      description: Something taken from a balance.
      type: object
      required: [consumption_id, customer_id, product_id, environment, quantity, balance, consumed_at, replayed]
      properties:
        consumption_id:
          type: string
          description: Its name.
        customer_id:
          type: string
          description: The customer.
        product_id:
          type: string
          description: The product.
        environment:
          type: string
          description: Of which balance.
        quantity:
          $ref: '#/components/schemas/Quantity'
        balance:
          type: integer
          minimum: 0
          description: What was left then.
        consumed_at:
          $ref: '#/components/schemas/Time'
          description: When.
        replayed:
          type: boolean
          description: Whether an earlier request took it.

    Submission:
      description: A submission as it stands in the record.
      type: object
      required: [submission_id, sequence, received_at, decided_at, verdict, code, replayed, hash]
      properties:
        submission_id:
          type: string
          description: Its name.
        sequence:
          type: integer
          minimum: 1
          description: Its place in the record.
        received_at:
          $ref: '#/components/schemas/Time'
          description: When it came.
        decided_at:
          $ref: '#/components/schemas/Time'
          description: When it was decided.
        verdict:
          type: string
          enum: [accepted, rejected]
        code:
          type: string
          description: Why.
        expected:
          type: string
          description: What was asked for.
        found:
          type: string
          description: What was found instead.
        replayed:
          type: boolean
        customer_id:
          type: string
          description: As it was sent.
        order_id:
          type: string
          description: As it was sent.
        product_id:
          type: string
          description: As it was sent.
        transaction_id:
          type: string
          description: As it was sent.
        quantity:
          type: integer
        environment:
          type: string
          description: Where the claimed purchase was made, if it is proven.
        evidence_kind:
          type: string
          description: What the evidence is, by its form.
        evidence_sha256:
          type: string
          description: SHA-256 of the evidence as it was sent.
        key_id:
          type: string
          description: The key that it came with.
        source_address:
          type: string
          description: The address that it came from.
        hash:
          type: string
          description: Its hash in the chain.

    SubmissionList:
      description: A page of submissions, newest first.
      type: object
      required: [submissions]
      properties:
        submissions:
          type: array
          items:
            $ref: '#/components/schemas/Submission'
        next_cursor:
          type: string
          description: Where the next page begins; absent on the last.

    Health:
      type: object
      required: [status]
      properties:
        status:
          type: string
          const: ok

    Problem:
      description: A problem document (RFC 9457).
      type: object
      required: [type, title, status, code]
      properties:
        type:
          type: string
          const: 'about:blank'
        title:
          type: string
          description: The name of the HTTP status.
        status:
          type: integer
          description: The HTTP status.
        code:
          type: string
          description: |
            The stable code. Where nothing more can be said, the name of the HTTP status in small letters, with underscores.
          pattern: '^[a-z0-9_-]+$'
        detail:
          type: string
          description: A sentence for people; it may change.
        expected:
          type: string
          description: What was asked for.
        found:
          type: string
          description: What was found instead.
        verdict:
          type: string
          const: rejected
          description: Only of purchases.
        replayed:
          type: boolean
          description: Only of purchases.
        submission_id:
          type: string
          description: The submission in the record; only of purchases.

"""##
