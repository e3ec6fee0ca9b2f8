import { renderToStaticMarkup } from "react-dom/server";
import { expect, it } from "vitest";
import type { TrafficRow } from "../../contract/traffic/row.ts";
import { termFieldNames } from "../../contract/traffic/row-query.ts";
import { httpColumns } from "../../renderer/src/list/http-columns.tsx";
import { filterHint, filterNote } from "../../renderer/src/list/traffic-filter.ts";

it("[BL-442] names the fields that filters do not have, or the rows of a list, and those that they have", () => {
  const textOf = (text: string, fields = termFieldNames) => filterNote(text, fields)?.text;
  expect(textOf("status:4xx -path:/a user:anna http://host/a foo:")).toBeUndefined();
  expect(textOf("foo:bar foo:baz", ["status", "client"])).toBe("“foo:” is no field: use status, client");
  expect(textOf("-foo:bar status:2xx took:>100ms")).toMatch(/^“foo:”, “took:” are no fields: use status, /);
  expect(filterNote("-user:anna status:4xx", ["status", "client"])).toMatchObject({
    text: "“user:” is no field: use status, client",
    title: expect.stringMatching(/^No row of this list has it\. /),
  });
});

it("[BL-489] names a term with a comparison or a list, which no row meets", () => {
  const textOf = (text: string) => filterNote(text, termFieldNames)?.text;
  expect(textOf('status:500 status:4xx method:POST path:/a,b path:/a?x=>1 client:a,b status:"closed, 1000"')).toBeUndefined();
  expect(textOf("status:>=500 a")).toBe("“status:>=500” is no single value: use status:4xx");
  expect(textOf("a -method:post,put")).toBe("“-method:post,put” is no single value: use method:POST");
  expect(textOf("foo:1 status:<500")).toMatch(/^“foo:” is no field/);
});

it("[BL-484] a filter says that words are one text, and offers the fields that the rows have", () => {
  const hint = filterHint(["status", "path"]);
  expect(hint).toContain("Several words are searched as one text");
  expect(hint).toContain("Also status:4xx path:/api, ");
  expect(hint).not.toMatch(/user:|reason:|client:/);
});

it("[BL-443] a list shows no value of a secret query field", () => {
  const cell = httpColumns.find(({ id }) => id === "path")?.cell;
  const row = { kind: "http", target: "/api/data?api_key=k-123&page=2" } as TrafficRow;
  const shown = renderToStaticMarkup(cell?.(row, 80));
  expect(shown).not.toContain("k-123");
  expect(shown).toContain("?api_key=…&amp;page=2");
});
