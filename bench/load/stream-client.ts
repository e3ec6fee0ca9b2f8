/**
 * Follows one long stream: `node stream-client.ts URL websocket|sse MESSAGES PARTS`. Prints a line when it begins and after each part;
 * the line after a part is printed once the server has been quiet, so that what it has yet to record is counted with it.
 */
import { once } from "node:events";
import { get } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { WebSocket } from "ws";

const [url = "", kind = "", messages = 0, parts = 0] = [process.argv[2], process.argv[3], Number(process.argv[4]), Number(process.argv[5])];
const perPart = messages / parts;
const windowMessages = 64;
const quietMs = 300;

const print = () => process.stdout.write("part\n");

async function webSocket(): Promise<void> {
  const socket = new WebSocket(`${url.replace("http", "ws")}/ws/echo`, { perMessageDeflate: false });
  await once(socket, "open");
  const message = Buffer.alloc(64, "message ").toString();
  let sent = 0;
  let answered = 0;
  let end = perPart;
  let onPart: (() => void) | undefined;
  const send = () => {
    while (sent < end && sent - answered < windowMessages) {
      socket.send(message);
      sent++;
    }
  };
  socket.on("message", () => {
    answered++;
    if (answered === end) onPart?.();
    else send();
  });
  for (let part = 0; part < parts; part++) {
    const done = new Promise<void>((resolve) => {
      onPart = resolve;
    });
    send();
    await done;
    await sleep(quietMs);
    print();
    end += perPart;
  }
  socket.terminate();
}

/** The server sets the pace: as quick as the route allows. */
async function sse(): Promise<void> {
  const response = await new Promise<import("node:http").IncomingMessage>((resolve, reject) =>
    get(`${url}/api/stream?count=${messages}&duration=${messages / 10}ms`, resolve).once("error", reject),
  );
  let events = 0;
  let printed = 0;
  let carry = "";
  response.setEncoding("latin1");
  for await (const chunk of response) {
    const text = carry + (chunk as string);
    for (let at = text.indexOf("\n\n"); at >= 0; at = text.indexOf("\n\n", at + 2)) events++;
    carry = text.endsWith("\n\n") ? "" : text.slice(-1);
    while (printed < parts && events >= (printed + 1) * perPart) {
      printed++;
      print();
    }
  }
}

print();
await (kind === "sse" ? sse() : webSocket());
process.exit(0);
