import { once } from "node:events";
import { createServer } from "node:net";
import path from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { z } from "zod";
import { addressOf, isPickedAtStart, originOf } from "../../renderer/src/ui/texts/address.ts";
import { services } from "../../servers/catalog.ts";
import { commonFields, field, portField, portPairField } from "../../servers/core/config/common-fields.ts";
import { defineService } from "../../servers/core/service/service.ts";
import { rtspService } from "../../servers/rtsp/rtsp-service.ts";
import { configuredPorts, createPortPlan, type PortUse, portUses } from "../../servers/supervisor/port-plan.ts";
import { nodeSpawner } from "../../servers/supervisor/spawner.ts";
import { freePort } from "../support/free-port.ts";
import { holdPort, holdUdpPort } from "../support/port-holder.ts";
import { builtServers } from "../support/start-backlot.ts";
import { supervise } from "./supervise.ts";

const serviceProcess = path.join(builtServers, "service-process.cjs");

const relay = defineService({
  id: "webrtc",
  title: "Relay",
  purpose: "Test",
  rateUnit: "msg/s",
  config: z.strictObject({
    turnPort: portField(3_478, { title: "TURN port" }),
    tlsPort: portField(5_349, { title: "TLS port" }),
    tls: field(z.boolean().default(false), { title: "TLS" }),
    relayFrom: portField(49_152, { title: "Relay ports from" }),
    relayTo: portField(49_200, { title: "Relay ports to" }),
    rtpPort: portPairField(9_000, { title: "RTP port" }),
    rtp: field(z.boolean().default(false), { title: "RTP" }),
    groupPort: portField(9_002, { title: "Group ports" }),
    groups: field(z.boolean().default(false), { title: "Groups" }),
    ...commonFields("webrtc"),
  }),
  actions: {},
  details: {},
  ports: [
    { field: "turnPort", transport: "tcp" },
    { field: "turnPort", transport: "udp" },
    { field: "tlsPort", transport: "tcp", isUsed: ({ tls }) => tls },
    { field: "relayFrom", transport: "udp", block: { kind: "range", lastField: "relayTo" } },
    { field: "rtpPort", transport: "udp", block: { kind: "pair" }, isUsed: ({ rtp }) => rtp },
    { field: "groupPort", transport: "udp", block: { kind: "destinations", count: 1_000 }, isUsed: ({ groups }) => groups },
  ],
  endpoints: () => [],
  snippets: () => [],
  start: async () => [],
});
const uses = (values: Record<string, unknown> = {}) => portUses(relay, relay.config.parse(values));
const plan = (all: readonly PortUse[], planned: readonly number[] = []) =>
  createPortPlan({ uses: () => all, configured: () => all, planned, ownProcesses: () => new Map() });
const other = (use: Partial<PortUse>): PortUse => ({
  service: "http",
  title: "HTTP",
  field: "port",
  fieldTitle: "Port",
  transport: "tcp",
  kind: "single",
  first: 8_080,
  last: 8_080,
  openToLan: false,
  ...use,
});

