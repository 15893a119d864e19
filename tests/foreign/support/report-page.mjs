// Reports in Chromium, as people open them: from disk, at two widths, in light and dark.

import assert from "node:assert/strict";
import { pathToFileURL } from "node:url";

/** What Playwright's contexts take: a desktop's and a phone's window, each in both colours. */
export const LOOKS = [1280, 390].flatMap((width) =>
  ["light", "dark"].map((colorScheme) => ({ viewport: { width, height: 900 }, colorScheme })),
);

/** Opens a file in a page of its own: what the page says on the console and what it asks for. */
export async function open(t, browser, path, look) {
  const page = await browser.newPage(t, look);
  const [said, asked] = [[], []];
  page.on("console", (message) => said.push(message.text()));
  page.on("pageerror", (error) => said.push(String(error)));
  page.on("request", (request) => request.url().startsWith("data:") || asked.push(request.url()));
  await page.goto(pathToFileURL(path).href);
  await page.locator("figure.chart canvas").last().waitFor();
  return { page, said, asked };
}

/** Nothing stands out of the window, the colours are those of the look, and every chart is drawn. */
export async function assertWhole(page, { colorScheme }) {
  const overflow = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
  assert.ok(overflow <= 0, `${overflow} pixels stand out`);
  const isDark = await page.evaluate(() => {
    const [red] = getComputedStyle(document.body).backgroundColor.match(/\d+/g);
    return Number(red) < 128;
  });
  assert.equal(isDark, colorScheme === "dark");
  const blank = await page.evaluate(() =>
    [...document.querySelectorAll("figure.chart")]
      .filter((figure) => {
        const canvas = figure.querySelector("canvas");
        const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
        return !data.some((value) => value > 0);
      })
      .map((figure) => figure.querySelector(".chart-title").textContent),
  );
  assert.deepEqual(blank, []);
}
