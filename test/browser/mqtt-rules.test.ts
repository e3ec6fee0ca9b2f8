import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { shareBrowserShell } from "./browser-shell.ts";

const open = shareBrowserShell("mqtt", { flags: ["--mqtt-web-socket", "false", "--mqtt-tls", "false"] });

const rulesOf = (page: Page) => ({
  dialog: page.getByRole("dialog", { name: "Auto-reply rules" }),
  async show() {
    await page.getByRole("button", { name: "More" }).click();
    await page.getByRole("menuitem", { name: /Auto-reply/ }).click();
  },
});

it("[BL-542] the rules are listed again after the form of one was left with Escape", async () => {
  const { page } = await open();
  const { dialog, show } = rulesOf(page);
  await show();
  await dialog.getByRole("button", { name: "New rule" }).click();
  await dialog.getByRole("textbox", { name: "Topic filter", exact: true }).fill("left");
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  await show();
  await dialog.getByRole("button", { name: "New rule" }).waitFor();
  expect(await dialog.getByRole("textbox").count()).toBe(0);
});

it("[BL-545] what was typed into a rule is kept when its form is left, until it is saved or discarded", async () => {
  const { page } = await open();
  const { dialog, show } = rulesOf(page);
  const button = (name: string) => dialog.getByRole("button", { name, exact: true });
  const filter = dialog.getByRole("textbox", { name: "Topic filter", exact: true });
  const note = dialog.getByText(/^A new rule is not saved/);
  const leave = async () => {
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
  };
  await show();
  await button("New rule").click();
  expect(await button("Discard").isDisabled()).toBe(true);
  await filter.fill("typed/#");
  await leave();
  await show();
  await note.waitFor();
  await button("New rule").click();
  expect(await filter.inputValue()).toBe("typed/#");
  await button("Discard").click();
  expect(await filter.inputValue()).toBe("commands/#");
  await filter.fill("saved/#");
  await button("Save the rule").click();
  const rule = dialog.getByRole("listitem").filter({ hasText: "saved/#" });
  await rule.waitFor();
  expect(await note.count()).toBe(0);

  const topic = dialog.getByRole("textbox", { name: "Reply topic", exact: true });
  const change = rule.getByRole("button", { name: /^Change the rule/ });
  await change.click();
  await topic.fill("answers");
  await button("Back").click();
  await rule.getByText("not saved").waitFor();
  await leave();
  await show();
  await rule.getByRole("switch").press("Space");
  await rule.getByRole("switch", { checked: false }).waitFor();
  await change.click();
  expect(await topic.inputValue()).toBe("answers");
  await button("Save the rule").click();
  await rule.getByText("answers").waitFor();
  expect(await rule.getByText("not saved").count()).toBe(0);
  expect(await rule.getByRole("switch").isChecked()).toBe(false);
  await change.click();
  await topic.fill("gone");
  await topic.fill("answers");
  expect(await button("Discard").isDisabled()).toBe(true);
});

it("[BL-467] [BL-545] the page asks before it is loaded again also while another page is shown than that of the rule that is not saved", async () => {
  const { page } = await open();
  const { dialog, show } = rulesOf(page);
  await show();
  await dialog.getByRole("button", { name: "New rule" }).click();
  await dialog.getByRole("textbox", { name: "Topic filter", exact: true }).fill("typed/#");
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  await page.evaluate(() => {
    location.hash = "#/overview";
  });
  await page.getByRole("article", { name: "MQTT" }).waitFor();
  const asked = page.waitForEvent("dialog");
  // The load that is refused never ends.
  void page.reload().catch(() => {});
  const question = await asked;
  expect(question.type()).toBe("beforeunload");
  await question.dismiss();
  await page.evaluate(() => {
    location.hash = "#/mqtt/live";
  });
  await show();
  await dialog.getByRole("button", { name: "New rule" }).click();
  await dialog.getByRole("button", { name: "Discard" }).click();
});

it("[BL-545] what was typed into a rule that is removed meanwhile is listed, and can be saved or discarded", async () => {
  const { page } = await open();
  const { dialog, show } = rulesOf(page);
  const button = (name: string) => dialog.getByRole("button", { name, exact: true });
  const topic = dialog.getByRole("textbox", { name: "Reply topic", exact: true });
  const item = dialog.getByRole("listitem").filter({ hasText: "removed/#" });
  const another = await page.context().newPage();
  await another.goto(page.url());
  const removeElsewhere = async () => {
    const { dialog: rules, show: showRules } = rulesOf(another);
    await showRules();
    await rules.getByRole("button", { name: "Remove the rule for removed/#" }).click();
    await another.getByRole("button", { name: "Remove the rule", exact: true }).click();
    await rules.getByRole("listitem").filter({ hasText: "removed/#" }).waitFor({ state: "detached" });
    await another.keyboard.press("Escape");
    await rules.waitFor({ state: "detached" });
  };
  await show();
  await button("New rule").click();
  await dialog.getByRole("textbox", { name: "Topic filter", exact: true }).fill("removed/#");
  await button("Save the rule").click();
  await button("Change the rule for removed/#").click();
  await topic.fill("answers");
  await removeElsewhere();
  expect(await topic.inputValue()).toBe("answers");
  await button("Back").click();
  await item.getByText("removed, not saved").waitFor();
  await button("Change the rule for removed/#").click();
  expect(await topic.inputValue()).toBe("answers");
  await button("Save the rule").click();
  await item.getByRole("switch").waitFor();
  expect(await dialog.getByText(/not saved/).count()).toBe(0);

  await button("Change the rule for removed/#").click();
  await topic.fill("others");
  await button("Back").click();
  await item.getByText("not saved").waitFor();
  await removeElsewhere();
  await button("Discard the rule for removed/#").click();
  await item.waitFor({ state: "detached" });
  await another.close();
});

