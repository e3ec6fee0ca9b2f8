import { X509Certificate } from "node:crypto";
import type { NetworkInterfaceInfo } from "node:os";
import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import type { WebrtcTestPage } from "../../contract/services/webrtc-test-page.ts";
import { describeTestPage } from "../../servers/webrtc/test-page/describe-test-page.ts";
import { httpRequest } from "../support/http-request.ts";
import { onEnd } from "../support/start-service.ts";
import { until } from "../support/until.ts";
import { startMediaServices } from "./media-harness.ts";
import { desktop, openTestPages, phone, saidOn, urlOf, waitMs, write } from "./test-page-harness.ts";
import { startWebrtc } from "./webrtc-harness.ts";

const { browser, open, join, joined } = openTestPages();

/** Resolves when the video of a peer has shown three more pictures. */
async function moves(page: Page, name: string): Promise<void> {
  const video = await page.getByLabel(`Video of ${name}`).elementHandle();
  await page.waitForFunction((element) => {
    const shown = element as HTMLVideoElement & { earlier?: number };
    const frames = shown.getVideoPlaybackQuality().totalVideoFrames;
    shown.earlier ??= frames;
    return frames > shown.earlier + 2;
  }, video);
}

describe("the test page", () => {
  it("[WEBRTC-450] comes from /, loads nothing from elsewhere and runs no inline code; its files change their names with their content", async () => {
    const service = await startWebrtc();
    const { status, headers, body } = await httpRequest(urlOf(service));
    expect(status).toBe(200);
    const policy = String(headers["content-security-policy"]);
    expect(policy).toMatch(/^default-src 'none'; script-src 'self'; style-src 'self';/);
    expect(policy).toContain(`connect-src 'self' ws://127.0.0.1:${service.port} wss://127.0.0.1:${service.port};`);
    expect(policy).toContain("frame-ancestors 'none'");
    const assets = [...body.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, address]) => address ?? "");
    expect(assets.length).toBeGreaterThan(1);
    for (const asset of assets) {
      expect(asset).toMatch(/^\/test-page\/assets\/[\w-]+\.(?:js|css)$/);
      const file = await httpRequest(new URL(asset, urlOf(service)).href);
      expect([file.status, file.headers["cache-control"]]).toEqual([200, "public, max-age=31536000, immutable"]);
    }
    for (const name of ["missing.js", "..%2Findex.html", "%2e%2e%2f%2e%2e%2fserver.js"])
      expect([name, (await httpRequest(`${urlOf(service)}test-page/assets/${name}`)).status]).toEqual([name, 404]);
  });

  it.each(["udp", "tcp", "tls"] as const)(
    "[WEBRTC-451] two pages call one another by relays alone over %s: with moving video, a data channel and chat",
    async (over) => {
      const service = await startWebrtc();
      const [ada, bob] = [await open(service), await open(service, phone)];
      await joined(ada, { name: "Ada", over });
      await joined(bob, { name: "Bob", over });
      for (const [page, other] of [
        [ada, "Bob"],
        [bob, "Ada"],
      ] as const) {
        const card = page.getByRole("listitem", { name: other, exact: true });
        await card.getByText("Connected", { exact: true }).waitFor();
        await card.getByText(`relay over ${over.toUpperCase()}`).waitFor();
        await card.getByText(/^ping \d/).waitFor();
        await moves(page, other);
      }
      await write(ada, "Hello Bob");
      await saidOn(bob, "Hello Bob").waitFor();
      await ada.getByRole("tab", { name: "Connection" }).click();
      const connection = ada.getByRole("region", { name: "Connection with Bob" });
      await connection.getByText("in use").waitFor();
      expect(await connection.getByText(`relay, ${over}`).count()).toBeGreaterThan(0);
      await ada.getByRole("button", { name: "Leave" }).click();
      await bob.getByText("you alone").waitFor();
    },
    4 * waitMs,
  );

  it(
    "[WEBRTC-556] a call through a relay of the other end alone is not called direct",
    async () => {
      const service = await startWebrtc();
      const [ada, bob] = [await open(service), await open(service)];
      await joined(ada, { name: "Ada", over: "any" });
      await joined(bob, { name: "Bob", over: "udp" });
      const path = (page: Page, other: string) => page.getByRole("listitem", { name: other, exact: true }).getByText(/direct|relay/);
      await expect.poll(() => path(bob, "Ada").textContent(), { timeout: waitMs }).toBe("relay over UDP");
      await expect.poll(() => path(ada, "Bob").textContent(), { timeout: waitMs }).toBe("relay of the other end");
    },
    4 * waitMs,
  );

  it(
    "[WEBRTC-452] chat has a history and private messages; a wrong password of a room is told in words",
    async () => {
      const service = await startWebrtc();
      const locked = { room: "locked", password: "open sesame" };
      const [ada, bob] = [await open(service), await open(service)];
      await joined(ada, { name: "Ada", ...locked });
      await joined(bob, { name: "Bob", ...locked });
      await ada.getByRole("listitem", { name: "Bob", exact: true }).waitFor();
      await write(ada, "Before you came");
      await write(ada, "Between us", "Bob");
      await saidOn(bob, "Between us").waitFor();
      await bob.getByLabel("Messages").getByText("private").waitFor();
      const cora = await open(service);
      await join(cora, { name: "Cora", room: "locked", password: "wrong" });
      await cora.getByRole("alert").getByText("The password of the room is wrong").waitFor();
      await joined(cora, { name: "Cora", ...locked });
      await saidOn(cora, "Before you came").waitFor();
      expect(await saidOn(cora, "Between us").count()).toBe(0);
    },
    4 * waitMs,
  );

  it("[WEBRTC-453] open to the LAN, it shows its https addresses as codes to scan, and gives the certificate to trust", async () => {
    const service = await startWebrtc();
    const told = JSON.parse((await httpRequest(`${urlOf(service)}test-page/page.json`)).body) as WebrtcTestPage;
    expect(await until(() => service.views.get("testPage"))).toEqual(told);
    expect(told).toMatchObject({ local: urlOf(service), openToLan: false, calls: 24, lan: [] });
    const certificate = await fetch(`${urlOf(service)}test-page/backlot-authority.crt`);
    const authority = new X509Certificate(Buffer.from(await certificate.arrayBuffer()));
    expect(told.authority).toEqual({ fingerprint: authority.fingerprint256 });

    const network = { address: "192.168.7.5", family: "IPv4", internal: false } as NetworkInterfaceInfo;
    const onLan = describeTestPage({ port: 8_443, openToLan: true, calls: 24, authority: undefined, interfaces: { eth0: [network] } });
    expect(onLan).toEqual({
      local: "http://127.0.0.1:8443/",
      openToLan: true,
      calls: 24,
      lan: [{ url: "https://192.168.7.5:8443/", qr: { modules: 25, path: expect.stringMatching(/^M0 0h7v1h-7z/) } }],
    });
    const page = await open(service, phone);
    await page.route("**/test-page/page.json", (route) => route.fulfill({ json: { ...onLan, authority: told.authority } }));
    await page.getByRole("tab", { name: "Phone" }).click();
    const code = page.getByRole("img", { name: "Code of https://192.168.7.5:8443/" });
    await code.waitFor();
    await page.getByText(authority.fingerprint256).waitFor();
  });

  it("[WEBRTC-454] says in words that there is no camera, and that a browser gives it to https only", async () => {
    const service = await startWebrtc();
    const page = await open(service);
    await page.getByRole("button", { name: "Camera" }).click();
    await page
      .getByRole("alert")
      .getByText(/There is no camera|does not give this page the camera/)
      .waitFor();
    const insecure = await browser().newContext();
    onEnd(() => insecure.close());
    await insecure.addInitScript(() => Object.defineProperty(window, "isSecureContext", { value: false }));
    const lan = await insecure.newPage();
    await lan.goto(urlOf(service));
    await lan.getByRole("button", { name: "Camera" }).click();
    const alert = lan.getByRole("alert");
    await alert.getByText("a browser gives its camera to https only").waitFor();
    expect(await alert.getByRole("link").getAttribute("href")).toBe(`https://127.0.0.1:${service.port}/`);
    await alert.getByRole("button", { name: "About the certificate" }).click();
    await lan.getByRole("heading", { name: "The certificate" }).waitFor();
  });

  it("[WEBRTC-455] fits a phone and a desktop, without a bar to scroll sideways", async () => {
    const service = await startWebrtc();
    for (const options of [phone, desktop]) {
      const page = await open(service, options);
      await joined(page, {
        name: "A name that is rather long for a phone",
        room: "a-room-with-a-name-that-does-not-fit-in-a-line-of-a-phone",
      });
      for (const tab of ["Chat", "Connection", "Streams", "Phone"]) {
        await page.getByRole("tab", { name: tab }).click();
        const sizes = await page.evaluate(() => [document.documentElement.scrollWidth, window.innerWidth]);
        expect([tab, sizes[0]]).toEqual([tab, sizes[1]]);
      }
    }
  });

  it(
    "[WEBRTC-456] plays a path of the RTSP service by WHEP and publishes one by WHIP, and says why it is refused",
    async () => {
      const { rtsp, url } = await startMediaServices();
      const page = await open(`${url}/`);
      await page.getByRole("tab", { name: "Streams" }).click();
      const player = page.getByRole("region", { name: "Play a stream" });
      await player.getByLabel("Path").fill("nothing-here");
      await player.getByRole("button", { name: "Play" }).click();
      await player.getByRole("alert").waitFor();
      await player.getByLabel("Path").fill("test");
      await player.getByRole("button", { name: "Play" }).click();
      await player.getByText(/^(?:[3-9]|\d{2,}) frames decoded$/).waitFor();
      await player.getByRole("button", { name: "Stop" }).click();
      const publisher = page.getByRole("region", { name: "Publish" });
      await publisher.getByLabel("Path").fill("from-the-page");
      await publisher.getByRole("button", { name: "Publish" }).click();
      await publisher.getByText("Connected", { exact: true }).waitFor();
      await until(() => rtsp.views.get("paths")?.paths.some(({ name, ready }) => name === "from-the-page" && ready), waitMs);
      await publisher.getByRole("button", { name: "Stop" }).click();
      await until(() => !rtsp.views.get("paths")?.paths.some(({ name }) => name === "from-the-page"), waitMs);
    },
    4 * waitMs,
  );

  it("[WEBRTC-457] joins its room again, with the password, after the connection to the server was lost", async () => {
    const service = await startWebrtc();
    const page = await open(service);
    await joined(page, { name: "Ada", room: "standup", password: "let me in" });
    const peer = await until(() => service.views.get("peers")?.peers[0]?.id);
    await service.act("peer.kick", { peer });
    await page.getByText("This page joins the room again").waitFor();
    await page.getByRole("button", { name: "Leave" }).waitFor();
    expect(await page.getByText("This page joins the room again").count()).toBe(0);
    await page.getByRole("button", { name: "Leave" }).click();
    await page.getByRole("button", { name: "Join" }).waitFor();
    const again = await until(() => service.views.get("peers")?.peers.find(({ id, rooms }) => id !== peer && rooms.length === 0)?.id);
    await service.act("peer.kick", { peer: again });
    await page.getByText("No connection to the server").waitFor();
    await page.getByText("Signalling open").waitFor();
    await page.getByRole("button", { name: "Join" }).waitFor();
  });
});
