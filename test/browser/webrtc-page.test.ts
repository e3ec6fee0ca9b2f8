import { spawn } from "node:child_process";
import { expect, it, onTestFinished } from "vitest";
import { answer, hostLine, offer } from "../renderer-webrtc/samples.ts";
import { openBrowserShell, openTab, shareBrowserShell } from "./browser-shell.ts";

const open = shareBrowserShell("webrtc");

interface Client {
  readonly id: string;
  readonly socket: WebSocket;
  readonly received: Record<string, unknown>[];
  readonly send: (message: object) => void;
}

async function join(host: string, room: string, name: string): Promise<Client> {
  const socket = new WebSocket(`ws://${host}/ws`);
  const received: Record<string, unknown>[] = [];
  const send = (message: object) => socket.send(JSON.stringify(message));
  const id = await new Promise<string>((resolve, reject) => {
    socket.onerror = reject;
    let welcomed = "";
    socket.onmessage = ({ data }) => {
      const message = JSON.parse(String(data)) as Record<string, unknown>;
      received.push(message);
      if (message.type === "welcome") {
        welcomed = String(message.id);
        send({ type: "join", room, name });
      }
      if (message.type === "joined") resolve(welcomed);
    };
  });
  return { id, socket, received, send };
}

it("[WEBRTC-431] [WEBRTC-432] [WEBRTC-555] two clients appear in rooms and in the ladder, their call is explained, and a room is talked to and closed", async () => {
  const { page, host } = await open();
  const [ada, bob] = [await join(host, "demo", "Ada"), await join(host, "demo", "Bob")];
  ada.send({ type: "offer", to: bob.id, sdp: offer });
  await expect.poll(() => bob.received.some(({ type }) => type === "offer")).toBe(true);
  bob.send({ type: "answer", to: ada.id, sdp: answer });
  bob.send({ type: "candidate", to: ada.id, candidate: { candidate: hostLine.replace("192.168.1.5", "10.0.0.9"), sdpMid: "0" } });

  await openTab(page, "Signals");
  const ladder = page.getByRole("grid", { name: "Signals, in their order" });
  await ladder.getByRole("row", { name: /Ada to Bob: offer, video, data · 1 candidate/ }).waitFor();
  await ladder.getByRole("row", { name: /Bob to Ada: candidate, host udp 10\.0\.0\.9/ }).waitFor();
  // Two peers are a pair without being picked.
  await page.getByRole("list", { name: "Findings of the ICE check" }).getByText("Candidates").first().waitFor();
  await ladder.getByRole("row", { name: /Bob to Ada: answer/ }).click();
  await page.keyboard.press("Enter");
  await page.getByText("Beside its offer").click();
  await page.getByText(/^\d+ differences$/).waitFor();
  await page.getByText("was sendrecv").first().waitFor();

  await page.getByRole("button", { name: "Room all" }).click();
  await page.getByRole("option", { name: "demo" }).waitFor();
  const cyd = await join(host, "joined later", "Cyd");
  await page.getByRole("option", { name: "joined later" }).waitFor();
  await page.keyboard.press("Escape");
  cyd.socket.close();

  await openTab(page, "Rooms");
  await page.getByRole("row").filter({ hasText: "demo" }).first().click();
  await page.keyboard.press("Enter");
  await page.getByRole("textbox", { name: "Message to demo" }).fill("Hello, both");
  await page.getByRole("button", { name: "Say", exact: true }).click();
  await expect.poll(() => ada.received.find(({ type }) => type === "chat")?.text).toBe("Hello, both");
  await page.getByRole("list", { name: "Chat, newest first" }).getByText("Hello, both").waitFor();
  await page.getByRole("button", { name: "Close room", exact: true }).click();
  const question = page.getByRole("dialog");
  await question.getByText("Close the room demo?").waitFor();
  await question.getByRole("button", { name: "Close room" }).click();
  await page.getByText("No room", { exact: true }).waitFor();
  await page.getByText(/^The room is over: /).waitFor();
  expect(await page.getByRole("button", { name: "Close room", exact: true }).count()).toBe(0);
  await page.getByRole("row").filter({ hasText: "Ada" }).first().click();
  await page.getByRole("button", { name: "Disconnect", exact: true }).click();
  await page.getByRole("dialog").getByText("Disconnect Ada?").waitFor();
  await page.getByRole("dialog").getByRole("button", { name: "Disconnect" }).click();
  await expect.poll(() => ada.socket.readyState).toBe(WebSocket.CLOSED);
  bob.socket.close();
});

