/**
 * `node scripts/screenshots.mjs [NAME…]`: the pictures in docs/screenshots, all or those named, of the real program with sample traffic. Where
 * all names begin with a service, only these services are started.
 */
import { spawn } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { Client, credentials, loadPackageDefinition } from "@grpc/grpc-js";
import { loadSync } from "@grpc/proto-loader";
import mqtt from "mqtt";
import { chromium } from "playwright-core";
import { io } from "socket.io-client";
import { root } from "./setup.mjs";

const folder = path.join(root, "docs/screenshots");
const sizes = [
  { width: 1_280, height: 800 },
  { width: 1_920, height: 1_080 },
];
const phoneSizes = [{ width: 390, height: 844 }];
const schemes = ["dark", "light"];
const wanted = process.argv.slice(2);
const titles = { http: "HTTP", grpc: "gRPC", mqtt: "MQTT", rtsp: "RTSP", webrtc: "WebRTC", account: "Account", events: "Events" };
/** Whose streams are played. */
const alsoNeeded = { webrtc: ["rtsp"] };
const services = [...new Set(wanted.map((name) => name.split("-")[0]).flatMap((id) => [id, ...(alsoNeeded[id] ?? [])]))];
const startsAll = services.length === 0 || services.some((id) => !(id in titles));
const grpcAddress = "127.0.0.1:50051";

