import { expect, it } from "vitest";
import { qrCode } from "../../servers/core/files/qr-code.ts";
import { openTab, shareBrowserShell } from "./browser-shell.ts";

const open = shareBrowserShell("account");
/** What a QR code has, as the page draws it. */
const codePath = (text: string) => qrCode(text).path;
const sample = { username: "api@example.com", password: "backlot-demo" };

it("[AC-49] a session's tokens are expired and revoked from the page, its count is updated, and Escape closes it", async () => {
  const { page, origin } = await open();
  await fetch(`${origin}/login`, { method: "POST", body: new URLSearchParams(sample) });
  await openTab(page, "Sessions");
  await page.getByRole("row").filter({ hasText: sample.username }).click();
  await page.keyboard.press("Enter");
  const inspector = page.getByRole("region", { name: `Session of ${sample.username}` });
  await inspector.getByText("2 live of 2").waitFor();
  await inspector.getByRole("button", { name: "Expire now" }).first().click();
  // The sum and the tokens come from two sources.
  await inspector.getByText("1 live of 2").waitFor();
  await expect.poll(() => inspector.getByRole("button", { name: "Revoke now" }).count()).toBe(1);
  // The token that has ended keeps its place: no button of the other one comes under the pointer.
  expect(await inspector.getByRole("article").count()).toBe(2);
  await inspector.getByRole("button", { name: "Revoke now" }).click();
  await inspector.getByText("0 live of 2").waitFor();
  await page.getByText("0 live sessions").waitFor();
  await page.keyboard.press("Escape");
  await inspector.waitFor({ state: "detached" });
});

it("[AC-48] an unsaved contact is still there after another tab was shown", async () => {
  const { page } = await open();
  await openTab(page, "Users");
  const openUser = async (email: string) => {
    await page.getByRole("row").filter({ hasText: email }).click();
    await page.keyboard.press("Enter");
  };
  const city = page.getByRole("textbox", { name: "City" });
  await openUser(sample.username);
  await openTab(page, "Contact");
  await city.fill("Bergen");
  await openUser("billing@example.org");
  await expect.poll(() => city.inputValue()).toBe("Porto");
  await openTab(page, "Live");
  await openTab(page, "Users");
  await openUser(sample.username);
  await page.getByText("Not saved yet").waitFor();
  expect(await city.inputValue()).toBe("Bergen");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByText("Saved", { exact: true }).waitFor();
  expect(await city.inputValue()).toBe("Bergen");
});

it("[AC-25] the secret of a second factor and its QR code are shown once, when they are revealed", async () => {
  const { page } = await open();
  await openTab(page, "Users");
  await page.getByRole("row").filter({ hasText: "billing@example.org" }).click();
  await page.keyboard.press("Enter");
  const section = page.getByRole("region", { name: "Second factor" });
  await section.getByRole("button", { name: "Set up" }).click();
  await section.getByText("The secret is shown only now.").waitFor();
  const picture = section.getByRole("img", { name: /^Code of the otpauth address/ });
  expect(await picture.count()).toBe(0);
  expect(await section.textContent()).toContain("secret=••••••");
  await section.getByRole("button", { name: "Reveal the secret" }).click();
  await picture.waitFor();
  const address = await section.getByText(/^otpauth:/).innerText();
  expect(address).toMatch(/^otpauth:\/\/totp\/.*billing%40example\.org\?secret=[A-Z2-7]{32}&/);
  expect(await picture.locator("path").getAttribute("d")).toBe(codePath(address));
  await section.getByText(/^Current code/).waitFor();
  await section.getByRole("button", { name: "Remove", exact: true }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Remove second factor" }).click();
  await section.getByText("Login needs the password only").waitFor();
});

it("[AC-51] [BL-311] Try asks for the code of the second factor where it is needed, and clears it when the user changes", async () => {
  const { page } = await open();
  await openTab(page, "Try");
  const user = page.getByRole("textbox", { name: "User", exact: true });
  const code = page.getByRole("textbox", { name: "Code of the second factor" });
  const send = page.getByRole("button", { name: "Send", exact: true });
  const program = page.getByText("curl -s");
  await user.fill("mfa@example.com");
  // Nothing of the form has the focus.
  await page.locator("body").press("Control+Enter");
  await page.getByRole("button", { name: "Fill in the current code" }).click();
  await expect.poll(() => code.inputValue()).toMatch(/^\d{6}$/);
  expect(await program.textContent()).toContain("/mfa/verify");
  await send.click();
  await page.getByRole("region", { name: "3. Call" }).getByText('"mfa@example.com"').waitFor();
  await user.fill(sample.username);
  await code.waitFor({ state: "detached" });
  expect(await program.textContent()).not.toContain("/mfa/verify");
  await send.click();
  await page.getByRole("region", { name: "2. Call" }).getByText(`"${sample.username}"`).waitFor();
});
