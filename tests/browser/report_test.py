#!/usr/bin/env python3
"""The report page of `chargpt metrics report` in headless Chromium, as a reader sees it.

Environment: CHARGPT, the program. Needs Debian's chromium, chromium-driver and python3-selenium.
"""

import json
import math
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

from selenium import webdriver
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

HOSTILE = '</script><script>document.title="owned"</script><img src=x onerror="document.title=\'owned\'">&amp;'


def write_run(folder, rate=1e-3, width=64, steps=300, sample="ROMEO: what light?"):
    """A run folder with records as a training writes them: the loss falls to 1.5 + 10 rate + 20 / width."""
    folder.mkdir(parents=True)
    config = {"train": {"steps": steps, "batch": 8}, "model": {"context": 32, "width": width},
              "optimizer": {"learning_rate": rate}}
    (folder / "config.json").write_text(json.dumps(config))
    with (folder / "metrics.jsonl").open("w") as file:
        for step in range(1, steps + 1):
            loss = 1.5 + 10 * rate + 20 / width + 2.5 * math.exp(-step / 40)
            records = [{"event": "step", "step": step, "loss": loss, "learning_rate": rate, "gradient_norm": 0.5,
                        "seconds": 0.01}]
            if step % 50 == 0:
                records.append({"event": "evaluation", "step": step, "nats_per_char": loss + 0.1, "characters": 100})
                records += [{"event": "sample", "step": step, "prompt": prompt, "text": sample} for prompt in (HOSTILE, "ROMEO:")]
            file.writelines(json.dumps({"v": 1} | record) + "\n" for record in records)