// A name that can be shown.
const dataDir = path.join(os.tmpdir(), "backlot");
mkdirSync(dataDir);
writeGrpcFiles(path.join(dataDir, "services", "grpc"));
const backlot = spawn(
  process.execPath,
  [
    ...[path.join(root, "dist/servers/backlot.cjs"), "--headless", "--json", "--dashboard-port", "0", "--data-dir", dataDir],
    ...(startsAll ? [] : ["--only", services.join()]),
  ],
  { stdio: ["ignore", "pipe", "ignore"] },
);
let clients = [];
let calls = 0;
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: process.getuid?.() === 0 ? ["--no-sandbox"] : [],
});
try {
  const dashboard = await readyAddress();
  mkdirSync(folder, { recursive: true });
  await everywhere(dashboard, "first-run", async () => {});

  const page = await open(dashboard, sizes[0], "dark");
  if (startsAll) await page.getByRole("button", { name: "Start all and send sample traffic" }).click();
  else for (const id of services) await sendSampleTraffic(page, titles[id]);
  if (startsAll || services.includes("mqtt")) {
    await page.getByRole("link", { name: /^MQTT.*msg\/s/ }).waitFor();
    clients = await subscribers();
  }
  // Long enough for the plots to show something, and for a request that is still open.
  await delay(40_000);
  await page.context().close();

  await everywhere(dashboard, "overview", (page) => page.getByText("Worth knowing").waitFor());
  await everywhere(dashboard, "http-live", async (page) => {
    await openService(page, "HTTP", "Live");
    await page.getByRole("row").filter({ hasText: "/api/echo" }).first().click();
    await openByKeyboard(page);
    await page.getByRole("tab", { name: "Response" }).waitFor();
  });
  await everywhere(dashboard, "http-try", async (page) => {
    await openService(page, "HTTP", "Try");
    await page.getByRole("button", { name: "Send", exact: true }).click();
    await delay(700);
  });
  for (const tab of ["Config", "Logs"]) await everywhere(dashboard, `http-${tab.toLowerCase()}`, (page) => openService(page, "HTTP", tab));
  for (const service of ["MQTT", "Account", "Events"]) {
    await everywhere(dashboard, `${service.toLowerCase()}-live`, (page) => openService(page, service, "Live"));
  }
  await everywhere(dashboard, "grpc-live", async (page) => {
    await openService(page, "gRPC", "Live");
    const endChat = await chat();
    const ofGrace = page.getByRole("row").filter({ hasText: '"name":"Grace"' }).first();
    // Rows that arrive move the others: a click may meet another one.
    for (let times = 0; times < 10 && !(await ofGrace.isVisible()); times++) {
      await page.getByRole("row").filter({ hasText: "ChatService" }).first().click();
      await delay(500);
    }
    await ofGrace.click();
    return endChat;
  });
  await everywhere(dashboard, "grpc-services", async (page) => {
    await openService(page, "gRPC", "Services");
    await page.getByRole("row").filter({ hasText: "shop.v1.Orders" }).first().waitFor();
    await page.getByRole("row").filter({ hasText: "StreamData" }).click();
  });
  await everywhere(dashboard, "grpc-try", async (page) => {
    await openService(page, "gRPC", "Try");
    await page.locator('input[aria-label="Method"]').click();
    await page.getByRole("option", { name: "StreamData", exact: true }).click();
    await page.getByRole("textbox", { name: "count", exact: true }).fill("5");
    await page.getByRole("textbox", { name: "prefix", exact: true }).fill("item");
    await page.getByRole("button", { name: "Send", exact: true }).click();
    await page.getByText("1 sent · 5 received").waitFor();
    await page.mouse.move(0, 0);
  });
  await everywhere(dashboard, "grpc-replies", async (page) => {
    await openService(page, "gRPC", "Replies");
    const client = new Client(grpcAddress, credentials.createInsecure());
    const asIs = (bytes) => bytes;
    const call = client.makeUnaryRequest("/shop.v1.Orders/Pay", asIs, asIs, Buffer.alloc(0), () => {});
    await page.getByRole("region", { name: "Waiting calls" }).waitFor();
    await page.getByRole("row").filter({ hasText: "Orders/Watch" }).click();
    return () => {
      call.cancel();
      client.close();
    };
  });
  await everywhere(dashboard, "grpc-metrics", (page) => openService(page, "gRPC", "Metrics"));
  await everywhere(dashboard, "rtsp-live", async (page) => {
    await openService(page, "RTSP", "Live");
    // Figures are there with the first second of pictures.
    await page
      .getByText(/GOP 25 · \d+ ms/)
      .first()
      .waitFor();
    const play = page.getByRole("row").filter({ hasText: "PLAY rtsp" }).first();
    // Rows that arrive move the others: a click may meet another one.
    for (let times = 0; times < 10 && !(await play.isVisible()); times++) {
      await page.getByRole("row").filter({ hasText: "/stream" }).first().click();
      await page.keyboard.press("Enter");
      await delay(700);
    }
    await play.click();
  });
  await everywhere(dashboard, "rtsp-paths", async (page) => {
    await openService(page, "RTSP", "Paths");
    await page.getByRole("row").filter({ hasText: "/stream" }).first().click();
    await page.keyboard.press("Enter");
    await page.getByText(/every 25 frames/).waitFor();
    await delay(1_500);
  });
  await everywhere(dashboard, "rtsp-try", async (page) => {
    await openService(page, "RTSP", "Try");
    await page.getByRole("button", { name: /^Play/ }).first().click();
    await page.getByText(/first picture after/).waitFor();
    await delay(1_500);
    await page.mouse.move(0, 0);
  });
  await everywhere(dashboard, "webrtc-live", async (page) => {
    await openService(page, "WebRTC", "Live");
    await page.getByRole("row").filter({ hasText: "offer" }).first().click();
    await openByKeyboard(page);
  });
  await everywhere(dashboard, "webrtc-ladder", async (page) => {
    // The signals of a room are kept: each picture has one of its own.
    const room = `call-${++calls}`;
    const leave = await callInRoom(room);
    await openService(page, "WebRTC", "Signals");
    await page.getByRole("button", { name: "Room all" }).click();
    await page.getByRole("option", { name: room }).click();
    await page.getByText("only host candidates of different networks").first().waitFor();
    await page.getByRole("row").filter({ hasText: "answer" }).first().click();
    return leave;
  });
  await everywhere(dashboard, "webrtc-rooms", async (page) => {
    const leave = await meetInRooms();
    await openService(page, "WebRTC", "Rooms");
    await page.getByRole("row").filter({ hasText: "standup" }).first().click();
    await page.keyboard.press("Enter");
    await page.getByText("Then I call the others").waitFor();
    return leave;
  });
  await everywhere(dashboard, "webrtc-test-page", (page) => callOnTestPage(page));
  await everywhere(dashboard, "webrtc-test-page-phone", (page) => callOnTestPage(page), phoneSizes);
  await everywhere(dashboard, "webrtc-media", async (page) => {
    const end = await playInBrowser(page, ["test", "stream"]);
    await openService(page, "WebRTC", "Media");
    const row = page.getByRole("row").filter({ hasText: "/test" }).filter({ hasText: "connected" });
    await row.filter({ hasText: "ms" }).first().waitFor();
    await row.first().click();
    return end;
  });
  await everywhere(dashboard, "webrtc-try", async (page) => {
    await callByRelay(page);
    await delay(4_000);
    await page.mouse.move(0, 0);
  });
  await everywhere(dashboard, "webrtc-turn", async (page) => {
    await callByRelay(page);
    await openService(page, "WebRTC", "Relays");
    await delay(20_000);
    await page.getByRole("row").filter({ hasText: "127.0.0.1" }).first().click();
    await page.keyboard.press("Enter");
  });
  await everywhere(dashboard, "account-users", async (page) => {
    await openService(page, "Account", "Users");
    await page.getByRole("row").filter({ hasText: "api@example.com" }).first().click();
  });
  await everywhere(dashboard, "account-try", async (page) => {
    await openService(page, "Account", "Try");
    await page.getByRole("button", { name: "Send", exact: true }).click();
    await delay(700);
  });
  await everywhere(dashboard, "account-sessions", async (page) => {
    await openService(page, "Account", "Sessions");
    await page.getByRole("row").nth(1).click();
  });
  await everywhere(dashboard, "mqtt-clients", async (page) => {
    await openService(page, "MQTT", "Live");
    await page
      .getByRole("button", { name: /hall-a-controller/ })
      .first()
      .click();
  });
  await everywhere(dashboard, "mqtt-try", async (page) => {
    await openService(page, "MQTT", "Try");
    await page.getByRole("textbox", { name: "Topic filter" }).fill("commands/#");
    await page.getByRole("button", { name: "Subscribe", exact: true }).click();
    await page.getByText("granted").waitFor();
    await page.getByRole("textbox", { name: "Topic", exact: true }).fill("commands/valve-3/open");
    await page.getByRole("button", { name: "Publish", exact: true }).click();
    const newest = page.getByRole("list", { name: "Received messages, newest first" }).getByRole("button").first();
    await newest.filter({ hasText: "commands/valve-3/open" }).click();
  });
  for (const name of ["Timeline", "Settings"]) {
    await everywhere(dashboard, name.toLowerCase(), (page) => page.getByRole("link", { name }).first().click());
  }
  await everywhere(dashboard, "commands", (page) => page.keyboard.press("Control+k"));
} finally {
  for (const client of clients) client.end(true);
  await browser.close();
  backlot.kill("SIGTERM");
  rmSync(dataDir, { recursive: true, force: true });
}