it("[BL-565] a question lies over the dialog from which it is asked, and Escape closes it alone", async () => {
  const { page } = await open();
  const { dialog, show } = rulesOf(page);
  await show();
  await dialog.getByRole("button", { name: "New rule" }).click();
  await dialog.getByRole("textbox", { name: "Topic filter", exact: true }).fill("asked/#");
  await dialog.getByRole("button", { name: "Save the rule" }).click();
  const remove = dialog.getByRole("button", { name: "Remove the rule for asked/#" });
  const question = page.getByRole("dialog", { name: "Remove the rule for “asked/#”?" });
  await remove.click();
  await question.waitFor();
  await page.keyboard.press("Escape");
  await question.waitFor({ state: "detached" });
  await remove.click();
  await question.getByRole("button", { name: "Remove the rule", exact: true }).click();
  await remove.waitFor({ state: "detached" });
  expect(await dialog.isVisible()).toBe(true);
});

it("[BL-573] the focus ring of a switch in the list of rules is whole", async () => {
  const { page } = await open();
  const { dialog, show } = rulesOf(page);
  await show();
  await dialog.getByRole("button", { name: "New rule" }).click();
  await dialog.getByRole("textbox", { name: "Topic filter", exact: true }).fill("ring/#");
  await dialog.getByRole("button", { name: "Save the rule" }).click();
  const rule = dialog.getByRole("listitem").filter({ hasText: "ring/#" });
  await rule.waitFor();
  await page.keyboard.press("Tab");
  await rule.getByRole("switch").focus();
  const cut = await rule.evaluate((item) => {
    const ringed = [...item.querySelectorAll("*")].find((part) => getComputedStyle(part).outlineStyle !== "none");
    const list = item.parentElement;
    if (!ringed || !list) return undefined;
    const { outlineWidth, outlineOffset } = getComputedStyle(ringed);
    const around = Number.parseFloat(outlineWidth) + Number.parseFloat(outlineOffset);
    const [ring, room] = [ringed.getBoundingClientRect(), list.getBoundingClientRect()];
    return {
      left: Math.max(0, room.left - ring.left + around),
      top: Math.max(0, room.top - ring.top + around),
      right: Math.max(0, ring.right + around - room.right),
    };
  });
  expect(cut).toEqual({ left: 0, top: 0, right: 0 });
});

it("[BL-578] the form of a rule says when another window has changed or removed it", async () => {
  const { page } = await open();
  const { dialog, show } = rulesOf(page);
  const button = (name: string) => dialog.getByRole("button", { name, exact: true });
  const topic = dialog.getByRole("textbox", { name: "Reply topic", exact: true });
  const changed = dialog.getByText("The rule was changed meanwhile. Save replaces that, Discard keeps it.");
  const removed = dialog.getByText("The rule was removed meanwhile. Save adds it again, Discard leaves it removed.");
  await show();
  await button("New rule").click();
  await dialog.getByRole("textbox", { name: "Topic filter", exact: true }).fill("both/#");
  await button("Save the rule").click();
  const change = button("Change the rule for both/#");
  await change.click();
  await topic.fill("typed here");

  const another = await page.context().newPage();
  await another.goto(page.url());
  const { dialog: rules, show: showRules } = rulesOf(another);
  await showRules();
  const rule = rules.getByRole("listitem").filter({ hasText: "both/#" });
  await rule.getByRole("switch").press("Space");
  await rule.getByRole("switch", { checked: false }).waitFor();
  const saveElsewhere = async (text: string) => {
    await rules.getByRole("button", { name: "Change the rule for both/#" }).click();
    await rules.getByRole("textbox", { name: "Reply topic", exact: true }).fill(text);
    await rules.getByRole("button", { name: "Save the rule" }).click();
    await rule.getByText(text).waitFor();
  };
  const removeElsewhere = async () => {
    await rules.getByRole("button", { name: "Remove the rule for both/#" }).click();
    await another.getByRole("button", { name: "Remove the rule", exact: true }).click();
    await rule.waitFor({ state: "detached" });
  };
  expect(await changed.count()).toBe(0);
  await saveElsewhere("typed there");
  await changed.waitFor();
  expect(await topic.inputValue()).toBe("typed here");
  expect((await changed.boundingBox())?.x).toBe((await topic.boundingBox())?.x);
  await button("Discard").click();
  await changed.waitFor({ state: "detached" });
  expect(await topic.inputValue()).toBe("typed there");

  await topic.fill("typed again");
  await saveElsewhere("and there");
  await changed.waitFor();
  await button("Save the rule").click();
  await dialog.getByText("typed again").waitFor();
  await rule.getByText("typed again").waitFor();
  await change.click();
  expect(await changed.count()).toBe(0);

  await topic.fill("typed at last");
  await removeElsewhere();
  await removed.waitFor();
  await button("Save the rule").click();
  await dialog.getByText("typed at last").waitFor();
  await change.click();
  await rule.waitFor();
  await removeElsewhere();
  await dialog.getByText("The rule that was shown was removed meanwhile.").waitFor();
  await button("New rule").waitFor();
  await another.close();
});
