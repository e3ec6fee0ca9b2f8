import type { ServerResponse } from "node:http";
import type { HttpRequest, HttpResponse } from "../../core/http/http-route.ts";
import { send, sendEmpty } from "../../core/http/messages/http-answer.ts";
import { HttpRefusal } from "../../core/http/messages/http-refusal.ts";
import { seededRandom } from "../../core/traffic/seeded-random.ts";
import { decimalOf, queryOf, textParam } from "./query.ts";
import { type Route, routeGroup } from "./route.ts";

export const statusRoutes = (): readonly Route[] =>
  routeGroup("Answers", [
    {
      path: "/status/:codes",
      methods: ["GET", "POST", "PUT", "PATCH", "DELETE", "TRACE"],
      summary: "Answers with this status, or with one of several: 200:3,500:1 gives 500 once in four",
      query: { seed: "the same choice for the same seed" },
      handle: chooseStatus,
    },
  ]);

const teapot = `
    -=[ teapot ]=-

       _...._
     .'  _ _ \`.
    | ."\` ^ \`". _,
    \\_;\`"---"\`|//
      |       ;/
      \\_     _/
        \`"""\`
`;
const redirecting = new Set([301, 302, 303, 305, 307, 308]);

function chooseStatus(request: HttpRequest, response: HttpResponse): void {
  const seed = queryOf(request).get("seed");
  const status = pick(parseChoices(textParam(request, "codes")), seed === null ? Math.random : seededRandom(seed));
  if (redirecting.has(status)) answerStatus(response, status, undefined, { Location: "/redirect/1" });
  else if (status === 418)
    answerStatus(
      response,
      status,
      { type: "text/plain; charset=utf-8", body: teapot },
      { "X-More-Info": "https://www.rfc-editor.org/rfc/rfc2324" },
    );
  else answerStatus(response, status);
}

interface Choice {
  readonly status: number;
  readonly weight: number;
}

function parseChoices(text: string): readonly Choice[] {
  const choices = text.split(",").map((part): Choice => {
    const [, status, weightText = "1"] = /^\s*([2-5]\d\d)\s*(?::\s*(\S+)\s*)?$/.exec(part) ?? [];
    const weight = decimalOf(weightText);
    if (status === undefined || weight === undefined) throw new HttpRefusal(400, "Invalid status code");
    return { status: Number(status), weight };
  });
  if (!choices.some(({ weight }) => weight > 0)) throw new HttpRefusal(400, "Invalid status code: every weight is 0");
  return choices;
}

function pick(choices: readonly Choice[], random: () => number): number {
  let left = random() * choices.reduce((sum, { weight }) => sum + weight, 0);
  const likely = choices.filter(({ weight }) => weight > 0);
  for (const { status, weight } of likely) {
    left -= weight;
    if (left < 0) return status;
  }
  return likely.at(-1)?.status ?? 200;
}

/** Fields without which an answer of that status breaks RFC 9110. */
const requiredFields: Readonly<Record<number, Readonly<Record<string, string>>>> = {
  401: { "WWW-Authenticate": 'Basic realm="backlot"' },
  405: { Allow: "GET, HEAD, OPTIONS" },
  407: { "Proxy-Authenticate": 'Basic realm="backlot"' },
  426: { Upgrade: "websocket", Connection: "Upgrade, close" },
};

/** An answer of any status from 200 to 599 as RFC 9110 frames it: 204, 205 and 304 have no content. */
export function answerStatus(
  response: ServerResponse,
  status: number,
  content?: { readonly type: string; readonly body: string },
  headers?: Readonly<Record<string, string>>,
): void {
  const fields = { ...requiredFields[status], ...headers };
  if (content === undefined || status === 204 || status === 205 || status === 304) sendEmpty(response, status, fields);
  else send(response, status, content.type, content.body, fields);
}
