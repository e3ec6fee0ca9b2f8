import type { HttpRequest, HttpResponse } from "../../core/http/http-route.ts";
import { send, sendEmpty } from "../../core/http/messages/http-answer.ts";
import { angryFace, formPage, htmlPage, robotsText, sampleSlides, sampleXml, utf8Page } from "../formats/sample-documents.ts";
import type { HttpConfig } from "../http-config.ts";
import { integerParam } from "./query.ts";
import { sendHtml, sendPrettyJson, sendText } from "./reply.ts";
import { type Route, routeGroup } from "./route.ts";

export const documentRoutes = (config: HttpConfig): readonly Route[] =>
  routeGroup("Documents", [
    { path: "/html", methods: ["GET"], summary: "An HTML page", handle: (_request, response) => sendHtml(response, htmlPage) },
    {
      path: "/xml",
      methods: ["GET"],
      summary: "An XML document",
      handle: (_request, response) => send(response, 200, "application/xml", sampleXml),
    },
    { path: "/json", methods: ["GET"], summary: "A JSON document", handle: (_request, response) => sendPrettyJson(response, sampleSlides) },
    { path: "/robots.txt", methods: ["GET"], summary: "Rules for robots", handle: (_request, response) => sendText(response, robotsText) },
    { path: "/deny", methods: ["GET"], summary: "What robots.txt denies", handle: (_request, response) => sendText(response, angryFace) },
    {
      path: "/encoding/utf8",
      methods: ["GET"],
      summary: "A page in many scripts, as UTF-8",
      handle: (_request, response) => sendHtml(response, utf8Page),
    },
    {
      path: "/forms/post",
      methods: ["GET"],
      summary: "A form that posts to /post",
      handle: (_request, response) => sendHtml(response, formPage),
    },
    {
      path: "/links/:count",
      methods: ["GET"],
      summary: "Redirects to the first page of links",
      handle: (request, response) => sendEmpty(response, 302, { Location: `/links/${integerParam(request, "count")}/0` }),
    },
    {
      path: "/links/:count/:page",
      methods: ["GET"],
      summary: `A page of links to its siblings, at most ${config.links}`,
      handle: (request, response) => sendLinks(request, response, config.links),
    },
  ]);

function sendLinks(request: HttpRequest, response: HttpResponse, most: number): void {
  const count = Math.min(Math.max(1, integerParam(request, "count")), most);
  const page = integerParam(request, "page");
  const links = Array.from({ length: count }, (_, index) =>
    index === page ? `${index}` : `<a href='/links/${count}/${index}'>${index}</a>`,
  );
  sendHtml(response, `<!doctype html><html lang="en"><head><title>Links</title></head><body>${links.join(" ")}</body></html>\n`);
}
