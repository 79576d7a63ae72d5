#!/usr/bin/env python3
"""Makes the pictures of the documents in docs/pictures, in Chromium: the page of the simulated App Store of
assay dev after three purchases; and those of every page of the console in .build-pictures/console, while dev/console_check.py checks them with axe.

Needs the program (.build/release/assay), Chromium (Debian: `chromium`), and PyPI for playwright and axe.
"""
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile

from servers import BUNDLE, ask, with_packages

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROGRAM = ROOT / ".build/release/assay"
FOLDER = ROOT / "docs/pictures"
VIEWS = {"simulator": (1280, "light")}


def simulator(chromium, folder):
    from playwright.sync_api import sync_playwright
    dev = subprocess.Popen([PROGRAM, "dev", "--no-open", "--folder", folder], stdout=subprocess.PIPE, text=True)
    try:
        lines = (re.search(r"the store is open on (http://\S+)", line) for line in dev.stdout)
        store = next((found.group(1) for found in lines if found), None) or sys.exit("assay dev did not start")
        for product in ("monthly", "coins", "pro"):
            status, answer = ask(store, "/control/purchases", {"bundle_id": BUNDLE, "product_id": product, "customer_id": "alice"})
            assert status in (200, 201), answer
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"] if os.geteuid() == 0 else [])
            for name, (width, scheme) in VIEWS.items():
                page, errors = browser.new_page(viewport={"width": width, "height": 800}, color_scheme=scheme), []
                page.on("pageerror", lambda error: errors.append(str(error)))
                page.goto(store)
                page.wait_for_load_state("networkidle")
                if errors:
                    sys.exit(f"the page failed: {errors}")
                page.screenshot(path=FOLDER / f"{name}.png")
    finally:
        dev.send_signal(signal.SIGINT)
        dev.wait(timeout=60)


def main():
    if not PROGRAM.exists():
        sys.exit("build the program first: make build")
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or sys.exit("Chromium is missing; on Debian: apt-get install chromium")
    with_packages("pictures", "playwright>=1.49,<2", "axe-playwright-python")
    FOLDER.mkdir(exist_ok=True)
    tools = pathlib.Path(sys.prefix)
    with tempfile.TemporaryDirectory() as folder:
        simulator(chromium, folder)
    axe = next(tools.rglob("axe.min.js"), None) or sys.exit("the package axe-playwright-python has no axe.min.js")
    subprocess.run([sys.executable, ROOT / "dev/console_check.py", axe, tools / "console"], check=True)
    shutil.copy(tools / "console/front.png", FOLDER / "console.png")
    print("pictures: " + ", ".join(f"{name}.png" for name in [*VIEWS, "console"]))


if __name__ == "__main__":
    main()
