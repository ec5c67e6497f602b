"""The page of mercer serve in Chromium: python page.py URL URL2 CHROMIUM [FOLDER for pictures], with the models that
.ci/clients trains.

    pip install playwright
"""
import csv
import io
import sys

from playwright.sync_api import expect, sync_playwright

url, flats_url, chromium = sys.argv[1:4]
pictures = sys.argv[4] if len(sys.argv) > 4 else ""

with sync_playwright() as p:
    browser = p.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
    for width, scheme in ((1280, "light"), (1280, "dark"), (390, "light")):
        page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
        said = []
        page.on("console", lambda m: said.append(m.text))
        page.on("pageerror", lambda e: said.append(str(e)))
        page.goto(url + "/")

        # Inputs begin with typical values, and say what the training has seen.
        size = page.get_by_label("size", exact=True)
        assert 80 < float(size.input_value()) < 150, size.input_value()
        described = page.locator("#" + size.get_attribute("aria-describedby")).inner_text()
        assert described.startswith("seen: 30"), described
        assert page.get_by_label("town").evaluate("e => [...e.options].map(o => o.text)") == ["Bonn", "Kiel", "Ulm"]

        # A prediction and contributions as one types, by keyboard alone.
        answer = page.locator("#result .answer")
        answer.wait_for()
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.className") == "skip"
        size.focus()
        page.keyboard.press("Control+A")
        page.keyboard.type("199")
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.name") == "town"
        page.keyboard.type("Bonn")
        expect(answer).to_have_text("dear")
        assert page.locator("#result .bar").count() == 3
        expect(page.locator("#contributions")).to_contain_text("Score of dear")
        names = page.locator("#contributions .bar span:first-child").all_inner_texts()
        assert sorted(names) == ["rooms", "size", "town"] and names[0] in ("size", "town"), names
        assert "ms" in page.locator("#mine").inner_text()

        # A number that the training has not seen is marked.
        size.fill("5000")
        expect(page.locator("input.outside")).to_have_count(1)

        # A CSV of rows comes back with predictions, chosen and dropped.
        rows = "town,size,rooms\nBonn,199,6\nUlm,31,1\nKiel,120,3\n"
        page.locator("#file").set_input_files({"name": "flats.csv", "mimeType": "text/csv", "buffer": rows.encode()})
        expect(page.locator("#batch a")).to_have_count(1)
        with page.expect_download() as saved:
            page.locator("#batch a").click()
        assert saved.value.suggested_filename == "flats-predictions.csv"
        got = list(csv.DictReader(io.StringIO(open(saved.value.path()).read())))
        assert [r["prediction"] for r in got][:2] == ["dear", "cheap"] and "p_dear" in got[0], got
        page.evaluate("""rows => {
            const data = new DataTransfer();
            data.items.add(new File([rows], "more.csv", {type: "text/csv"}));
            document.getElementById("batch").textContent = "";
            document.getElementById("drop").dispatchEvent(new DragEvent("drop", {dataTransfer: data, bubbles: true, cancelable: true}));
        }""", rows)
        expect(page.locator("#batch")).to_contain_text("3 rows")

        # Everything has a name for a screen reader, the page has one main part and fits the window.
        unnamed = page.evaluate("""() => [...document.querySelectorAll('input, select, button, a')].filter(
            e => !(e.labels && e.labels.length) && !e.getAttribute('aria-label') && !e.textContent.trim()).length""")
        assert unnamed == 0, unnamed
        assert page.get_by_role("main").count() == 1 and page.get_by_role("form").count() == 1
        assert page.get_by_role("navigation", name="Models").get_by_role("link").count() >= 1
        assert page.locator("[aria-live=polite]").count() >= 3
        overflow = page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
        assert overflow <= 0, overflow
        expect(page.locator("#latency")).to_contain_text("ms")
        assert page.request.get(url + page.locator("#card").get_attribute("href")).json()["info"]["task"] == "classify"
        # An alias has a form of its own, which asks by its name.
        page.get_by_role("link", name="prod").click()
        expect(page.locator("#form")).to_have_attribute("data-at", "/models/prod/predict?")
        expect(page.locator("#result .answer")).not_to_be_empty()
        assert "→ people/1" in page.get_by_role("link", name="prod").inner_text()
        assert said == [], said
        if pictures:
            size.fill("95")
            page.wait_for_timeout(800)
            page.screenshot(path=f"{pictures}/page-{width}-{scheme}.png", full_page=True)
        page.close()

    # A regression has an interval, in the form and in the table.
    page = browser.new_page(viewport={"width": 390, "height": 900})
    page.goto(flats_url + "/")
    expect(page.locator("#result")).to_contain_text(", with probability 0.9")
    expect(page.locator("#contributions")).to_contain_text("Score of price")
    page.locator("#file").set_input_files({"name": "flats.csv", "mimeType": "text/csv", "buffer": rows.encode()})
    expect(page.locator("#batch a")).to_have_count(1)
    with page.expect_download() as saved:
        page.locator("#batch a").click()
    got = list(csv.DictReader(io.StringIO(open(saved.value.path()).read())))
    assert all(float(r["lower"]) < float(r["prediction"]) < float(r["upper"]) for r in got) and len(got) == 3, got
    if pictures:
        page.screenshot(path=f"{pictures}/flats-390.png", full_page=True)
    browser.close()
print("page: all is well, light and dark, and on a phone")
