import { expect, it } from "vitest";
import type { ServiceId } from "../../contract/service.ts";
import { termFieldNames } from "../../contract/traffic/row-query.ts";
import { servicePages } from "../../renderer/src/services/registry.ts";
import { services } from "../../servers/catalog.ts";

it.each(services.map((service) => [service.id, service] as const))(
  "[BL-185] the page of %s has an inspector for each kind of detail that the service records, and no other",
  (id, { details }) => {
    expect(Object.keys(servicePages.get(id)?.inspectors ?? {}).sort()).toEqual(Object.keys(details).sort());
  },
);

it("[BL-280] no two services have the same colour in plots", () => {
  const colors = [...servicePages.values()].map(({ color }) => color);
  expect(new Set(colors).size).toBe(services.length);
});

it("[BL-484] the filter of HTTP offers no user and no reason, which its rows do not have", () => {
  const fieldsOf = (id: ServiceId) => servicePages.get(id)?.tabs.flatMap((tab) => (tab.kind === "traffic" ? [tab.filterTerms.fields] : []));
  expect(fieldsOf("http")).toEqual([["status", "method", "path", "client", "took", "size"]]);
  expect(fieldsOf("account")).toEqual([termFieldNames]);
});
