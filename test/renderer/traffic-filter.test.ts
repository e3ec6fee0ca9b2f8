import { renderToStaticMarkup } from "react-dom/server";
import { expect, it } from "vitest";
import type { TrafficRow } from "../../contract/traffic/row.ts";
import { httpColumns } from "../../renderer/src/list/http-columns.tsx";
import { unknownFieldsText } from "../../renderer/src/list/traffic-filter.ts";

it("[BL-442] names the fields that filters do not have, and those that they have", () => {
  expect(unknownFieldsText("status:4xx -path:/a http://host/a foo:")).toBe("");
  expect(unknownFieldsText("foo:bar foo:baz")).toBe("“foo:” is no field: use status, method, path, client, user, reason");
  expect(unknownFieldsText("-foo:bar status:2xx took:>100ms")).toMatch(/^“foo:”, “took:” are no fields: use status, /);
});

it("[BL-443] a list shows no value of a secret query field", () => {
  const cell = httpColumns.find(({ id }) => id === "path")?.cell;
  const row = { kind: "http", target: "/api/data?api_key=k-123&page=2" } as TrafficRow;
  const shown = renderToStaticMarkup(cell?.(row, 80));
  expect(shown).not.toContain("k-123");
  expect(shown).toContain("?api_key=…&amp;page=2");
});