/** Clients that subscribe to the broker's sample traffic. */
async function subscribers() {
  const filters = { "dashboard-web": "sensors/#", "hall-a-controller": "sensors/hall-a/+", "alarm-display": "sensors/+/temperature" };
  return Promise.all(
    Object.entries(filters).map(async ([clientId, filter]) => {
      const client = mqtt.connect("mqtt://127.0.0.1:1883", { clientId, protocolVersion: 5 });
      await client.subscribeAsync(filter, { qos: 1 });
      return client;
    }),
  );
}

/** Protocol files and reply rules, as if a user had dropped and written them. */
function writeGrpcFiles(folder) {
  const files = {
    "protos/shop/shop/v1/money.proto":
      'syntax = "proto3";\npackage shop.v1;\n\nmessage Money {\n  string currency = 1;\n  int64 cents = 2;\n}\n',
    "protos/shop/shop/v1/orders.proto": `syntax = "proto3";
package shop.v1;

import "google/protobuf/timestamp.proto";
import "shop/v1/money.proto";

enum State {
  STATE_UNSPECIFIED = 0;
  OPEN = 1;
  PAID = 2;
}

message Item {
  string sku = 1;
  int32 count = 2;
  Money price = 3;
}

message Order {
  string id = 1;
  State state = 2;
  repeated Item items = 3;
  map<string, string> labels = 4;
  google.protobuf.Timestamp created_at = 5;
}

message OrderRequest {
  string id = 1;
}

service Orders {
  rpc Get(OrderRequest) returns (Order);
  rpc Pay(OrderRequest) returns (Order);
  rpc Watch(OrderRequest) returns (stream Order);
}
`,
    "replies.jsonc": JSON.stringify({ rules: exampleRules() }, null, 2),
  };
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
    writeFileSync(path.join(folder, name), text);
  }
}

function exampleRules() {
  const order = { id: "{{request.id}}", state: "OPEN", items: [{ sku: "lamp-3", count: 2, price: { currency: "EUR", cents: "4990" } }] };
  return [
    {
      name: "unknown order",
      method: "shop.v1.Orders/Get",
      when: { request: { id: { matches: "^x-" } } },
      status: { code: "NOT_FOUND", message: "no such order" },
    },
    { name: "first two fail", method: "shop.v1.Orders/Get", times: 2, status: "UNAVAILABLE" },
    { method: "shop.v1.Orders/Get", delay: "250ms", reply: order },
    { name: "payment by hand", method: "shop.v1.Orders/Pay", waitFor: "payment", reply: { ...order, state: "PAID" } },
    {
      name: "until it is paid",
      method: "shop.v1.Orders/Watch",
      stream: [
        { message: order },
        { pause: "1s" },
        { repeat: "until the client leaves", steps: [{ message: { ...order, state: "PAID" } }, { pause: "2s" }] },
      ],
    },
  ];
}

