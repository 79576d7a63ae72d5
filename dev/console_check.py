#!/usr/bin/env python3
"""Opens every page of the console in Chromium: light, dark and 400 px wide, without JavaScript, with the rules of axe,
and solves the three usual complaints, and three cases of "paid and got nothing", with the keyboard alone, by the text
and links of the pages.

Needs playwright, /usr/bin/chromium and the file axe.min.js (in the wheel axe-playwright-python of PyPI):

    dev/console_check.py PATH/axe.min.js [FOLDER FOR PICTURES [PROGRAM]]
"""
import base64, http.client, http.server, json, pathlib, re, signal, ssl, subprocess, sys, tempfile, threading, time
import urllib.error, urllib.request

from playwright.sync_api import sync_playwright

from loads.server import ask

PROGRAM = sys.argv[3] if len(sys.argv) > 3 else pathlib.Path(__file__).resolve().parent.parent / ".build/release/assay"
PASSWORD = "correct horse battery"
SETTINGS = """
server: {{database: "sqlite:{folder}/assay.sqlite", port: {port}, admin: "127.0.0.1:{admin}"}}
apps:
  example:
    bundle_ids: [com.example.app]
    sandbox_access: everyone
    products:
      com.example.app.pro: {{kind: non_consumable}}
      com.example.app.monthly: {{kind: auto_renewable}}
      com.example.app.coins: {{kind: consumable}}
      {long}: {{kind: non_consumable}}
"""
# As long as App Store Connect permits, and without a place to break.
LONG = "com.example.app." + "averylongname" * 6 + "123456"


def free_port():
    import socket
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def run(*arguments):
    return subprocess.run([PROGRAM, *arguments], check=True, capture_output=True, text=True).stdout.strip()


class World:
    def __init__(self, folder):
        self.folder, self.port, self.admin = folder, free_port(), free_port()
        self.settings = f"{folder}/assay.yaml"
        pathlib.Path(self.settings).write_text(SETTINGS.format(folder=folder, port=self.port, admin=self.admin, long=LONG))
        self.trust = f"{folder}/authority"
        self.process = None

    def start(self, *more):
        self.process = subprocess.Popen([PROGRAM, "serve", "--config", self.settings, *more], stdout=subprocess.PIPE,
                                        stderr=open(f"{self.folder}/log", "w"), text=True)
        line = self.process.stdout.readline()
        assert "ready" in line, line + pathlib.Path(f"{self.folder}/log").read_text()

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(30)

    def url(self, path):
        return f"http://127.0.0.1:{self.admin}{path}"


def sign_in(page, origin, world, name, role):
    """Sets the first password, which signs in."""
    page.goto(origin + run("operators", "add", name, "--role", role, "--config", world.settings).splitlines()[0])
    page.fill("#password", PASSWORD)
    page.fill("#again", PASSWORD)
    page.keyboard.press("Enter")
    page.wait_for_url("**/console")


def moment(days):
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() - 60 + days * 86400))


def mint(world, purchase, kind="signed-transaction", bought=-2):
    return run("mint", "--authority", world.trust, "--kind", kind, "--environment", "Production",
               "--bundle-id", "com.example.app", "--purchase", f"{purchase},purchased={moment(bought)}")


def notify(world, notification):
    """Apple's news, without any claim."""
    assert ask(f"http://127.0.0.1:{world.port}", "/notifications/v2", {"signedPayload": notification})[0] == 200


def claims(world, product, transaction, customer, evidence):
    return ask(f"http://127.0.0.1:{world.port}", "/v1/purchases", {
        "signed_transaction": evidence, "product_id": product, "transaction_id": transaction, "customer_id": customer}, world.key)[1]