it.each(["UDP", "TCP"])(
  "[WEBRTC-433] two peers of the page call one another by relay over %s",
  async (transport) => {
    const { page } = await open();
    await openTab(page, "Try");
    await page.getByRole("radiogroup", { name: "Over" }).getByText(transport, { exact: true }).click();
    await page.getByRole("button", { name: "Call", exact: true }).click();
    const result = page.getByRole("region", { name: "Answer" });
    await result.getByText(/^Connected after .*; a message there and back in .*; first picture after .*\.$/).waitFor({ timeout: 60_000 });
    await result
      .getByText(new RegExp(`connected, by relay over ${transport.toLowerCase()}`))
      .first()
      .waitFor();
    await result.getByText(/^Connected by two relays: Try A at .* Data passes in both directions\.$/).waitFor({ timeout: 30_000 });
    await openTab(page, "Relays");
    const relays = page.getByRole("grid", { name: "Relays", exact: true });
    // One for each end. A browser may open more, and does not say why.
    await expect.poll(() => relays.getByRole("row").filter({ hasText: transport }).count()).toBeGreaterThanOrEqual(2);
    await openTab(page, "Try");
    await page.getByRole("button", { name: "Hang up" }).click();
    await result.getByText("hung up").waitFor();
  },
  150_000,
);

it("[WEBRTC-441] badges of faults and names of receivers stay with their rows when others arrive", async () => {
  const { page, origin, host } = await open();
  const ada = await join(host, "demo", "Ada");
  const rows = page.getByRole("grid", { name: "Rows, newest first" }).getByRole("row");
  await rows.filter({ hasText: "Peer" }).filter({ hasText: "Ada" }).waitFor();
  await fetch(`${origin.replace("ws:", "http:")}/faults/peers/${ada.id}?kind=drop&percent=20`, { method: "POST" });
  await page.getByText("drops 20 % of signals").waitFor();
  const bob = await join(host, "demo", "Bob");
  bob.send({ type: "offer", to: ada.id, sdp: offer });
  bob.send({ type: "chat", room: "demo", text: "Hello" });
  await rows.filter({ hasText: "#demo" }).filter({ hasText: "chat" }).waitFor();
  const withBadge = rows.filter({ hasText: "drops 20 % of signals" });
  await expect.poll(() => withBadge.count()).toBe(1);
  expect(await withBadge.textContent()).toContain(ada.id);
  const named = rows.filter({ hasText: `Ada ${ada.id}` });
  await expect.poll(() => named.count()).toBe(1);
  expect(await named.textContent()).toContain("offer");
  for (const { socket } of [ada, bob]) socket.close();
});

it("[WEBRTC-440] a call whose allocations are refused says so for each peer with the code and its meaning, and ends with the cause", async () => {
  const { page, origin } = await openBrowserShell("webrtc");
  const refused = await fetch(`${origin.replace("ws:", "http:")}/faults/turn?kind=refuse&code=486`, { method: "POST" });
  expect(refused.status).toBe(200);
  await openTab(page, "Try");
  await page.getByRole("button", { name: "Call", exact: true }).click();
  const result = page.getByRole("region", { name: "Answer" });
  const steps = result.getByRole("grid", { name: "Steps, in their order" });
  const step = /TURN over UDP at 127\.0\.0\.1:\d+ refused the allocation with 486, allocation quota reached/;
  await expect.poll(() => steps.getByRole("row").filter({ hasText: step }).count()).toBe(2);
  await steps.getByText("no candidates: it got no relay, and other candidates are not allowed").first().waitFor();
  await result
    .getByText(/^Neither peer has a candidate to connect by\. Try A: no relay: the allocation over UDP was refused with 486/)
    .waitFor();
});

