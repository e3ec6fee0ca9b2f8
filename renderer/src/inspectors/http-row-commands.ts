import type { ServiceView } from "../../../contract/service.ts";
import { httpActions } from "../../../contract/services/http.ts";
import type { HttpExchange } from "../../../contract/traffic/http.ts";
import type { WebSocketMessage } from "../../../contract/traffic/websocket.ts";
import type { ControlClient } from "../control/control-client.ts";
import { inBash } from "../ui/copy/shells.ts";
import { formatTook } from "../ui/texts/time.ts";
import { copyAs, copyFormats, copyFormatTitles, partOfBody, replayOf } from "./http/copy-as.ts";
import { type KindCommands, notKept, notWhole, type RowCommands } from "./kind-commands.ts";
import { asJavaScript, asWebsocat, type WebSocketReplay, webSocketReplay } from "./websocket/websocket-copies.ts";

/** Row commands of every service over HTTP; with "open in Try" if the service's Try tab takes recorded requests, or WebSockets. */
export const httpRowCommands = (
  openInTry?: KindCommands<"http">["openInTry"],
  openSocketInTry?: KindCommands<"websocket">["openInTry"],
): RowCommands => ({
  http: {
    target: "path",
    copies: copyFormats.map((format) => ({
      title: copyFormatTitles[format],
      text: (exchange, service) => copyAs(format, replayOf(exchange, service)),
    })),
    resend: { title: "Send again", run: resendRequest },
    ...(openInTry && { openInTry }),
  },
  websocket: {
    target: "path",
    copies: [
      { title: inBash("websocat"), text: (connection, service) => asWebsocat(webSocketReplay(connection, service)) },
      { title: "JavaScript", text: (connection, service) => asJavaScript(webSocketReplay(connection, service)) },
    ],
    ...(openSocketInTry && { openInTry: openSocketInTry }),
  },
  "websocket-message": {
    target: "path",
    copies: [
      { title: inBash("websocat"), text: async (message, ...of) => asWebsocat(await messageReplay(message, ...of)) },
      { title: "JavaScript", text: async (message, ...of) => asJavaScript(await messageReplay(message, ...of)) },
    ],
  },
});

/** The path and the header fields are those of its connection. */
async function messageReplay(message: WebSocketMessage, service: ServiceView, client: ControlClient): Promise<WebSocketReplay> {
  const opened = (await client.call("traffic.detail", { id: service.id, row: message.parent }))?.detail;
  if (opened?.kind !== "websocket") throw notKept();
  return webSocketReplay(opened, service, message);
}

const copyHint = "Copy it as a command and put in what is hidden, or switch on “Record credentials” in Config for those to come.";

async function resendRequest(client: ControlClient, exchange: HttpExchange, service: ServiceView): Promise<string> {
  const { method, target, headers, body, unparsed } = exchange.request;
  if (unparsed) throw notWhole("It is no valid request.");
  if (body.hiddenIn !== undefined) throw notWhole("Passwords or tokens in its body are hidden in the recording.", copyHint);
  const { toFillIn = [] } = replayOf(exchange, service);
  if (toFillIn.length > 0) throw notWhole(`The value of ${toFillIn.join(", ")} is hidden in the recording.`, copyHint);
  const part = partOfBody(exchange.request);
  if (part) throw notWhole(part.why, part.hint);
  const { status, reason, tookMs } = await client.action(httpActions, service.id, "resend", {
    tls: exchange.connection.tls !== undefined,
    method,
    target,
    body: body.base64,
    headers: headers.map(([name, value]): [string, string] => [name, value]),
  });
  return `Sent ${method} ${target} again: ${`${status} ${reason}`.trim()} in ${formatTook(tookMs)}`;
}