/** Two people in a room: one whose call is looked at, and one who answers. Ends with the returned function. */
async function chat() {
  const file = path.join(root, "servers/grpc/assets/proto/example.proto");
  const { ChatService } = loadPackageDefinition(loadSync(file)).example;
  const people = ["Ada", "Grace"].map((name) => {
    const client = new ChatService(grpcAddress, credentials.createInsecure());
    const call = client.Chat({ deadline: Date.now() + 600_000 });
    call.on("data", () => {}).on("error", () => {});
    const leave = () => {
      call.cancel();
      client.close();
    };
    return {
      leave,
      say: (text) => call.write({ say: { room: "standup", text } }),
      join: () => call.write({ join: { room: "standup", name } }),
    };
  });
  const lines = ["Good morning", "The build is green", "Then I release at ten", "I watch the error rate meanwhile"];
  for (const person of people) person.join();
  for (const [place, line] of lines.entries()) {
    await delay(150);
    people[place % 2].say(line);
  }
  return () => {
    for (const { leave } of people) leave();
  };
}

/** A client of plain JSON that has joined a room. */
async function join(room, name, password) {
  const socket = new WebSocket("ws://127.0.0.1:8443/ws");
  const send = (message) => socket.send(JSON.stringify(message));
  const id = await new Promise((resolve) => {
    let welcomed;
    socket.onmessage = ({ data }) => {
      const message = JSON.parse(data);
      if (message.type === "welcome") {
        welcomed = message.id;
        send({ type: "join", room, name, ...(password && { password }) });
      } else if (message.type === "joined") resolve(welcomed);
    };
  });
  return { id, send, leave: () => socket.close() };
}

/** Two rooms, with clients of several dialects, and what they say. All leave with the returned function. */
async function meetInRooms() {
  const grace = io("http://127.0.0.1:8443", { auth: { room: "standup", name: "Grace" } });
  await new Promise((resolve) => grace.once("joined", resolve));
  const ada = await join("standup", "Ada");
  const bob = await join("standup", "Bob");
  const others = [await join("design review", "Carol", "secret"), await join("design review", "Dan", "secret")];
  const lines = ["Good morning", "Is the video moving on your side?", "It does now. Relay over UDP, 40 ms", "Then I call the others"];
  for (const [place, text] of lines.entries()) {
    await delay(700);
    (place % 2 === 0 ? ada : bob).send({ type: "chat", room: "standup", text });
  }
  return () => {
    for (const { leave } of [ada, bob, ...others]) leave();
    grace.disconnect();
  };
}

/** Two clients whose addresses do not reach one another. Both leave with the returned function. */
async function callInRoom(room) {
  const people = [await join(room, "Ada"), await join(room, "Bob")];
  const [ada, bob] = people;
  const candidate = (address, port) => ({ candidate: `candidate:1 1 udp 2122260223 ${address} ${port} typ host`, sdpMid: "0" });
  ada.send({ type: "offer", to: bob.id, sdp: exampleSdp("actpass", "sendrecv") });
  await delay(60);
  bob.send({ type: "answer", to: ada.id, sdp: exampleSdp("active", "recvonly") });
  ada.send({ type: "candidate", to: bob.id, candidate: candidate("192.168.1.5", 50_001) });
  bob.send({ type: "candidate", to: ada.id, candidate: candidate("10.0.0.9", 50_002) });
  await delay(60);
  for (const { send, id } of people) send({ type: "candidate", to: id === ada.id ? bob.id : ada.id, candidate: null });
  return () => {
    for (const { leave } of people) leave();
  };
}

function exampleSdp(setup, direction) {
  return [
    ...["v=0", "o=- 4611 2 IN IP4 127.0.0.1", "s=-", "t=0 0", "a=group:BUNDLE 0 1"],
    ...[
      "m=video 9 UDP/TLS/RTP/SAVPF 96",
      "c=IN IP4 0.0.0.0",
      `a=ice-ufrag:${setup.slice(0, 4)}`,
      "a=ice-pwd:not-a-secret-of-anyone",
      "a=mid:0",
    ],
    ...["a=fingerprint:sha-256 6B:8B:F0:65:5F:78:E2:51:3B:AC", `a=setup:${setup}`, `a=${direction}`, "a=rtcp-mux", "a=rtpmap:96 VP8/90000"],
    ...["m=application 9 UDP/DTLS/SCTP webrtc-datachannel", "c=IN IP4 0.0.0.0", `a=setup:${setup}`, "a=mid:1", "a=sctp-port:5000", ""],
  ].join("\r\n");
}

