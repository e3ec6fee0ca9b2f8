import { describe, expect, it } from "vitest";
import { fittingPath, segmentsOf } from "../../renderer/src/list/cells/fitting-path.ts";
import { type Column, fitColumns } from "../../renderer/src/list/columns/column.ts";
import { movedRow } from "../../renderer/src/list/row-cursor.ts";

const column = (id: string, rank: number, minSample?: string): Column<string> => ({
  id,
  title: id,
  rank,
  cell: (row) => row,
  ...(minSample !== undefined && { minSample }),
});
const tenPxALetter = ({ minSample = "" }: Column<string>) => minSample.length * 10;

describe("columns", () => {
  const columns = [column("time", 2, "00:00"), column("path", 0), column("client", 3, "0123456789")];

  it("are as wide as their minSample value; one fills the rest", () => {
    expect(fitColumns(columns, 1_000, tenPxALetter).template).toBe("50px minmax(0, 1fr) 100px");
  });

  it("are hidden by rank if there is no room; those of rank 0 stay", () => {
    expect(fitColumns(columns, 300, tenPxALetter).columns.map(({ id }) => id)).toEqual(["time", "path"]);
    expect(fitColumns(columns, 20, tenPxALetter).columns.map(({ id }) => id)).toEqual(["path"]);
  });
});

describe("the filling column", () => {
  const filling = { ...column("where", 0), leastPx: 112 };
  const columns = [column("time", 0, "0".repeat(10)), filling, column("took", 2, "0".repeat(10)), column("client", 3, "0".repeat(10))];
  it.each([
    [516, ["time", "where", "took", "client"]],
    [419, ["time", "where", "took"]],
    [344, ["time", "where", "took"]],
    [343, ["time", "where"]],
  ])("[BL-277] in %i px shrinks before a column of rank 1 or 2 is hidden", (roomPx, shown) => {
    expect(fitColumns(columns, roomPx, tenPxALetter).columns.map(({ id }) => id)).toEqual(shown);
  });
});

describe("a column with a narrower text", () => {
  const filling = { ...column("where", 0), leastPx: 100 };
  const outcome = { ...column("outcome", 0, "0".repeat(20)), leastSample: "0".repeat(8) };
  const columns = [column("time", 1, "0".repeat(10)), filling, outcome, column("took", 3, "0".repeat(5))];
  it.each([
    [566, ["time", "where", "outcome", "took"], "100px minmax(0, 1fr) 200px 50px"],
    // The column of rank 3 is hidden before any shrinks.
    [565, ["time", "where", "outcome"], "100px minmax(0, 1fr) 200px"],
    // First the filling one has 100 px.
    [432, ["time", "where", "outcome"], "100px minmax(0, 1fr) 200px"],
    [372, ["time", "where", "outcome"], "100px minmax(0, 1fr) 140px"],
    [312, ["time", "where", "outcome"], "100px minmax(0, 1fr) 80px"],
    [311, ["where", "outcome"], "minmax(0, 1fr) 195px"],
  ])("[BL-277] in %i px shrinks to it before a column of rank 1 or 2 is hidden", (roomPx, shown, template) => {
    const fitted = fitColumns(columns, roomPx, tenPxALetter);
    expect([fitted.columns.map(({ id }) => id), fitted.template]).toEqual([shown, template]);
  });
});

describe("a column with a preferredSample width", () => {
  const columns = [column("path", 0), { ...column("client", 4, "c".repeat(10)), preferredSample: "c".repeat(15) }];
  it.each([
    [1_000, "minmax(0, 1fr) 150px"],
    [416, "minmax(0, 1fr) 120px"],
    [300, "minmax(0, 1fr) 100px"],
  ])("in %i px takes only what the filling column can spare", (roomPx, template) => {
    expect(fitColumns(columns, roomPx, tenPxALetter).template).toBe(template);
  });
});

describe("a path in one line", () => {
  it.each([
    ["/api/data", ["/api/", "data", ""]],
    ["/", ["", "/", ""]],
    ["/orders/", ["/", "orders/", ""]],
    ["/orders/7?next=/a/b", ["/orders/", "7", "?next=/a/b"]],
    ["/package.Service/Method", ["/package.Service/", "Method", ""]],
    ["sensors/what?/value", ["sensors/what?/", "value", ""]],
    ["topic", ["", "topic", ""]],
    ["", ["", "", ""]],
  ])("[BL-277] %j keeps its last segment", (text, segments) => {
    expect(segmentsOf(text)).toEqual(segments);
  });
});

describe("a path in as many characters as there is room for", () => {
  it.each([
    ["/api/data?page=1", 16, "/api/data?page=1"],
    ["/api/data?page=1", 15, "/api/data?page…"],
    ["/api/data?page=1", 11, "/api/data?…"],
    ["/api/data?page=1", 10, "/api/data…"],
    ["/api/data?page=1", 9, "…pi/data…"],
    ["/api/data?page=1", 6, "…data…"],
    ["/api/data?page=1", 5, "…data"],
    ["/api/data?page=1", 4, "…da…"],
    ["/missing", 8, "/missing"],
    ["/missing", 5, "/mis…"],
    ["topic", 4, "top…"],
    ["/orders/7?", 9, "…rders/7…"],
    ["sensors/hall-a/temperature", 20, "…/hall-a/temperature"],
    ["sensors/hall-a/temperature", 13, "…/temperature"],
    ["sensors/温度計/湿度", 18, "…nsors/温度計/湿度"],
    ["/\u202e/x", 10, "/\\u202e/x"],
    [`/${"start/".repeat(1_000)}end/file`, 12, "…rt/end/file"],
    ["", 0, ""],
  ])("[BL-277] %j in %i characters", (text, room, shown) => {
    const { parts, isCut } = fittingPath(text, room);
    expect([parts.join(""), isCut]).toEqual([shown, shown.includes("…")]);
  });
});

describe("the chosen row", () => {
  it.each([
    ["ArrowDown", 4, 5],
    ["ArrowUp", 4, 3],
    ["ArrowUp", 0, 0],
    ["ArrowUp", -1, 0],
    ["ArrowDown", -1, 0],
    ["PageDown", 4, 14],
    ["PageDown", 95, 99],
    ["PageUp", 4, 0],
    ["Home", 50, 0],
    ["End", 50, 99],
  ])("%s takes it from %i to %i", (key, from, to) => {
    expect(movedRow(key, from, 100, 10)).toBe(to);
  });

  it("does not move with other keys, or in an empty list", () => {
    expect(movedRow("a", 4, 100, 10)).toBeUndefined();
    expect(movedRow("ArrowDown", -1, 0, 10)).toBeUndefined();
  });
});
