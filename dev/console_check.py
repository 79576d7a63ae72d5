#!/usr/bin/env python3
"""Opens every page of the console in Chromium: light, dark and 400 px wide, without JavaScript, with the rules of axe,
and solves the three usual complaints, and three cases of "paid and got nothing", with the keyboard alone, by the text
and links of the pages.

Needs playwright, /usr/bin/chromium and the file axe.min.js (in the wheel axe-playwright-python of PyPI):

    dev/console_check.py PATH/axe.min.js [FOLDER FOR PICTURES [PROGRAM]]
"""
import base64
import http.client
import http.server
import json
import os
import pathlib
import re
import ssl
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request

from playwright.sync_api import sync_playwright

from servers import World, ask, free_port, mint

PASSWORD = "correct horse battery"
PRO, MONTHLY, COINS = (f"com.example.app.{name}" for name in ("pro", "monthly", "coins"))
# As long as App Store Connect permits, and without a place to break.
LONG = "com.example.app." + "averylongname" * 6 + "123456"
SETTINGS = f"""
server: {{{{ trust: [{{trust}}], admin: "{{admin}}" }}}}
apps:
  example:
    bundle_ids: [com.example.app]
    sandbox_access: everyone
    products:
      {PRO}: {{{{ kind: non_consumable }}}}
      {MONTHLY}: {{{{ kind: auto_renewable }}}}
      {COINS}: {{{{ kind: consumable }}}}
      {LONG}: {{{{ kind: non_consumable }}}}
"""


SALE = {"lineItemId": "item-1", "creationDate": 1, "eventType": "BUY", "productType": "ONE_TIME_BUY", "quantity": 1, "reportingCurrency": "EUR",
        "productIdentifier": COINS, "pricingCurrency": "EUR", "taxCountry": "ESP", "amountTaxExclusive": 1, "taxAmount": 0,
        "amountTaxInclusive": 1, "netAmountTaxExclusive": 1}


class Console(World):
    """A server with a console, and an authority that signs for it."""

    def __init__(self, program, folder):
        self.authority, self.admin = f"{folder}/authority", f"127.0.0.1:{free_port()}"
        mint(program, folder, "--authority", self.authority)
        super().__init__(program, folder, settings=SETTINGS.format(trust=f"{self.authority}/trust.pem", admin=self.admin))
        self.server = self.start()

    def url(self, path):
        return f"http://{self.admin}{path}"

    def sign_in(self, page, origin, name, role):
        """Sets the first password, which signs in."""
        page.goto(origin + self.run("operators", "add", name, "--role", role).splitlines()[0])
        page.fill("#password", PASSWORD)
        page.fill("#again", PASSWORD)
        page.keyboard.press("Enter")
        page.wait_for_url("**/console")

    def evidence(self, purchase, kind="signed-transaction", bought=-2):
        return mint(self.program, self.folder, "--authority", self.authority, "--kind", kind, "--environment", "Production",
                    "--bundle-id", "com.example.app", "--purchase", f"{purchase},purchased={moment(bought)}")

    def claim(self, product, transaction, customer, kind="non-consumable", more="", bought=-2, cut=None):
        """A customer claims a purchase by its evidence, which may be cut; returns the evidence."""
        evidence = self.evidence(f"product={product},transaction={transaction},kind={kind}{more}", bought=bought)[:cut]
        ask(self.server.address, "/v1/purchases", {
            "signed_transaction": evidence, "product_id": product, "transaction_id": transaction, "customer_id": customer}, self.key)
        return evidence


def moment(days):
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() - 60 + days * 86400))


