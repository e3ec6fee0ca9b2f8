import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { errorCodes } from "../../servers/core/service/error-codes.ts";
import { projectRoot } from "../support/start-backlot.ts";

const document = readFileSync(path.join(projectRoot, "docs/errors.md"), "utf8");
const sections = document.split(/^## /m).slice(1);

it("docs/errors.md and the table of codes have the same codes in the same order", () => {
  expect(sections.map((section) => section.split("\n", 1)[0])).toEqual(Object.keys(errorCodes));
});

it("each section repeats the code's sentence, then gives causes and what to do", () => {
  for (const section of sections) {
    const [code, , sentence] = section.split("\n");
    expect({ code, sentence }).toEqual({ code, sentence: errorCodes[code as keyof typeof errorCodes] });
    expect(section).toMatch(/^- Causes: /m);
    expect(section).toMatch(/^- Do: /m);
  }
});
