import escapeHtml from "escape-html";
import type { HttpRequest, HttpResponse } from "../../core/http/http-route.ts";
import { allowedMethods } from "../../core/http/http-route.ts";
import { varyBy } from "../../core/http/messages/http-answer.ts";
import { preferredType } from "../formats/media-type.ts";
import { sendHtml, sendPrettyJson } from "./reply.ts";
import { type Route, routeGroup } from "./route.ts";

/** The list of all routes, made from the route table. */
export function listRoutes(others: readonly Route[]): readonly Route[] {
  const own = routeGroup("Reference", [
    { path: "/api", methods: ["GET"], summary: "This list: JSON, or HTML for a browser", handle: list },
    { path: "/docs", methods: ["GET"], summary: "This list: JSON, or HTML for a browser", handle: list },
  ]);
  const all = [...others, ...own];
  function list(request: HttpRequest, response: HttpResponse): void {
    varyBy(response, "Accept");
    if (preferredType(request, ["application/json", "text/html"]) === "text/html") sendHtml(response, pageOf(all));
    else sendPrettyJson(response, { routes: all.map(describe) });
  }
  return own;
}

/** "/anything{/*rest}" as people write it: "/anything/*". */
const shownPath = (route: Route) => route.path.replace(/\{\/\*\w+\}$/, "/*").replace(/:(\w+)/g, "{$1}");

const shownMethods = (route: Route) => (route.methods === "any" ? "ANY" : route.methods.join(", "));

function describe(route: Route) {
  return {
    path: shownPath(route),
    methods: route.methods === "any" ? allowedMethods(route.methods).split(", ") : route.methods,
    group: route.group,
    summary: route.summary,
    ...(route.query && { query: route.query }),
  };
}

function pageOf(routes: readonly Route[]): string {
  const groups = Map.groupBy(routes, ({ group }) => group);
  const tables = [...groups].map(
    ([group, members]) => `<h2>${escapeHtml(group)}</h2>\n<table>\n${members.map(lineOf).join("\n")}\n</table>`,
  );
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>Routes of the HTTP service</title>
<style>body{font:14px/1.5 system-ui,sans-serif;margin:2rem;max-width:70rem}td{padding:.15rem 1rem .15rem 0;vertical-align:top}code{font-size:13px}small{color:#555}</style>
</head>
<body>
<h1>Routes of the HTTP service</h1>
${tables.join("\n")}
</body>
</html>
`;
}

function lineOf(route: Route): string {
  const query = Object.entries(route.query ?? {}).map(
    ([name, meaning]) => `<br><small><code>${escapeHtml(name)}</code> ${escapeHtml(meaning)}</small>`,
  );
  return `<tr><td><code>${shownMethods(route)}</code></td><td><code>${escapeHtml(shownPath(route))}</code></td><td>${escapeHtml(route.summary)}${query.join("")}</td></tr>`;
}