class Support:
    """Somebody who knows what a customer said, sees the text of a page and its links, and has a keyboard."""

    def __init__(self, page):
        self.page, self.steps = page, []

    def search(self, text):
        """Two steps: the box has the focus when the page opens."""
        self.page.locator("#q:focus").wait_for()
        self.page.keyboard.type(text)
        with self.page.expect_navigation():
            self.page.keyboard.press("Enter")
        self.steps += [f"type {text}", "press Enter"]

    def follow(self, text):
        """A link, by its text, with the keyboard."""
        self.page.get_by_role("link", name=text, exact=True).first.focus()
        with self.page.expect_navigation():
            self.page.keyboard.press("Enter")
        self.steps.append(f"follow {text}")

    def give(self, customer):
        """The form of a held purchase."""
        self.page.get_by_text("Give it to…").first.focus()
        self.page.keyboard.press("Enter")
        for text in (customer, "the customer showed Apple's mail"):
            self.page.keyboard.press("Tab")
            self.page.keyboard.type(text)
        with self.page.expect_navigation():
            self.page.keyboard.press("Enter")
        self.steps += ["open Give it to…", f"type {customer}", "type the reason", "press Enter"]

    def read(self, heading):
        """The part of the page under the customer's words, up to the next heading."""
        self.steps.append(f"read under {heading}")
        text = self.page.inner_text("main")
        assert heading in text, (self.page.url, text[:800])
        return re.split(r"\n\s*(?:“|What the customer may use|Who claimed it|Give it to)", text[text.index(heading):])[0]


def main():
    axe, *rest = sys.argv[1:]
    pictures = pathlib.Path(rest[0]) if rest else None
    program = os.path.abspath(rest[1] if len(rest) > 1 else pathlib.Path(__file__).resolve().parent.parent / ".build/release/assay")
    with tempfile.TemporaryDirectory(prefix="assay-console-") as folder, sync_playwright() as playwright:
        world = Console(program, folder)
        try:
            check(world, playwright, pathlib.Path(axe).read_text(), pictures)
        finally:
            world.stop()


def inspected(view, axe, name):
    """The number of axe's findings, and 1 more if the page is wider than the window."""
    overflow = view.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    if overflow > 0:
        print(f"{name}: {overflow} px wider than the window")
    view.evaluate(axe)
    result = view.evaluate("axe.run({runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'best-practice']})")
    for violation in result["violations"]:
        print(f"{name}: {violation['id']}: {violation['nodes'][0]['html'][:160]}")
    return len(result["violations"]) + (overflow > 0)


def check_refusals(world, browser):
    """Forms without a token, of another origin or beyond the role, and a name after wrong passwords."""
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    world.sign_in(page, world.url(""), "vera", "view")
    token = page.locator("header form [name=token]").get_attribute("value")
    grant = {"app": "example", "id": "ghost", "act": "grant", "target": PRO, "reason": "x"}

    def post(path, fields, **headers):
        return context.request.post(world.url(path), form=fields, headers=headers, max_redirects=0).status

    assert post("/console/customer", grant) == 403
    assert post("/console/customer", {**grant, "token": "x"}) == 403
    assert post("/console/customer", {**grant, "token": token}) == 403
    assert post("/console/inspect", {"token": token, "evidence": "x"}, Origin="http://evil.example") == 403
    assert post("/console/inspect", {"token": token, "evidence": "x"}) == 200
    assert context.request.get(world.url("/console/customer?app=example&id=ghost")).status == 400
    kept = context.cookies()
    assert kept[0]["httpOnly"] and kept[0]["sameSite"] == "Strict"
    assert post("/console/sign-out", {"token": token}) == 303
    context.add_cookies(kept)
    assert context.request.get(world.url("/console"), max_redirects=0).status == 303
    guesses = [post("/console/sign-in", {"name": "vera", "password": "guess"}) for _ in range(5)]
    assert guesses == [403] * 5
    assert post("/console/sign-in", {"name": "vera", "password": PASSWORD}) == 403
    context.close()
    print("refused: no token, wrong token, role, origin, ended session, locked name")


def tab_to(page, selector, most=200):
    """Presses Tab until an element has the focus."""
    for count in range(most):
        page.keyboard.press("Tab")
        if page.locator(f"{selector}:focus").count():
            return count + 1
    raise AssertionError(f"{selector} cannot be reached with Tab on {page.url}")