it("[WEBRTC-437] a player is listed with its codecs, figures and addresses, and with the sound that it does not get", async () => {
  const { page, endpointOf, origin } = await openBrowserShell("webrtc", {
    others: ["rtsp"],
  });
  publishAac(`rtsp://${endpointOf("rtsp").host}/aac`);
  const player = await page.context().newPage();
  await player.goto(`${origin.replace("ws:", "http:")}/ice-servers`);
  await expect.poll(() => player.evaluate(play, "aac")).toBe(201);
  await openTab(page, "Media");
  const row = page.getByRole("grid", { name: "Players and publishers" }).getByRole("row").filter({ hasText: "/aac" });
  await row.filter({ hasText: "H.264 · without sound: AAC" }).filter({ hasText: "connected" }).filter({ hasText: "Mbit/s" }).waitFor();
  await row.click();
  await page.getByText(/Played without sound\. The sound is AAC, which WebRTC does not have/).waitFor();
  await page
    .getByText(/\d+ → \S+:\d+$/)
    .last()
    .waitFor();
  await page.getByRole("button", { name: "Disconnect", exact: true }).click();
  await page.getByRole("dialog").getByText("Disconnect the player of /aac?").waitFor();
  await page.getByRole("dialog").getByRole("button", { name: "Disconnect" }).click();
  await page.getByText("Nobody plays or publishes").waitFor();
});

it("[WEBRTC-409] what was signalled stays in the ladder while the service is stopped, with the ICE check", async () => {
  const { page, host } = await openBrowserShell("webrtc");
  const [ada, bob] = [await join(host, "demo", "Ada"), await join(host, "demo", "Bob")];
  ada.send({ type: "offer", to: bob.id, sdp: offer });
  await expect.poll(() => bob.received.some(({ type }) => type === "offer")).toBe(true);
  await openTab(page, "Signals");
  const row = page.getByRole("grid", { name: "Signals, in their order" }).getByRole("row", { name: /Ada to Bob: offer/ });
  await row.waitFor();
  await page.getByRole("button", { name: "Stop", exact: true }).click();
  await page.getByText("of earlier runs", { exact: true }).waitFor();
  await row.waitFor();
  await page.getByRole("list", { name: "Findings of the ICE check" }).getByText("Candidates").first().waitFor();
  for (const { socket } of [ada, bob]) socket.close();
});

/** Plays a path by WHEP; the page keeps the connection. */
async function play(path: string): Promise<number> {
  const connection = new RTCPeerConnection();
  for (const kind of ["video", "audio"]) connection.addTransceiver(kind, { direction: "recvonly" });
  await connection.setLocalDescription();
  const body = connection.localDescription?.sdp ?? "";
  const answer = await fetch(`/whep/${path}`, { method: "POST", headers: { "content-type": "application/sdp" }, body });
  if (answer.status === 201) await connection.setRemoteDescription({ type: "answer", sdp: await answer.text() });
  Object.assign(globalThis, { connection });
  return answer.status;
}

/** Publishes H.264 and AAC until the test ends. */
function publishAac(url: string): void {
  const video = ["-re", "-f", "lavfi", "-i", "testsrc=size=160x120:rate=10"];
  const audio = ["-f", "lavfi", "-i", "sine=frequency=440"];
  const codecs = ["-c:v", "libx264", "-preset", "ultrafast", "-tune", "zerolatency", "-g", "10", "-pix_fmt", "yuv420p", "-c:a", "aac"];
  const child = spawn("ffmpeg", [...video, ...audio, ...codecs, "-f", "rtsp", "-rtsp_transport", "tcp", url], { stdio: "ignore" });
  onTestFinished(() => void child.kill("SIGKILL"));
}