describe("port plan", () => {
  it("[BL-156] has transports and ranges, without what is switched off", () => {
    const brief = (use: PortUse) => `${use.transport} ${use.first}-${use.last}`;
    expect(uses().map(brief)).toEqual(["tcp 3478-3478", "udp 3478-3478", "udp 49152-49200"]);
    expect(uses({ tls: true }).map(brief)).toContain("tcp 5349-5349");
    expect(uses({ rtp: true, groups: true }).map(brief).slice(-2)).toEqual(["udp 9000-9001", "udp 9002-10001"]);
    expect(uses({ rtp: true, rtpPort: 0 }).map(brief).at(-1)).toBe("udp 0-0");
  });

  it("[BL-156] two services with the same port are named, by transport and range", async () => {
    const own = uses({ tls: true, tlsPort: 3_478 });
    const find = (transport: string, first: number) => own.find((use) => use.transport === transport && use.first === first) as PortUse;
    const message = async (use: PortUse, ...others: PortUse[]) => (await plan([...others, ...own]).check(use))?.message;
    expect(await message(find("tcp", 3_478), other({ first: 3_478, last: 3_478 }))).toBe("HTTP and Relay are both set to 3478");
    expect(await message(find("tcp", 3_478))).toBe("Relay: TURN port and TLS port are both set to 3478");
    expect(await message(find("udp", 3_478), other({ first: 3_478, last: 3_478 }))).toBeUndefined();
    const inRange = other({ transport: "udp", first: 49_160, last: 49_160 });
    expect(await message(find("udp", 49_152), inRange)).toBe("HTTP and Relay are both set to UDP port 49160");
  });

  it("[BL-63] proposes no port of its own, of another service or of a planned one", async () => {
    const holder = await holdPort();
    const first = holder.port;
    const own = other({ first, last: first });
    const ownSecond = other({ field: "secondPort", first: first + 1, last: first + 1 });
    const range = other({ service: "mqtt", transport: "udp", kind: "range", first: first + 2, last: first + 4 });
    const problem = await plan([own, ownSecond, range], [first + 5]).check(own);
    expect(problem?.next).toBeGreaterThan(first + 5);
  });

  it("[BL-63] proposes no port of what is switched off either, of its own or of another service", async () => {
    const holder = await holdPort();
    const first = holder.port;
    const config = relay.config.parse({ turnPort: first, tlsPort: first + 1 });
    expect(portUses(relay, config).map(({ field }) => field)).not.toContain("tlsPort");
    const http = other({ first, last: first });
    const offered = createPortPlan({
      uses: () => [http],
      configured: () => [http, ...configuredPorts(relay, config)],
      planned: [],
      ownProcesses: () => new Map(),
    });
    expect((await offered.check(http))?.next).toBeGreaterThan(first + 1);
  });

  it("[BL-466] the advice on two fields of one service with the same port names the field to change", async () => {
    const { dashboard } = await supervise({ services: [relay] });
    await dashboard.call("config.write", { id: "webrtc", values: { tls: true, turnPort: 20_478, tlsPort: 20_478 } });
    const advice = (await dashboard.call("port.check", {})).find(({ field }) => field === "tlsPort");
    expect(advice).toMatchObject({
      problem: "Relay: TLS port and TURN port are both set to 20478",
      hint: expect.stringMatching(/^Use \d+ for TLS port\.$/),
    });
  });

  it("[BL-154] a port for both transports moves to one that is free for both", async () => {
    const holder = await holdUdpPort();
    const [tcp, udp] = uses({ turnPort: holder.port });
    const all = plan([tcp as PortUse, udp as PortUse]);
    expect(await all.check(tcp as PortUse)).toBeUndefined();
    const problem = await all.check(udp as PortUse);
    expect(problem?.message).toContain(`UDP port ${holder.port} is taken`);
    expect(problem?.next).toBeGreaterThan(holder.port);
  });

  const pairAt = (rtpPort: number) => uses({ rtp: true, rtpPort }).find(({ field }) => field === "rtpPort") as PortUse;

  it.skipIf(process.platform === "win32")(
    "[BL-287] either port of a pair may be the one that is taken, and the next free even pair is offered",
    async () => {
      const holder = await holdPort(0, "127.0.0.1", "udp");
      const first = holder.port - (holder.port % 2);
      const problem = await plan([pairAt(first)]).check(pairAt(first));
      expect(problem?.message).toBe(`UDP port ${holder.port} is taken by node (pid ${holder.pid})`);
      const next = problem?.next as number;
      expect(next).toBeGreaterThan(first);
      expect(next % 2).toBe(0);
      const reserved = other({ transport: "udp", first: next + 1, last: next + 1 });
      const later = (await plan([pairAt(first), reserved]).check(pairAt(first)))?.next as number;
      expect(later).toBeGreaterThan(next);
      expect(later % 2).toBe(0);
    },
  );

  it("[BL-287] both ports of a pair are reserved, and named if another service has one of them", async () => {
    const holder = await holdPort();
    const odd = holder.port + 1 + (holder.port % 2);
    const own = other({ first: holder.port, last: holder.port });
    expect((await plan([own, pairAt(odd - 1)]).check(own))?.next).not.toBe(odd);
    const rtcp = other({ transport: "udp", first: 9_001, last: 9_001 });
    expect((await plan([rtcp, pairAt(9_000)]).check(pairAt(9_000)))?.message).toBe("HTTP and Relay are both set to UDP port 9001");
  });

  it("[BL-287] a pair begins with an even port, in every service", () => {
    const pairs = services.flatMap((service) =>
      service.ports.filter(({ block }) => block?.kind === "pair").map(({ field }) => service.config.shape[field] as z.ZodType),
    );
    expect(pairs).toHaveLength(1);
    for (const pair of pairs) expect([0, 28_100, 28_101].map((port) => pair.safeParse(port).success)).toEqual([true, true, false]);
  });

  it("[BL-286] ports that are only sent to need not be free, and are proposed for the other transport alone", async () => {
    const holder = await holdPort(0, "127.0.0.1", "udp");
    const tcp = await holdPort();
    const groupsAt = (groupPort: number) => uses({ groups: true, groupPort }).find(({ field }) => field === "groupPort") as PortUse;
    const groups = groupsAt(holder.port);
    expect(await plan([groups]).check(groups)).toBeUndefined();
    const taken = other({ first: tcp.port, last: tcp.port });
    expect((await plan([taken, groupsAt(tcp.port)]).check(taken))?.next).toBeLessThan(tcp.port + 1_000);
  });
});