def check_keyboard(world, page):
    """Grants and ends a grant with the keyboard alone."""
    page.goto(world.url("/console/customer?app=example&id=alice"))
    tab_to(page, "details.act summary")
    page.keyboard.press("Enter")
    # A list of choices takes the letters that are typed, too.
    for field, text in [("target", LONG), ("second", "1"), ("reason", "goodwill")]:
        tab_to(page, f"#grant-{field}")
        page.keyboard.type(text)
    tab_to(page, "details.act[open] button")
    with page.expect_navigation():
        page.keyboard.press("Enter")
    assert f"{LONG} is active" in page.inner_text("main"), page.inner_text("main")[:400]
    tab_to(page, "div.act input[name=reason]")
    page.keyboard.type("a mistake")
    with page.expect_navigation():
        page.keyboard.press("Enter")
    assert "was ended" in page.inner_text("main")
    print("keyboard: granted and ended a grant without a mouse")


def check_double_click(world, page):
    page.goto(world.url("/console/customer?app=example&id=bob"))
    page.locator("details.act summary").first.click()
    page.select_option("#grant-target", COINS)
    for field, text in [("second", "5"), ("reason", "sorry")]:
        page.fill(f"#grant-{field}", text)
    page.locator("details.act[open] button").dblclick()
    page.wait_for_url("**done=grant**")
    page.goto(world.url("/console/customer?app=example&id=bob"))
    assert page.inner_text("main").count(f"Granted: {COINS}") == 1
    print("double click: granted once")


def check_files(world, page, folder):
    """The proof of a purchase, the inspection of a file, and its copy without identifiers."""
    page.goto(world.url("/console/purchase?app=example&id=1001"))
    with page.expect_download() as download:
        page.get_by_role("link", name=re.compile("Download the proof")).first.click()
    proof = f"{folder}/proof.json"
    download.value.save_as(proof)
    evidence = json.loads(pathlib.Path(proof).read_text())["evidence"]
    assert evidence, proof
    file = pathlib.Path(folder, "evidence.bin")
    file.write_bytes(base64.b64decode(evidence))
    page.goto(world.url("/console/inspect"))
    page.set_input_files("#file", file)
    page.get_by_role("button", name="Inspect").click()
    assert "Genuine." in page.inner_text("main"), page.inner_text("main")[:500]
    page.get_by_text("A copy without identifiers").click()
    with page.expect_download() as download:
        page.get_by_role("link", name="Save it").click()
    download.value.save_as(f"{folder}/inspection.txt")
    text = pathlib.Path(folder, "inspection.txt").read_text()
    assert "redacted-1" in text and "1001" not in text, text[:800]
    print("files: a proof saved, its evidence inspected as a file, a copy without identifiers saved")


def check_tls(world, browser, folder):
    """Through a proxy with TLS, a session has the cookie __Host-, and the cookie is for TLS alone."""
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", "/CN=localhost",
                    "-keyout", f"{folder}/proxy.key", "-out", f"{folder}/proxy.pem"], check=True, capture_output=True)

    class Proxy(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def forward(self):
            length = int(self.headers.get("Content-Length") or 0)
            upstream = http.client.HTTPConnection(world.admin)
            headers = {name: value for name, value in self.headers.items() if name.lower() != "host"}
            upstream.request(self.command, self.path, self.rfile.read(length),
                             {**headers, "Host": "localhost", "X-Forwarded-Proto": "https"})
            answer = upstream.getresponse()
            body = answer.read()
            self.send_response(answer.status)
            for name, value in answer.getheaders():
                if name.lower() not in ("content-length", "connection", "transfer-encoding"):
                    self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_GET = do_POST = forward

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Proxy)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(f"{folder}/proxy.pem", f"{folder}/proxy.key")
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    context = browser.new_context(java_script_enabled=False, ignore_https_errors=True)
    page = context.new_page()
    origin = f"https://localhost:{server.server_port}"
    world.sign_in(page, origin, "tess", "support")
    cookie = context.cookies()[0]
    assert cookie["name"] == "__Host-assay_console" and cookie["secure"] and cookie["httpOnly"], cookie
    page.goto(origin + "/console/customer?app=example&id=alice")
    page.locator("details.act summary").first.click()
    page.select_option("#grant-target", PRO)
    page.fill("#grant-reason", "through a proxy")
    page.locator("details.act[open] button").click()
    page.wait_for_url("**done=grant**")
    context.close()
    server.shutdown()
    print("TLS: signed in and granted through a proxy, with a cookie for TLS alone")


