"""Pages in headless Chromium, without network."""

import shutil
import subprocess


def find():
    """Chromium's path, or None."""
    return next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome"))), None)


def open_page(browser, folder, page):
    """The page's elements when its scripts have run, and what they wrote to the console: lines of the page alone,
    since browsers report on themselves there, too. `folder` keeps the browser's profile."""
    shown = subprocess.run(
        [browser, "--headless=new", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder}/profile", "--no-first-run",
         "--host-resolver-rules=MAP * ~NOTFOUND", "--enable-logging=stderr", "--dump-dom", page.as_uri()],
        capture_output=True, text=True)
    return shown.stdout, [line for line in shown.stderr.splitlines() if "CONSOLE" in line and page.as_uri() in line]
