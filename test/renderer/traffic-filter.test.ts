import { renderToStaticMarkup } from "react-dom/server";
import { expect, it } from "vitest";
import type { TrafficRow } from "../../contract/traffic/row.ts";
import { httpColumns } from "../../renderer/src/list/columns/http-columns.tsx";
import { allTerms, filterHint, filterNote, grpcStatuses, httpStatuses } from "../../renderer/src/list/filter/filter-terms.ts";

it("[BL-442] names the fields that filters do not have, or the rows of a list, and those that they have", () => {
  const textOf = (text: string, terms = allTerms) => filterNote(text, terms, true)?.text;
  const some = { fields: ["status", "client"] } as const;
  expect(textOf("status:4xx -path:/a user:anna http://host/a foo:")).toBeUndefined();
  expect(textOf("foo:bar foo:baz", some)).toBe("“foo:” is no field: use status, client");
  expect(textOf("-foo:bar status:2xx larger-than:10k")).toMatch(/^“foo:”, “larger-than:” are no fields: use status, .*, took, size$/);
  expect(filterNote("-user:anna status:4xx", some, true)).toMatchObject({
    text: "“user:” is no field: use status, client",
    title: expect.stringMatching(/^No row of this list has it\. /),
  });
});

it.each([
  'status:500 status:4xx status:>=500 method:POST path:/a,b path:/a?x=>1 client:a,b status:"closed, 1000" took:>1.5s size:<=10KiB',
  'status:4 status:40 status:1000 took: took:> took:>= size:< took:">1.20 s" a>b x<y',
  'path:"a b>5" reason:"x foo:bar" status:"b>=1 c:d" took:>1. size:<0.',
])("[BL-489] nothing is wrong with the terms of %s", (text) => {
  expect(filterNote(text, allTerms, true)).toBeUndefined();
});

it.each([
  ["a -method:post,put", "“-method:post,put” is no single value: use method:POST"],
  ["status:400,500", "“status:400,500” is no single value: use status:4xx"],
  ["a status:9x", "“status:9x” is no status: use status:4xx"],
  ["status:9xx", "“status:9xx” is no status: use status:4xx"],
  ["status:>=abc", "“status:>=abc” is no status: use status:4xx"],
  ["took:100ms", "“took:100ms” is no time to compare with: use took:>100ms"],
  ["took:>10kB", "“took:>10kB” is no time to compare with: use took:>100ms"],
  ["-size:big", "“-size:big” is no size to compare with: use size:>10kB"],
  ["/api took>100", "“took>100” is searched as text: use took:>100ms or size:>10kB"],
  ["bytes>=1000", "“bytes>=1000” is searched as text: use took:>100ms or size:>10kB"],
  ["foo:1 status:<x", expect.stringMatching(/^“foo:” is no field/)],
])("[BL-489] %s has a term that no row meets, or that is none", (text, expected) => {
  expect(filterNote(text, allTerms, true)?.text).toEqual(expected);
});

it("[BL-489] a word that is in no known status is named while no row is found", () => {
  const textOf = (text: string, statuses = httpStatuses, finds = false) =>
    filterNote(text, { fields: ["status", "path"], statuses }, finds)?.text;
  expect(textOf("path:/a status:abc")).toBe("“status:abc” is no status: use status:4xx");
  expect(textOf("status:abc", httpStatuses, true)).toBeUndefined();
  expect(textOf("status:abort status:CLIENT status:404")).toBeUndefined();
  expect(textOf("status:ok", grpcStatuses)).toBeUndefined();
  expect(textOf("status:success", grpcStatuses)).toBe("“status:success” is no status: use status:NOT_FOUND");
  expect(filterNote("status:abc", allTerms, false)).toBeUndefined();
});

it("[BL-484] a filter says that words are one text, and offers the fields that the rows have", () => {
  const hint = filterHint({ fields: ["status", "path", "took"], statuses: grpcStatuses });
  expect(hint).toContain("Several words are searched as one text");
  expect(hint).toContain("Also status:NOT_FOUND path:/api took:>100ms, ");
  expect(hint).not.toMatch(/user:|reason:|client:|size:/);
});

it("[BL-443] a list shows no value of a secret query field", () => {
  const cell = httpColumns.find(({ id }) => id === "path")?.cell;
  const row = { kind: "http", target: "/api/data?api_key=k-123&page=2" } as TrafficRow;
  const shown = renderToStaticMarkup(cell?.(row, 80));
  expect(shown).not.toContain("k-123");
  expect(shown).toContain("?api_key=…&amp;page=2");
});