/** Players of WHEP in a page of their own. They end with the returned function. */
async function playInBrowser(page, paths) {
  const players = await page.context().newPage();
  await players.goto("http://127.0.0.1:8443/ice-servers");
  await players.evaluate(async (names) => {
    globalThis.connections = await Promise.all(
      names.map(async (name) => {
        const connection = new RTCPeerConnection();
        for (const kind of ["video", "audio"]) connection.addTransceiver(kind, { direction: "recvonly" });
        await connection.setLocalDescription();
        const { sdp } = connection.localDescription;
        const answer = await fetch(`/whep/${name}`, { method: "POST", headers: { "Content-Type": "application/sdp" }, body: sdp });
        await connection.setRemoteDescription({ type: "answer", sdp: await answer.text() });
        return connection;
      }),
    );
  }, paths);
  return () => players.evaluate(() => globalThis.connections.forEach((connection) => void connection.close()));
}

/** The service's own page in a call with a second one, which leaves with the returned function. */
async function callOnTestPage(page) {
  const other = await page.context().newPage();
  for (const [one, name] of [
    [other, "Grace"],
    [page, "Ada"],
  ]) {
    await one.goto("http://127.0.0.1:8443/");
    await one.getByRole("textbox", { name: "Name" }).fill(name);
    await one.getByRole("textbox", { name: "Room", exact: true }).fill("standup");
    await one.getByRole("button", { name: "Join" }).click();
    await one.getByRole("button", { name: "Leave" }).waitFor();
  }
  await page.bringToFront();
  await other.getByRole("textbox", { name: "Message" }).fill("Can you see the clock?");
  await other.getByRole("button", { name: "Send" }).click();
  await page.getByText("Can you see the clock?").waitFor();
  await page.getByRole("textbox", { name: "Message" }).fill("Yes, and it moves.");
  await page.getByRole("button", { name: "Send" }).click();
  // The rate is that of the last second.
  await page
    .getByText(/\b[12]\d fps/)
    .first()
    .waitFor();
  await delay(3_000);
  return () => other.close();
}

async function callByRelay(page) {
  await openService(page, "WebRTC", "Try");
  await page.getByRole("button", { name: /^Call/ }).first().click();
  await page.getByText(/^Connected after .* first picture/).waitFor();
}

async function everywhere(dashboard, name, prepare, at = sizes) {
  if (wanted.length > 0 && !wanted.includes(name)) return;
  for (const scheme of schemes) {
    for (const size of at) {
      const page = await open(dashboard, size, scheme);
      const end = await prepare(page);
      await delay(1_500);
      await page.screenshot({ path: path.join(folder, `${name}-${scheme}-${size.width}.png`) });
      if (typeof end === "function") await end();
      await page.context().close();
    }
  }
  console.log(name);
}

async function open(dashboard, viewport, colorScheme) {
  const context = await browser.newContext({ viewport, colorScheme });
  // All services start at once, which takes its time on a busy machine.
  context.setDefaultTimeout(120_000);
  const page = await context.newPage();
  await page.goto(dashboard);
  await page.getByRole("heading", { level: 1 }).waitFor();
  return page;
}

async function sendSampleTraffic(page, service) {
  await openService(page, service, "Live");
  await page.getByRole("button", { name: "Send sample traffic" }).first().click();
}

/** Opens the chosen row. The list is held while rows are chosen by keyboard, so that this one stays in view. */
async function openByKeyboard(page) {
  for (const key of ["ArrowDown", "ArrowUp", "Enter"]) await page.keyboard.press(key);
}

async function openService(page, service, tab) {
  await page
    .getByRole("link", { name: new RegExp(`^${service}`) })
    .first()
    .click();
  await page.getByRole("tab", { name: tab, exact: true }).click();
}

function readyAddress() {
  return new Promise((resolve, reject) => {
    let text = "";
    backlot.stdout.on("data", (chunk) => {
      text += chunk;
      const address = /"dashboard":"([^"]+)"/.exec(text)?.[1];
      if (address) resolve(address);
    });
    backlot.once("exit", (code) => reject(new Error(`Backlot ended with ${code}`)));
  });
}
