#!/usr/bin/env python3
"""Makes the pictures of the documents: the page of the simulated App Store after the demonstration, in Chromium.

    dev/pictures.py FOLDER

Writes one PNG for each of: light, dark, and a screen of 400 pixels. Needs the program (.build/release/assay, or ASSAY_BIN), Chromium
(Debian: `chromium`) and PyPI's `playwright` (`make pictures` installs it).
"""

import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys

from playwright.sync_api import sync_playwright

ROOT = pathlib.Path(__file__).resolve().parent.parent
VIEWS = {
    "simulator": {"viewport": {"width": 1280, "height": 800}, "color_scheme": "light"},
    "simulator-dark": {"viewport": {"width": 1280, "height": 800}, "color_scheme": "dark"},
    "simulator-narrow": {"viewport": {"width": 400, "height": 800}, "color_scheme": "light"},
}


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or sys.exit("Chromium is missing; on Debian: apt-get install chromium")
    demo = subprocess.Popen([ROOT / "dev/demo.py", "--keep"], stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONUNBUFFERED": "1"})
    try:
        store = None
        for line in demo.stdout:
            if found := re.match(r" *(http://\S+:\d+)/  the simulated App Store", line):
                store = found.group(1)
                break
        if store is None:
            sys.exit("the demonstration did not come to its end")
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"] if os.geteuid() == 0 else [])
            for name, view in VIEWS.items():
                page = browser.new_page(**view)
                errors = []
                page.on("pageerror", lambda error: errors.append(str(error)))
                page.goto(store)
                page.wait_for_load_state("networkidle")
                if errors:
                    sys.exit(f"the page failed: {errors}")
                page.screenshot(path=folder / f"{name}.png")
                page.close()
            browser.close()
    finally:
        demo.send_signal(signal.SIGINT)
        demo.wait(timeout=60)
    print("pictures: " + ", ".join(f"{name}.png" for name in VIEWS))


if __name__ == "__main__":
    main()