describe("ports of our own", () => {
  const http = { id: "http" } as const;

  it("[BL-156] a service whose port belongs to another service says so, and offers a free one", async () => {
    const { dashboard, port } = await supervise();
    // The next one is free until the service listens on it.
    await dashboard.call("config.write", { ...http, values: { port: await freePort() } });
    await dashboard.call("service.start", http);
    await dashboard.call("config.write", { id: "mqtt", values: { port: port("http") } });
    const checks = await dashboard.call("port.check", {});
    expect(checks.find(({ service }) => service === "mqtt")).toMatchObject({
      free: false,
      problem: `Fixture http and Fixture mqtt are both set to ${port("http")}`,
      fix: { config: { port: expect.any(Number) } },
    });
    const failure = await dashboard.refusal("service.start", { id: "mqtt" });
    const next = failure.fix?.config.port;
    expect(failure).toMatchObject({
      code: "PORT_IN_USE",
      message: `Fixture http and Fixture mqtt are both set to ${port("http")}`,
      hint: `Use ${next}.`,
    });
    await dashboard.call("config.write", { id: "mqtt", values: failure.fix?.config ?? {} });
    await dashboard.call("service.start", { id: "mqtt" });
    expect(port("mqtt")).toBe(next);
  });

  it.skipIf(process.platform === "win32")("[BL-156] a port of Backlot's own process is named as such", async () => {
    const server = createServer().listen(0, "127.0.0.1");
    onTestFinished(() => void server.close());
    await once(server, "listening");
    const address = server.address();
    const taken = typeof address === "object" && address ? address.port : 0;
    const { dashboard } = await supervise();
    await dashboard.call("config.write", { ...http, values: { port: taken } });
    const failure = await dashboard.refusal("service.start", http);
    expect(failure.message).toBe(`Port ${taken} is taken by Backlot itself, for the dashboard`);
    expect(failure.hint).toMatch(/^Use \d+\.$/);
  });

  it.skipIf(process.platform === "win32")("[BL-287] RTSP names who has RTCP's port, and starts with the pair that is offered", async () => {
    const holder = await holdPort(0, "127.0.0.1", "udp");
    const { dashboard } = await supervise({ services: [rtspService], spawner: nodeSpawner(serviceProcess) });
    const rtsp = { id: "rtsp" } as const;
    const rtpPort = holder.port - (holder.port % 2);
    await dashboard.call("config.write", { ...rtsp, values: { port: 0, httpPort: 0, rtpPort } });
    expect(await dashboard.refusal("config.write", { ...rtsp, values: { rtpPort: rtpPort + 1 } })).toMatchObject({
      code: "CONFIG_INVALID",
    });
    const failure = await dashboard.refusal("service.start", rtsp);
    const next = Number(failure.fix?.config.rtpPort);
    expect(next % 2).toBe(0);
    expect(failure).toMatchObject({
      code: "PORT_IN_USE",
      message: `UDP port ${holder.port} is taken by node (pid ${holder.pid})`,
      hint: `Stop it, or use ${next}.`,
      fix: { title: `Use ${next} instead` },
    });
    const check = (await dashboard.call("port.check", {})).find(({ field }) => field === "rtpPort");
    expect(check).toMatchObject({ free: false, problem: failure.message, fix: failure.fix });
    await dashboard.call("config.write", { ...rtsp, values: failure.fix?.config ?? {} });
    await dashboard.call("service.start", rtsp);
  });

  it("[BL-157] shows the port of an endpoint without slashes", async () => {
    const { dashboard } = await supervise();
    await dashboard.call("config.write", { ...http, values: { port: 13_478, label: "turn" } });
    const view = (await dashboard.call("service.list", {})).find(({ id }) => id === "http");
    expect(view?.plannedEndpoints[0]?.url).toBe("turn:127.0.0.1:13478?transport=udp");
    expect(view?.ports).toEqual([13_478]);
    expect(originOf(view)).toBe("turn:127.0.0.1:13478");
    expect(addressOf("turn:127.0.0.1:13478?transport=udp")).toBe("127.0.0.1:13478?transport=udp");
    expect([isPickedAtStart("turn:127.0.0.1:0?transport=udp"), isPickedAtStart("turn:127.0.0.1:13478?transport=udp")]).toEqual([
      true,
      false,
    ]);
  });
});
