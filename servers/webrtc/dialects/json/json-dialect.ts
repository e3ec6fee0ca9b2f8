import { namesSecret } from "../../../../contract/traffic/secret-names.ts";
import { closeCode } from "../../../core/http/websocket/close-code.ts";
import type { Hub } from "../../signalling/hub.ts";
import { Peer, type PeerLink } from "../../signalling/peer.ts";
import { tooManyPeers } from "../../signalling/peers.ts";
import type { PeerEvent, Signal } from "../../signalling/signalling-event.ts";
import type { WebRoutes } from "../../web/web-routes.ts";
import { redactedStart } from "../redacted-start.ts";
import type { WebSocketClient, WebSocketClients, WebSocketHandler } from "../web-socket-clients.ts";
import { createJsonEncoder, type EncodeJsonEvent } from "./encode-json-event.ts";
import { type JsonMessage, parseJsonMessage } from "./parse-json-message.ts";

export interface JsonDialectOptions {
  readonly hub: Hub;
  readonly webSockets: WebSocketClients;
  readonly messageDepth: number;
  readonly recordCredentials: boolean;
}

/** Plain JSON over a WebSocket at /ws: docs/webrtc-signalling.md has the messages. */
export function jsonDialect({ hub, webSockets, messageDepth, recordCredentials }: JsonDialectOptions): WebRoutes {
  const encode = createJsonEncoder();
  const recorded = recordCredentials ? (_: string, bytes: Buffer) => bytes : withoutPassword;

  function receive(client: WebSocketClient, bytes: Buffer): void {
    const { peer } = client;
    if (!(peer instanceof Peer)) return;
    const text = bytes.toString();
    const message = parseJsonMessage(text, messageDepth);
    if ("code" in message) hub.refuse(peer, message, { raw: recorded(text, bytes), re: message.re });
    else carryOut(peer, message, bytes);
  }

  function carryOut(peer: Peer, message: JsonMessage, bytes: Buffer): void {
    const as = { raw: bytes, re: message.type };
    switch (message.type) {
      case "join": {
        // A client may name the password otherwise.
        hub.join(peer, message, { ...as, raw: recorded(bytes.toString(), bytes) });
        return;
      }
      case "leave":
        hub.leave(peer, message.room, as);
        return;
      case "offer":
      case "answer":
        hub.signal(peer, { to: message.to, signal: descriptionSignal(message) }, as);
        return;
      case "candidate":
        hub.signal(peer, { to: message.to, signal: candidateSignal(message.candidate) }, as);
        return;
      case "chat":
        if (message.to === undefined) hub.say(peer, message.room ?? "", message.text, as);
        else hub.sayTo(peer, message.to, message.text, as);
        return;
      default:
        message satisfies never;
    }
  }

  const handler: WebSocketHandler = {
    onText: receive,
    onClosed(client, reason) {
      if (client.peer instanceof Peer) hub.disconnect(client.peer, reason, "client");
    },
  };

  return {
    upgrades: [
      {
        path: "/ws",
        handle(request, socket, head) {
          webSockets.accept(request, socket, head, handler, (client) => {
            const { connection, userAgent, origin } = client;
            client.peer = hub.connect({ dialect: "json", link: new JsonLink(client, encode), connection, userAgent, origin });
            if (!client.peer) client.close(closeCode.tryAgain, tooManyPeers);
          });
        },
      },
    ],
  };
}

class JsonLink implements PeerLink {
  sentBytes = 0;
  readonly #client: WebSocketClient;
  readonly #encode: EncodeJsonEvent;

  constructor(client: WebSocketClient, encode: EncodeJsonEvent) {
    this.#client = client;
    this.#encode = encode;
  }

  get unsentBytes(): number {
    return this.#client.unsentBytes;
  }

  get unsentMemory(): number {
    return this.#client.unsentMemory;
  }

  deliver(event: PeerEvent): void {
    const bytes = this.#encode(event);
    if (!bytes) return;
    this.sentBytes += bytes.length;
    this.#client.sendText(bytes);
  }

  hold(): void {
    this.#client.input.hold();
  }

  release(): void {
    this.#client.input.release();
  }

  close(reason: string): void {
    this.#client.close(closeCode.goingAway, reason);
  }
}

/** `sdp` is a text, or a description with its type as `RTCPeerConnection.localDescription` has it. */
function descriptionSignal({ type, sdp }: Extract<JsonMessage, { type: "offer" | "answer" }>): Signal {
  return { kind: type, sdp: typeof sdp === "string" ? sdp : sdp.sdp, dialect: "json", payload: sdp };
}

function candidateSignal(candidate: Extract<JsonMessage, { type: "candidate" }>["candidate"]): Signal {
  const known = typeof candidate === "string" ? { candidate } : candidate;
  return { kind: "candidate", candidate: known, dialect: "json", payload: candidate };
}

/** Also of a message that could not be read. */
function withoutPassword(text: string, bytes: Buffer): string | Buffer {
  return namesSecret(text) || text.includes("\\u") ? redactedStart(text, namesSecret) : bytes;
}