class ReportPage(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.root = Path(cls.folder.name)
        write_run(cls.root / "one", sample=HOSTILE)
        for i in range(200):
            write_run(cls.root / "sweep" / f"run{i:03}", [1e-3, 3e-3, 1e-2][i % 3], 64 * (1 + i % 4))
        for name in ("one", "sweep"):
            subprocess.run([os.environ["CHARGPT"], "metrics", "report", name, "--out", f"{name}.html", "--quiet"],
                           cwd=cls.root, check=True)
        cls.driver = cls.start_browser()

    @classmethod
    def start_browser(cls):
        options = webdriver.ChromeOptions()
        # Root has no sandbox in Chromium; the page is our own.
        for flag in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"):
            options.add_argument(flag)
        options.add_argument(f"--user-data-dir={cls.root}/profile")
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        return webdriver.Chrome(options=options)

    @classmethod
    def tearDownClass(cls):
        cls.driver.quit()
        cls.folder.cleanup()

    def open(self, name, width=1600, scheme="light"):
        """The page at a window width, which the browser's own least width does not limit."""
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                                    {"width": width, "height": 1000, "deviceScaleFactor": 1, "mobile": False})
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia",
                                    {"features": [{"name": "prefers-color-scheme", "value": scheme}]})
        for log in ("browser", "performance"):
            self.driver.get_log(log)
        self.driver.get(f"file://{self.root}/{name}.html")
        WebDriverWait(self.driver, 30).until(lambda _: self.all("#charts path.curve"))

    def all(self, selector):
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def script(self, code, *arguments):
        return self.driver.execute_script(code, *arguments)

    def hover(self, element, dx=0):
        self.script("arguments[0].scrollIntoView({block: 'center'})", element)
        ActionChains(self.driver).move_to_element_with_offset(element, dx, 0).perform()

    def shown_tip(self):
        return "".join(tip.text for tip in self.all(".tip") if tip.is_displayed())

    def test_renders_without_errors_and_without_network(self):
        for name in ("one", "sweep"):
            with self.subTest(name):
                self.open(name)
                self.assertEqual(self.driver.get_log("browser"), [])
                messages = [json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance")]
                urls = {message["params"]["request"]["url"] for message in messages
                        if message["method"] == "Network.requestWillBeSent"}
                self.assertEqual({url for url in urls if not url.startswith(("file:", "data:"))}, set())
                self.assertEqual({url.rsplit("/", 1)[-1] for url in urls if url.startswith("file:")}, {f"{name}.html"})

    def test_one_run_shows_curves_figures_samples_and_config(self):
        self.open("one")
        self.assertEqual(len(self.all("#charts .chart")), 4)
        self.assertEqual(len(self.all("#charts .chart:first-child path.curve")), 2)
        text = self.driver.find_element(By.TAG_NAME, "body").text
        for part in ("All 300 steps were done.", "There is no sign of overfitting.", "optimizer.learning_rate", "1.9239"):
            self.assertIn(part, text)

    def test_untrusted_text_stays_text(self):
        self.open("one")
        self.assertEqual(self.driver.title, "one: training report")
        self.assertEqual({pre.text for pre in self.all("#samples pre")}, {HOSTILE})
        headings = [heading.text for heading in self.all("#samples b")]
        self.assertEqual(len(headings), 12)
        self.assertIn('step 50, "ROMEO:"', headings)
        self.assertTrue(headings[0].startswith('step 50, "</script>'), headings[0])
        self.assertEqual(self.all("img"), [])

    def test_hovering_shows_values(self):
        self.open("one")
        charts = self.all("#charts svg")
        self.hover(charts[0])
        self.assertRegex(self.shown_tip(), r"^step 1[45]\d\n?training \(smoothed\): 2\.\d+")
        self.assertIn("validation: 1.9", self.shown_tip())
        self.hover(charts[1])
        self.assertIn("one: 0.001", self.shown_tip())
        self.script("document.activeElement.blur(); arguments[0].focus()", charts[0])
        ActionChains(self.driver).send_keys("\ue014").perform()  # the right arrow
        self.assertIn("validation", self.shown_tip())

    def test_nothing_is_wider_than_the_window(self):
        for name in ("one", "sweep"):
            for width in (400, 1600):
                with self.subTest(name, width=width):
                    self.open(name, width)
                    self.assertEqual(self.script("return window.innerWidth"), width)
                    self.assertLessEqual(self.script("return document.documentElement.scrollWidth"), width)
                    self.assertGreaterEqual(self.all("#charts svg")[0].size["width"], min(width, 500) * 0.75)

    def contrast(self, selector):
        """Of text to what lies behind it (WCAG 2.2, relative luminance)."""
        return self.script("""
            const parse = (text) => text.match(/[\\d.]+/g).slice(0, 3).map(Number);
            const linear = (c) => (c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
            const luminance = (rgb) => rgb.map(linear).reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
            const element = document.querySelector(arguments[0]);
            const style = getComputedStyle(element);
            const text = luminance(parse(element instanceof SVGElement ? style.fill : style.color));
            const back = luminance(parse(getComputedStyle(document.body).backgroundColor));
            return (Math.max(text, back) + 0.05) / (Math.min(text, back) + 0.05);""", selector)

    def test_light_and_dark_are_both_legible(self):
        back = "return getComputedStyle(document.body).backgroundColor"
        colors = []
        for scheme in ("light", "dark"):
            with self.subTest(scheme):
                self.open("one", scheme=scheme)
                colors.append(self.script(back))
                for selector in ("body", "header p", "#charts svg text", ".tile span"):
                    self.assertGreaterEqual(self.contrast(selector), 4.5, selector)
        self.assertNotEqual(*colors)

    def test_two_hundred_runs_can_be_compared(self):
        self.open("sweep")
        self.assertEqual(len(self.all("#table tbody tr")), 200)
        self.assertEqual(len(self.all("#charts .chart:first-child path.curve")), 200)
        self.assertEqual([chart.text.split("\n")[0].split()[0] for chart in self.all("#scatters .chart")],
                         ["model.width", "optimizer.learning_rate"])
        self.assertEqual(len(self.all("#scatters .chart:first-child circle")), 200)
        self.hover(self.all("#scatters svg")[0])
        self.assertRegex(self.shown_tip(), r"run\d{3}\n?model\.width \d+: 1\.\d+")
        self.hover(self.all("#charts svg")[0])
        self.assertRegex(self.shown_tip(), r"step \d+\n?run\d{3}: \d\.\d+")

    def curves_shown(self, count):
        shown = "#charts .chart:first-child path.curve"
        WebDriverWait(self.driver, 10).until(lambda _: len(self.all(shown)) == count)

    def test_runs_are_filtered_chosen_and_sorted(self):
        self.open("sweep")
        self.driver.find_element(By.ID, "filter").send_keys("optimizer.learning_rate=0.01 model.width=64")
        self.curves_shown(16)  # 8, 20, ... 188: every third of every fourth
        self.assertEqual(self.driver.find_element(By.ID, "shown-count").text, "16 of 200 shown")
        self.driver.find_element(By.ID, "filter").clear()
        self.driver.find_element(By.ID, "filter").send_keys(" ")
        self.driver.find_element(By.CSS_SELECTOR, "[data-show=best]").click()
        self.curves_shown(10)
        self.all("#table tbody input")[0].click()
        self.curves_shown(9)
        width = next(button for button in self.all("#table th button") if button.text == "model.width")
        width.click()
        width.click()
        self.assertIn("256", self.all("#table tbody tr")[0].text)


if __name__ == "__main__":
    unittest.main()