def claim_path(page, world):
    """The first claim of a customer's page."""
    page.goto(world.url("/console/customer?app=example&id=alice"))
    return page.locator("a[href^='/console/claim']").first.get_attribute("href")


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
    axe = pathlib.Path(sys.argv[1]).read_text()
    pictures = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else None
    with tempfile.TemporaryDirectory(prefix="assay-console-") as folder, sync_playwright() as playwright:
        world = World(folder)
        run("mint", "--authority", world.trust)
        world.start("--trust", f"{world.trust}/trust.pem")
        world.key = run("keys", "create", "--app", "example", "--scope", "client", "--config", world.settings).split()[-1]
        try:
            check(world, playwright, axe, pictures)
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
    sign_in(page, world.url(""), world, "vera", "view")
    token = page.locator("header form [name=token]").get_attribute("value")
    grant = {"app": "example", "id": "ghost", "act": "grant", "target": "com.example.app.pro", "reason": "x"}

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
    page.select_option("#grant-target", "com.example.app.coins")
    for field, text in [("second", "5"), ("reason", "sorry")]:
        page.fill(f"#grant-{field}", text)
    page.locator("details.act[open] button").dblclick()
    page.wait_for_url("**done=grant**")
    page.goto(world.url("/console/customer?app=example&id=bob"))
    assert page.inner_text("main").count("Granted: com.example.app.coins") == 1
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
            upstream = http.client.HTTPConnection("127.0.0.1", world.admin)
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
    sign_in(page, origin, world, "tess", "support")
    cookie = context.cookies()[0]
    assert cookie["name"] == "__Host-assay_console" and cookie["secure"] and cookie["httpOnly"], cookie
    page.goto(origin + "/console/customer?app=example&id=alice")
    page.locator("details.act summary").first.click()
    page.select_option("#grant-target", "com.example.app.pro")
    page.fill("#grant-reason", "through a proxy")
    page.locator("details.act[open] button").click()
    page.wait_for_url("**done=grant**")
    context.close()
    server.shutdown()
    print("TLS: signed in and granted through a proxy, with a cookie for TLS alone")