def state(world, path, body):
    status, answer = ask(world.server.address, "/v1/external-purchases" + path, body, world.new_key("backend"))[:2]
    assert status in (200, 201), (path, status, answer)


def sell(world, page, plain):
    """What the customers of the check bought; returns the evidence of the first purchase."""
    bought = [world.claim(PRO, "1001", customer) for customer in ("alice", "mallory")][0]
    for number in ("2001", "2002"):
        world.claim(COINS, number, "bob", "consumable")
    # Carol's purchase was refunded. Nina's only evidence is broken; Zoe is written differently in her mail.
    for more in ("", f",cancelled={moment(0)}"):
        world.claim(PRO, "3001", "carol", more=more)
    world.claim(PRO, "4001", "nina", cut=-8)
    world.claim(PRO, "4002", "Zoë@Example.com")
    # Nobody claimed 5001, of which Apple told.
    told = world.evidence(f"product={PRO},transaction=5001,kind=non-consumable", "notification")
    assert ask(world.server.address, "/notifications/v2", {"signedPayload": told})[0] == 200
    # Dora's second of three months was refunded.
    for number, refunded in ((1, ""), (2, ""), (3, ""), (2, f",cancelled={moment(0)}")):
        world.claim(MONTHLY, f"600{number}", "dora", "auto-renewable", f",original=6001,expires={moment(30 * number - 62)}{refunded}",
                    30 * number - 92)
    # An external purchase token with one sale. Without a key the report waits.
    token = {"bundleId": "com.example.app", "externalPurchaseId": "token-1", "tokenCreationDate": int(time.time() * 1000)}
    state(world, "", {"token": base64.urlsafe_b64encode(json.dumps(token).encode()).decode()})
    state(world, "/token-1/line-items", {"line_items": [SALE]})
    # A product whose name has no place to break, and a customer whose name is markup, without JavaScript.
    for customer, product in (("<script>x</script>", PRO), ("carol", LONG)):
        answer = plain.request.post(world.url("/console/customer"), form={
            "token": page.locator("header form [name=token]").get_attribute("value"), "app": "example", "id": customer,
            "act": "grant", "target": product, "reason": "goodwill"})
        assert answer.status == 200 and "<script" not in answer.text(), (answer.status, answer.text()[:500])
    return bought


PAID = "I paid and got nothing"
# What a customer said, what is searched for, what is followed or done, and sentences of the answer. Mallory gives the name, Bob the number
# of a transaction in the mail of the bank, Carol the transaction, too.
COMPLAINTS = [
    (PAID, "mallory", [], ["was not accepted", "already_claimed", "Read the sentence"]),
    ("I was charged twice", "2001", ["bob"], ["2 purchases", "each gave its units", "ask Apple for a refund"]),
    ("It was refunded", "3001", [], ["Apple withdrew transaction 3001", "The product is locked"]),
    (PAID, "nina", [], ["was not accepted", "jws_malformed", "Restore Purchases"]),
    (PAID, "zoe@example", ["Zoë@Example.com"], [f"{PRO} is active", "Restore Purchases"]),
    (PAID, "5001", [], ["Apple says that it was paid; nobody claimed it yet"]),
    (PAID, "5001", [lambda support: support.give("greta")], [f"{PRO} is active"]),
]


def check_complaints(world, page):
    for said, searched, acts, expected in COMPLAINTS:
        page.goto(world.url("/console"))
        support = Support(page)
        support.search(searched)
        for act in acts:
            act(support) if callable(act) else support.follow(act)
        answer = " ".join(support.read(said).split())
        for sentence in expected:
            assert sentence in answer, (said, searched, sentence, answer)
        assert len(support.steps) <= 7, support.steps
        print(f"“{said}”: {len(support.steps)} steps ({', '.join(support.steps)}): {answer[:200]}")


