import { expect, it } from "vitest";
import { filterPalette } from "../../renderer/src/app/palette-filter.ts";

const groups = [
  { group: "Actions", actions: [{ id: "start-http", label: "Start HTTP" }] },
  {
    group: "Pages and settings",
    actions: [
      { id: "tab-http-config", label: "HTTP: Config", keywords: "settings port configuration" },
      { id: "tab-rtsp-port", label: "RTSP: HTTP port" },
      { id: "tab-http-port", label: "HTTP: Port", description: "Where requests arrive" },
    ],
  },
];
const found = (query: string) => filterPalette(query, groups).map(({ actions }) => actions.map(({ id }) => id));

it("[BL-384] the palette finds the words of a query in any order, in titles, descriptions and keywords, the best match first", () => {
  expect(found("http config")).toEqual([["tab-http-config"]]);
  expect(found("http port")).toEqual([["tab-rtsp-port", "tab-http-port", "tab-http-config"]]);
  expect(found("arrive HTTP")).toEqual([["tab-http-port"]]);
  expect(found("start http")).toEqual([["start-http"]]);
  expect(found("")).toEqual([["start-http"], ["tab-http-config", "tab-rtsp-port", "tab-http-port"]]);
  expect(found("http nothing")).toEqual([]);
});
