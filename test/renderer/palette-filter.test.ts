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

it("[BL-426] the palette shows the 50 best matches, and groups that are only searched not before a query", () => {
  const many = [
    { group: "Services", actions: [{ id: "page", label: "Page" }] },
    { group: "Configuration", actions: Array.from({ length: 100 }, (_, index) => ({ id: `field-${index}`, label: `Page size ${index}` })) },
  ];
  const ids = (query: string) => filterPalette(query, many, ["Configuration"]).flatMap(({ actions }) => actions.map(({ id }) => id));
  expect(ids("")).toEqual(["page"]);
  expect(ids("page")).toEqual(["page", ...Array.from({ length: 49 }, (_, index) => `field-${index}`)]);
  expect(ids("size 99")).toEqual(["field-99"]);
});
