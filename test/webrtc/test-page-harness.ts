import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, expect } from "vitest";
import { chromiumOptions } from "../support/chromium-options.ts";
import { onEnd } from "../support/start-service.ts";
import type { WebrtcUnderTest } from "./webrtc-harness.ts";

export const waitMs = 60_000;
export const desktop: BrowserContextOptions = { viewport: { width: 1_280, height: 800 } };
export const phone: BrowserContextOptions = { viewport: { width: 390, height: 844 }, hasTouch: true };

export const urlOf = (service: WebrtcUnderTest): string => `http://127.0.0.1:${service.port}/`;

export interface Joining {
  readonly name: string;
  readonly room?: string;
  readonly password?: string;
  readonly over?: "any" | "udp" | "tcp" | "tls";
}

/** Test pages in a browser of the file's own. One that has an error fails its test. */
export function openTestPages() {
  let browser: Browser;
  beforeAll(async () => {
    // Nothing trusts the certificate of a test.
    browser = await chromium.launch({ ...chromiumOptions, args: [...chromiumOptions.args, "--ignore-certificate-errors"] });
  });
  afterAll(() => browser.close());

  /** `prepare` runs in the page before its own code. */
  async function open(at: WebrtcUnderTest | string, options = desktop, prepare?: () => void): Promise<Page> {
    const context = await browser.newContext(options);
    onEnd(() => context.close());
    const page = await context.newPage();
    const problems: string[] = [];
    page.on("pageerror", (error) => problems.push(error.message));
    page.on("console", (message) => message.type() === "error" && !/status of 404/.test(message.text()) && problems.push(message.text()));
    onEnd(() => expect(problems).toEqual([]));
    page.setDefaultTimeout(waitMs);
    if (prepare) await page.addInitScript(prepare);
    await page.goto(typeof at === "string" ? at : urlOf(at));
    await page.getByText("Signalling open").waitFor();
    return page;
  }

  async function join(page: Page, { name, room = "test", password = "", over = "udp" }: Joining): Promise<void> {
    await page.getByLabel("Name").fill(name);
    await page.getByLabel("Room", { exact: true }).fill(room);
    await page.getByLabel("Password").fill(password);
    await page.getByLabel("Connect over").selectOption(over);
    await page.getByRole("button", { name: "Join" }).click();
  }

  const joined = async (page: Page, joining: Joining): Promise<void> => {
    await join(page, joining);
    await page.getByRole("button", { name: "Leave" }).waitFor();
  };

  return { browser: () => browser, open, join, joined };
}

export const write = async (page: Page, text: string, to?: string): Promise<void> => {
  if (to !== undefined) await page.getByRole("combobox", { name: "To", exact: true }).selectOption({ label: to });
  await page.getByLabel("Message", { exact: true }).fill(text);
  await page.getByRole("button", { name: "Send" }).click();
};
export const saidOn = (page: Page, text: string) => page.getByLabel("Messages").getByText(text);