PAGES = {
    "sign-in": "/sign-in", "search": "", "not-found": "/search?q=nobody-of-this-name", "customer": "/customer?app=example&id=alice",
    "bob": "/customer?app=example&id=bob", "refunded": "/purchase?app=example&id=3001", "inspect": "/inspect", "state": "/state",
    "sent-again": "/customer?app=example&id=mallory", "operators": "/operators", "carol": "/customer?app=example&id=carol",
    "periods": "/customer?app=example&id=dora", "refused-only": "/customer?app=example&id=nina", "claimed": "/purchase?app=example&id=1001",
    "external": "/external?app=example", "external-token": "/external?app=example&id=token-1",
    "figures": "/figures?app=example&by=month", "figures-sandbox": "/figures?app=example&environment=Sandbox",
}


def check_pages(world, browser, plain, axe, pictures, evidence, claim):
    """Opens every page in both schemes and widths, and returns how many, and how many violations there were."""
    counts = []

    def look(view, name, scheme, width):
        counts.append(inspected(view, axe, f"{name} {scheme} {width}"))
        if pictures:
            pictures.mkdir(parents=True, exist_ok=True)
            view.screenshot(path=str(pictures / f"{name}-{scheme}-{width}.png"), full_page=True)
            if (name, scheme, width) == ("bob", "light", 1280):
                view.screenshot(path=str(pictures / "front.png"))

    for scheme, width in ((scheme, width) for scheme in ("light", "dark") for width in (1280, 400)):
        context = browser.new_context(color_scheme=scheme, viewport={"width": width, "height": 900},
                                      storage_state=plain.storage_state(), bypass_csp=True)
        for name, path in (PAGES | {"claim": claim}).items():
            view = context.new_page()
            view.goto(world.url("/console" + path))
            look(view, name, scheme, width)
            view.close()
        view = context.new_page()
        view.goto(world.url("/console/state"))
        view.get_by_role("button", name="Examine the installation").click()
        assert "The installation was examined" in view.inner_text("main"), view.inner_text("main")[:400]
        look(view, "examined", scheme, width)
        view.goto(world.url("/console/inspect"))
        view.fill("#evidence", evidence)
        view.get_by_role("button", name="Inspect").click()
        look(view, "inspected", scheme, width)
        for name, path in (("pack", "customer=alice"), ("pack-redacted", "customer=alice&redacted=yes")):
            view = context.new_page()
            view.set_content(plain.request.get(world.url(f"/console/pack?app=example&{path}")).text())
            assert ("alice" in view.content()) == (name == "pack"), name
            look(view, name, scheme, width)
        context.close()
    return len(counts), sum(counts)


def check_hosts(world):
    for host, expected in (("evil.example", 421), ("localhost", 200)):
        request = urllib.request.Request(world.url("/console/sign-in"), headers={"Host": host})
        try:
            status = urllib.request.urlopen(request).status
        except urllib.error.HTTPError as error:
            status = error.code
        assert status == expected, (host, status)


def check(world, playwright, axe, pictures):
    browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
    plain = browser.new_context(java_script_enabled=False)
    page = plain.new_page()
    world.sign_in(page, world.url(""), "admin", "admin")
    print("signed in without JavaScript")
    evidence = sell(world, page, plain)
    check_complaints(world, page)
    check_keyboard(world, page)
    check_double_click(world, page)
    check_files(world, page, world.folder)
    check_tls(world, browser, world.folder)
    page.goto(world.url("/console/customer?app=example&id=alice"))
    claim = page.locator("a[href^='/console/claim']").first.get_attribute("href").removeprefix("/console")
    opened, violations = check_pages(world, browser, plain, axe, pictures, evidence, claim)
    check_refusals(world, browser)
    check_hosts(world)
    print(f"{opened} pages opened, {violations} violations")
    if violations:
        sys.exit(1)


main()
