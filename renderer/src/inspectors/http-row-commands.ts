import type { ServiceView } from "../../../contract/service.ts";
import { httpActions } from "../../../contract/services/http.ts";
import type { HttpExchange } from "../../../contract/traffic/http.ts";
import type { ControlClient } from "../control/control-client.ts";
import { formatTook } from "../ui/texts/time.ts";
import { copyAs, copyFormats, copyFormatTitles, replayOf } from "./http/copy-as.ts";
import { notWhole, type RowCommands } from "./kind-commands.ts";
import { asJavaScript, asWebsocat, webSocketReplay } from "./websocket/websocket-copies.ts";

/** Of every service over HTTP. */
export const httpRowCommands: RowCommands = {
  http: {
    target: "path",
    copies: copyFormats.map((format) => ({
      title: copyFormatTitles[format],
      text: (exchange, service) => copyAs(format, replayOf(exchange, service)),
    })),
    resend: { title: "Send again", run: resendRequest },
  },
  websocket: {
    target: "path",
    copies: [
      { title: "websocat", text: (connection, service) => asWebsocat(webSocketReplay(connection, service)) },
      { title: "JavaScript", text: (connection, service) => asJavaScript(webSocketReplay(connection, service)) },
    ],
  },
  "websocket-message": { target: "path", copies: [] },
};

async function resendRequest(client: ControlClient, exchange: HttpExchange, service: ServiceView): Promise<string> {
  const { method, target, headers, body } = exchange.request;
  if (body.hiddenIn !== undefined) throw notWhole("Passwords or tokens in its body are hidden in the recording.");
  if (replayOf(exchange, service).missingBytes) throw notWhole("Only the start of its body was recorded.");
  const { status, reason, tookMs } = await client.action(httpActions, service.id, "resend", {
    ...{ tls: exchange.connection.tls !== undefined, method, target, body: body.base64 },
    headers: headers.map(([name, value]): [string, string] => [name, value]),
  });
  return `Sent ${method} ${target} again: ${`${status} ${reason}`.trim()} in ${formatTook(tookMs)}`;
}
