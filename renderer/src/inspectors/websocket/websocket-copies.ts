import type { ServiceView } from "../../../../contract/service.ts";
import { type HeaderList, type HttpExchangeFacts, headerValue } from "../../../../contract/traffic/http.ts";
import type { WebSocketMessagePart } from "../../../../contract/traffic/websocket.ts";
import { inBash, printed, shellQuoted } from "../../ui/copy/shells.ts";
import { originOfConnection, pathOfTarget } from "../../ui/texts/address.ts";
import { decodeText, fromBase64 } from "../../viewer/decode/bytes.ts";
import type { CopyChoice } from "../copy-menu.tsx";
import { notCopied } from "../kind-commands.ts";

export interface WebSocketReplay {
  /** "http://127.0.0.1:8080" */
  readonly origin: string;
  /** Path and query. */
  readonly target: string;
  readonly headers: HeaderList;
  /** Sent when the connection is open. */
  readonly message?: Pick<WebSocketMessagePart, "type" | "body">;
}

export const webSocketReplay = (
  { request, connection }: HttpExchangeFacts,
  service: ServiceView | undefined,
  message?: WebSocketReplay["message"],
): WebSocketReplay => ({
  origin: originOfConnection(service, connection),
  target: pathOfTarget(request.target) ?? request.target,
  headers: request.headers,
  ...(message && { message }),
});

/** RFC 6455 §4.1: header fields that the client generates for each handshake. */
export const ownHeaders = /^(host|connection|upgrade|content-length|sec-websocket-(key|version|extensions|protocol))$/i;

function urlOf({ origin, target }: WebSocketReplay): string {
  if (!target.startsWith("/")) throw notCopied("Its target is not a path.", "No client opens a WebSocket with it.");
  return `${origin.replace(/^http/, "ws")}${target}`;
}

/** "chat, other" */
export const namesIn = (list: string): string[] =>
  list
    .split(",")
    .map((name) => name.trim())
    .filter(Boolean);

export const protocolsOf = ({ headers }: Pick<WebSocketReplay, "headers">): string[] =>
  namesIn(headerValue(headers, "sec-websocket-protocol"));

/** Commands and programs that open a WebSocket again. */
export const webSocketCopies = (replay: WebSocketReplay): readonly CopyChoice[] => [
  { id: "websocat", title: inBash("websocat"), text: () => asWebsocat(replay) },
  { id: "javascript", title: "JavaScript", text: () => asJavaScript(replay) },
];

export function asWebsocat(replay: WebSocketReplay): string {
  const { message } = replay;
  const protocols = protocolsOf(replay);
  const isBinary = message?.type === "binary";
  const words = [
    "websocat",
    // One message, and then wait for the answer.
    ...(message ? [isBinary ? "-bn1" : "-n1"] : []),
    ...(protocols.length > 0 ? ["--protocol", protocols.join(",")] : []),
    ...replay.headers.filter(([name]) => !ownHeaders.test(name)).flatMap(([name, value]) => ["-H", `${name}: ${value}`]),
    urlOf(replay),
  ];
  const command = words.map(shellQuoted).join(" ");
  if (!message) return command;
  const text = isBinary ? undefined : decodeText(fromBase64(message.body.base64), false);
  // Without -b a message ends with its line.
  if (text !== undefined && !text.includes("\n")) return `printf '%s\\n' ${shellQuoted(text)} | ${command}`;
  const bytes = `${printed(message.body.base64)} | base64 -d`;
  return `${bytes} | ${isBinary ? command : command.replace("-n1", "-tn1 --no-line")}`;
}

export function asJavaScript(replay: WebSocketReplay): string {
  const { message } = replay;
  const protocols = protocolsOf(replay);
  const literal = (value: unknown) => JSON.stringify(value);
  const text = message?.type === "text" ? decodeText(fromBase64(message.body.base64), false) : undefined;
  const sent =
    message === undefined
      ? literal("hello")
      : text === undefined
        ? `Uint8Array.from(atob(${literal(message.body.base64)}), (c) => c.charCodeAt(0))`
        : literal(text);
  return [
    `const socket = new WebSocket(${[urlOf(replay), ...(protocols.length > 0 ? [protocols] : [])].map(literal).join(", ")});`,
    `socket.onopen = () => socket.send(${sent});`,
    "socket.onmessage = ({ data }) => console.log(data);",
    "socket.onclose = ({ code, reason }) => console.log(code, reason);",
  ].join("\n");
}

/** RFC 6455 §7.4.1 and the IANA registry. */
const closeCodes: Readonly<Record<number, string>> = {
  1000: "normal closure",
  1001: "going away",
  1002: "protocol error",
  1003: "unsupported data",
  1005: "no status received",
  1006: "abnormal closure",
  1007: "invalid payload data",
  1008: "policy violation",
  1009: "message too big",
  1010: "mandatory extension",
  1011: "internal error",
  1012: "service restart",
  1013: "try again later",
  1014: "bad gateway",
};

/** "1000, normal closure" */
export const closeCodeText = (code: number): string => [code, closeCodes[code]].filter(Boolean).join(", ");
