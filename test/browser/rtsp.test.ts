import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { isMoving, paintedFrames } from "./bar-code.ts";
import { openBrowserShell, openTab } from "./browser-shell.ts";

/** Of a card or an inspector: "25 fps · 0.39 Mbit/s · GOP 25 · 8 ms". */
const facts = (page: Page, name: string) => page.getByRole("article", { name, exact: true });

it("[RTSP-63] [RTSP-65] [RTSP-67] the page shows moving pictures, with what they are, saves them, and plays in Try", async () => {
  const { page } = await openBrowserShell("rtsp");
  for (const name of ["/stream", "/test"]) {
    const frames = await paintedFrames(page, `Picture of ${name}`, 6);
    expect(isMoving(frames), frames.map(({ number }) => number).join(" ")).toBe(true);
  }
  const card = facts(page, "/stream");
  await card.getByText("H.264 High, 640×360 · AAC, 48 kHz, stereo").waitFor();
  await card.getByText(/fps · [\d.]+ Mbit\/s · GOP 25 · \d+ ms/).waitFor();
  await card.getByText("0 readers").waitFor();

  const saved = page.waitForEvent("download");
  await card.getByRole("button", { name: "Save the picture" }).click();
  expect((await saved).suggestedFilename()).toBe("stream.png");

  const sound = card.getByRole("button", { name: "Sound on" });
  await sound.click();
  await card.getByRole("button", { name: "Sound off" }).click();
  await sound.waitFor();

  // What is folded is not decoded.
  await page.getByRole("button", { name: "Pictures", exact: true }).click();
  await card.waitFor({ state: "detached" });

  await openTab(page, "Paths");
  await page.getByRole("row").filter({ hasText: "/test" }).click();
  expect(isMoving(await paintedFrames(page, "Picture of /test", 5))).toBe(true);
  const inspector = page.getByRole("region", { name: "Path", exact: true });
  await inspector.getByText("every 25 frames, 1 s").waitFor();
  await inspector.getByRole("img", { name: /^Bit rate over the last two minutes; [\d.]+ Mbit\/s$/ }).waitFor();

  await page.getByRole("tab", { name: "Try", exact: true }).click();
  await page.getByRole("button", { name: "Play", exact: true }).click();
  const answer = page.getByRole("region", { name: "Answer" });
  await answer.getByText(/^H\.264 and AAC: first packet after .*, first picture after .* none lost\.$/).waitFor();
  await answer.getByRole("row").filter({ hasText: "DESCRIBE rtsp:" }).click();
  await answer.getByText("application/sdp").waitFor();

  await openTab(page, "Live");
  await page.getByRole("row").filter({ hasText: "playing" }).first().click();
  await page.keyboard.press("Enter");
  const places = ["Disconnect", "Copy as ffplay"].map((name) => page.getByRole("button", { name, exact: true }).boundingBox());
  const [first, second] = await Promise.all(places);
  expect(first?.y, "[BL-339] commands of an inspector are on one line").toBe(second?.y);
  await openTab(page, "Try");
  await page.getByRole("button", { name: "Stop", exact: true }).last().click();
  await answer.getByText("stopped").waitFor();
});
