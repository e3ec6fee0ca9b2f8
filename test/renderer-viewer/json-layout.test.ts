import { describe, expect, it } from "vitest";
import { layOutJson } from "../../renderer/src/viewer/layout/json-layout.ts";
import { jsonTokens, looksLikeJson } from "../../renderer/src/viewer/layout/json-tokens.ts";

const pretty = (text: string) => layOutJson(text).text;

describe("JSON tokens", () => {
  it("have kinds", () => {
    expect(jsonTokens('{"a":[1.5e3,"x\\"y",true,null]}').map(({ kind, text }) => `${kind} ${text}`)).toEqual([
      "punctuation {",
      'key "a"',
      "punctuation :",
      "punctuation [",
      "number 1.5e3",
      "punctuation ,",
      'string "x\\"y"',
      "punctuation ,",
      "literal true",
      "punctuation ,",
      "literal null",
      "punctuation ]",
      "punctuation }",
    ]);
  });

  it("keep text that is not JSON, and every digit", () => {
    const text = '{"n":12345678901234567890.10,bad:NaN,"open';
    expect(
      jsonTokens(text)
        .map((token) => token.text)
        .join(""),
    ).toBe(text);
    expect(
      jsonTokens(text)
        .filter((token) => token.kind === "invalid")
        .map((token) => token.text),
    ).toEqual(["bad", "NaN"]);
  });

  it("are found quickly in hostile text", () => {
    // Were it quadratic, the test's own time limit would end it.
    expect(jsonTokens(`${"[".repeat(50_000)}"${"\\".repeat(50_000)}`).length).toBeGreaterThan(0);
  });
});

describe("JSON laid out", () => {
  it("puts short containers of plain values on one line", () => {
    expect(
      pretty('{"order":48213,"lines":[{"sku":"KB-101","qty":2},{"sku":"MS-220","qty":1}],"none":{},"tags":["a","b"],"deep":{"x":{"y":1}}}'),
    ).toBe(
      `{
  "order": 48213,
  "lines": [
    { "sku": "KB-101", "qty": 2 },
    { "sku": "MS-220", "qty": 1 }
  ],
  "none": {},
  "tags": ["a", "b"],
  "deep": {
    "x": { "y": 1 }
  }
}`,
    );
  });

  it("shows a cut body up to the cut", () => {
    expect(pretty('{"a":1,"b":[1,{"c":"unfin')).toBe('{\n  "a": 1,\n  "b": [\n    1,\n    {\n      "c": "unfin');
  });

  it("keeps JSON lines, one value per line", () => {
    expect(pretty('{"a":1}\n{"a":2}\n3\n[]')).toBe('{ "a": 1 }\n{ "a": 2 }\n3\n[]');
  });

  it.each(["{}", "[]", "1", '"x"', "null"])("leaves %s unchanged", (text) => {
    expect(pretty(text)).toBe(text);
  });

  it("loses nothing of nested JSON", () => {
    const value = { a: [[], [1, [2, { b: [{}] }]]], c: "x".repeat(80), d: [{ e: "y".repeat(70) }] };
    expect(JSON.parse(pretty(JSON.stringify(value)))).toEqual(value);
  });
});

describe("text that looks like JSON", () => {
  it.each(['{"a":1}', " [1,2]", "{}", "[]"])("%s does", (text) => expect(looksLikeJson(text)).toBe(true));
  it("may continue beyond the sample", () => expect(looksLikeJson(`{"a":"${"x".repeat(1_000)}`)).toBe(true));
  it.each(["{a:1}", "hello", "", "[x]", "{{mustache}}"])("%s does not", (text) => expect(looksLikeJson(text)).toBe(false));
});