def check(world, playwright, axe, pictures):
    browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
    plain = browser.new_context(java_script_enabled=False)
    page = plain.new_page()
    sign_in(page, world.url(""), world, "admin", "admin")
    print("signed in without JavaScript")
    claim = lambda **fields: claims(world, **fields)
    # Alice bought, and Mallory sent the same purchase; Bob bought coins twice; Carol's purchase was refunded.
    bought = mint(world, "product=com.example.app.pro,transaction=1001,kind=non-consumable")
    claim(product="com.example.app.pro", transaction="1001", customer="alice", evidence=bought)
    claim(product="com.example.app.pro", transaction="1001", customer="mallory", evidence=bought)
    for number in ("2001", "2002"):
        claim(product="com.example.app.coins", transaction=number, customer="bob",
              evidence=mint(world, f"product=com.example.app.coins,transaction={number},kind=consumable"))
    carol = "product=com.example.app.pro,transaction=3001,kind=non-consumable"
    claim(product="com.example.app.pro", transaction="3001", customer="carol", evidence=mint(world, carol))
    claim(product="com.example.app.pro", transaction="3001", customer="carol",
          evidence=mint(world, carol + f",cancelled={moment(0)}"))

    # Nina's only evidence is broken; Zoe is written differently in her mail; nobody claimed 5001, of which Apple told.
    claim(product="com.example.app.pro", transaction="4001", customer="nina",
          evidence=mint(world, "product=com.example.app.pro,transaction=4001,kind=non-consumable")[:-8])
    claim(product="com.example.app.pro", transaction="4002", customer="Zoë@Example.com",
          evidence=mint(world, "product=com.example.app.pro,transaction=4002,kind=non-consumable"))
    notify(world, mint(world, "product=com.example.app.pro,transaction=5001,kind=non-consumable", "notification"))
    # Dora's second of three months was refunded.
    months = [(f"product=com.example.app.monthly,transaction=600{number},original=6001,kind=auto-renewable,"
               f"expires={moment(30 * number - 62)}", 30 * number - 92) for number in (1, 2, 3)]
    for number, (month, begin) in enumerate(months + [(months[1][0] + f",cancelled={moment(0)}", months[1][1])]):
        claim(product="com.example.app.monthly", transaction=month.split("transaction=")[1][:4], customer="dora",
              evidence=mint(world, month, bought=begin))

    # An act with the keyboard and without JavaScript, on a customer whose name is markup.
    token = page.locator("header form [name=token]").get_attribute("value")
    answer = plain.request.post(world.url("/console/customer"), form={
        "token": token, "app": "example", "id": "<script>x</script>", "act": "grant",
        "target": "com.example.app.pro", "reason": "goodwill"})
    assert answer.status == 200 and "<script" not in answer.text(), (answer.status, answer.text()[:500])

    # Mallory gives the name, Bob the number of a transaction in the mail of the bank, Carol the transaction, too.
    counts = []
    paid = "I paid and got nothing"
    for said, searched, acts, expected in [
            (paid, "mallory", [], ["was not accepted", "already_claimed", "Read the sentence"]),
            ("I was charged twice", "2001", ["bob"], ["2 purchases", "each gave its units", "ask Apple for a refund"]),
            ("It was refunded", "3001", [], ["Apple withdrew transaction 3001", "The product is locked"]),
            (paid, "nina", [], ["was not accepted", "jws_malformed", "Restore Purchases"]),
            (paid, "zoe@example", ["Zoë@Example.com"], ["com.example.app.pro is active", "Restore Purchases"]),
            (paid, "5001", [], ["Apple says that it was paid; nobody claimed it yet"]),
            (paid, "5001", [lambda support: support.give("greta")], ["com.example.app.pro is active"])]:
        page.goto(world.url("/console"))
        support = Support(page)
        support.search(searched)
        for act in acts:
            act(support) if callable(act) else support.follow(act)
        answer = " ".join(support.read(said).split())
        for sentence in expected:
            assert sentence in answer, (said, searched, sentence, answer)
        counts.append(len(support.steps))
        print(f"“{said}”: {len(support.steps)} steps ({', '.join(support.steps)}): {answer[:200]}")
    assert max(counts) <= 7, counts

    check_keyboard(world, page)
    check_double_click(world, page)
    check_files(world, page, world.folder)
    check_tls(world, browser, world.folder)
    # A product whose name has no place to break, on a phone.
    answer = plain.request.post(world.url("/console/customer"), form={
        "token": page.locator("header form [name=token]").get_attribute("value"), "app": "example", "id": "carol",
        "act": "grant", "target": LONG, "reason": "goodwill"})
    assert answer.status == 200, answer.text()[:300]
    state = plain.storage_state()
    paths = {"sign-in": "/console/sign-in", "search": "/console", "not-found": "/console/search?q=nobody-of-this-name",
             "customer": "/console/customer?app=example&id=alice", "bob": "/console/customer?app=example&id=bob",
             "refunded": "/console/purchase?app=example&id=3001", "claim": claim_path(page, world),
             "sent-again": "/console/customer?app=example&id=mallory", "inspect": "/console/inspect",
             "state": "/console/state", "operators": "/console/operators",
             "carol": "/console/customer?app=example&id=carol", "periods": "/console/customer?app=example&id=dora",
             "refused-only": "/console/customer?app=example&id=nina", "claimed": "/console/purchase?app=example&id=1001"}
    violations, opened = 0, 0
    for scheme in ("light", "dark"):
        for width in (1280, 400):
            context = browser.new_context(color_scheme=scheme, viewport={"width": width, "height": 900},
                                          storage_state=state, bypass_csp=True)
            for name, path in paths.items():
                view = context.new_page()
                view.goto(world.url(path))
                violations += inspected(view, axe, f"{name} {scheme} {width}")
                opened += 1
                if pictures:
                    pictures.mkdir(parents=True, exist_ok=True)
                    view.screenshot(path=str(pictures / f"{name}-{scheme}-{width}.png"), full_page=True)
                    if (name, scheme, width) == ("bob", "light", 1280):
                        view.screenshot(path=str(pictures / "front.png"))
                view.close()
            view = context.new_page()
            view.goto(world.url("/console/state"))
            view.get_by_role("button", name="Examine the installation").click()
            assert "The installation was examined" in view.inner_text("main"), view.inner_text("main")[:400]
            opened, violations = opened + 1, violations + inspected(view, axe, f"examined {scheme} {width}")
            if pictures:
                view.screenshot(path=str(pictures / f"examined-{scheme}-{width}.png"), full_page=True)
            view.goto(world.url("/console/inspect"))
            view.fill("#evidence", bought)
            view.get_by_role("button", name="Inspect").click()
            opened, violations = opened + 1, violations + inspected(view, axe, f"inspected {scheme} {width}")
            if pictures:
                view.screenshot(path=str(pictures / f"inspected-{scheme}-{width}.png"), full_page=True)
            view.close()
            for name, path in [("pack", "customer=alice"), ("pack-redacted", "customer=alice&redacted=yes")]:
                view = context.new_page()
                view.set_content(plain.request.get(world.url(f"/console/pack?app=example&{path}")).text())
                opened, violations = opened + 1, violations + inspected(view, axe, f"{name} {scheme} {width}")
                assert ("alice" in view.content()) == (name == "pack"), name
                if pictures:
                    view.screenshot(path=str(pictures / f"{name}-{scheme}-{width}.png"), full_page=True)
            context.close()
    check_refusals(world, browser)
    for host, expected in [("evil.example", 421), ("localhost", 200)]:
        request = urllib.request.Request(world.url("/console/sign-in"), headers={"Host": host})
        try:
            status = urllib.request.urlopen(request).status
        except urllib.error.HTTPError as error:
            status = error.code
        assert status == expected, (host, status)
    print(f"{opened} pages opened, {violations} violations")
    if violations:
        sys.exit(1)


main()
