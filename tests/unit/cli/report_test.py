"""Opens the page of `tilewright tune --report` in headless Chromium: every plot is drawn, with its points, and the console has no error.

    report_test.py TILEWRIGHT [SCREENSHOT.png]

Exit status 77 where there is no Chromium.
"""
import html
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

# What the browser finds of each plot once the page is laid out. Appended to a copy of the page.
PROBE = """<script>
addEventListener('load', () => {
  const plots = [...document.querySelectorAll('figure.plot')].map(figure => {
    const svg = figure.querySelector('svg'), box = svg.getBoundingClientRect();
    const inside = [...svg.querySelectorAll('circle, polyline')].filter(mark => {
      const b = mark.getBoundingClientRect();
      return b.width + b.height > 1 && b.left >= box.left - 1 && b.right <= box.right + 1 && b.top >= box.top - 1 && b.bottom <= box.bottom + 1;
    });
    return {title: figure.querySelector('figcaption').textContent, width: box.width, height: box.height, marks: svg.querySelectorAll('circle, polyline').length, inside: inside.length,
            ticks: svg.querySelectorAll('.tick').length};
  });
  const found = document.createElement('pre');
  found.id = 'found';
  found.textContent = JSON.stringify(plots);
  document.body.append(found);
});
</script>"""
CONSOLE = re.compile(r":CONSOLE[:(]\d+\)?\]? (.*)")


def browser():
    for name in ("chromium", "chromium-browser", "google-chrome", "chrome"):
        if found := shutil.which(name):
            return found
    print("skipped: there is no Chromium here (chromium, google-chrome)")
    sys.exit(77)


def opened(chromium, page, folder, *more):
    """The page as it is once loaded, and what its console says."""
    run = subprocess.run([chromium, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--enable-logging=stderr", "--log-level=0", f"--user-data-dir={folder}/profile",
                          "--window-size=1300,2000", "--virtual-time-budget=3000", *more, "file://" + page], capture_output=True, text=True, timeout=90)
    return run.stdout, CONSOLE.findall(run.stderr)


def main():
    program, chromium = sys.argv[1], browser()
    with tempfile.TemporaryDirectory() as folder:
        page, probed = os.path.join(folder, "report.html"), os.path.join(folder, "probed.html")
        environment = dict(os.environ, TILEWRIGHT_CACHE="off", TILEWRIGHT_CUDA_DRIVER="/no/driver.so")
        wanted = {"host": ["Candidates: measured", "Time over length"], "h200": ["Candidates: predicted", "Roofline", "Time over length", "Chosen tile over shared memory", "Memory traffic over on-chip memory"]}
        for target, titles in wanted.items():
            shape, dtype = ("1,2,1,200,300,32", "f32") if target == "host" else ("4,32,8,4096,4096,128", "bf16")
            subprocess.run([program, "tune", "causal", "--target", target, "--dtype", dtype, "--shapes", shape, "--candidates", "4", "--report", page], check=True, env=environment, capture_output=True)
            text = open(page, encoding="utf-8").read()
            open(probed, "w", encoding="utf-8").write(text.replace("</body>", PROBE + "</body>"))
            dom, console = opened(chromium, probed, folder, "--dump-dom")
            assert not console, f"{target}: the console says: {console}"
            found = json.loads(html.unescape(re.search(r'<pre id="found">(.*?)</pre>', dom).group(1)))
            assert [plot["title"] for plot in found] == titles, found
            for plot in found:
                assert plot["width"] > 300 and plot["height"] > 150, plot
                assert plot["marks"] > 0 and plot["inside"] == plot["marks"], plot
                assert plot["ticks"] >= 3, plot
            if len(sys.argv) > 2 and target == "h200":
                opened(chromium, page, folder, f"--screenshot={sys.argv[2]}")
        # That an error would be seen.
        open(probed, "w", encoding="utf-8").write(text.replace("</body>", "<script>undefinedFunction()</script></body>"))
        assert any("undefinedFunction" in line for line in opened(chromium, probed, folder, "--dump-dom")[1]), "an error of a page was not seen"
        print(f"{chromium}: plots are drawn, and the console is empty")


main()
