import { createServer as createHttpServer, Server as HttpServer } from "node:http";
import { type AddressInfo, connect as connectTcp, createServer as createTcpServer } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import WebSocket from "ws";
import { EndsInTurns } from "../../servers/core/net/ends-in-turns.ts";
import { WorkTurns } from "../../servers/core/turns/work-turns.ts";
import { surrenderSession } from "../../servers/mqtt/engine/session/move-session.ts";
import { serveSocket } from "../../servers/mqtt/listeners/socket-transport.ts";
import { serveWebSockets } from "../../servers/mqtt/listeners/websocket-transport.ts";
import { type MqttParts, mqttHandlers } from "../../servers/mqtt/mqtt-actions.ts";
import { boom, MemoryClient, startEngine } from "./memory-client.ts";

describe("[MQTT-232] an error while a connection is opened, or closed by others, ends only that connection, with a log line", () => {
  /** Whatever is sent to it ends in an exception, before a byte of it is written. */
  const cannotBeSentTo = ({ connection }: MemoryClient) => Object.defineProperty(connection, "maximumPacketSize", { get: boom });

  it("a session that another connection takes over", async () => {
    const { engine, expectEnded } = await startEngine();
    const client = new MemoryClient(engine, "client");
    cannotBeSentTo(client);
    const next = new MemoryClient(engine, "client");
    await expectEnded(client);
    expect(next.received.map(({ type }) => type)).toEqual(["connack"]);
    expect(next.connection.state).toBe("connected");
  });

  it("the session's move to another broker", async () => {
    const { engine, expectEnded } = await startEngine();
    const client = new MemoryClient(engine, "client");
    cannotBeSentTo(client);
    surrenderSession(engine, "client", false);
    await expectEnded(client);
    expect(engine.sessions.has("client")).toBe(false);
  });

  it("the stop of the broker, which continues with the others", async () => {
    const { engine, bystander, faults } = await startEngine();
    const [first, last] = [new MemoryClient(engine, "first"), new MemoryClient(engine, "last")];
    cannotBeSentTo(first);
    await engine.stop();
    expect([bystander, first, last].map(({ ended, connection }) => [ended, connection.state])).toEqual(
      Array.from({ length: 3 }, () => [true, "closed"]),
    );
    expect(last.received.at(-1)).toMatchObject({ type: "disconnect", reason: 0x8b });
    expect(faults.join()).toContain("boom");
  });

  it.each(["disconnect", "forget", "cut off"] as const)("%s by the page", async (how) => {
    const { engine, expectEnded } = await startEngine();
    const client = new MemoryClient(engine, "client");
    if (how === "cut off") client.fails = "destroy";
    else cannotBeSentTo(client);
    const parts: Pick<MqttParts, "engine" | "views" | "sample"> = {
      engine,
      views: { showSmall() {}, showClients() {} },
      sample: { actions: {} } as MqttParts["sample"],
    };
    const actions = mqttHandlers(parts as MqttParts);
    if (how === "forget") expect(actions["client.forget"]({ clientId: "client" })).toEqual({ forgotten: true });
    else {
      const params = { clientId: "client", reason: "administrative action", text: "", abrupt: how === "cut off" } as const;
      expect(actions["client.disconnect"](params)).toEqual({ disconnected: true });
    }
    await expectEnded(client);
  });

  it.each(["tcp", "WebSocket"])("its opening, over %s", async (kind) => {
    const { engine, faults, expectUndisturbed } = await startEngine();
    Object.defineProperty(engine, "cluster", { value: { gate: boom } });
    const server = kind === "tcp" ? createTcpServer((socket) => serveSocket(engine, socket, false)) : createHttpServer();
    if (server instanceof HttpServer)
      serveWebSockets(engine, server, {
        encrypted: false,
        isOriginAllowed: () => true,
        ends: new EndsInTurns(new WorkTurns().connection("")),
        turns: new WorkTurns(),
      });
    onTestFinished(() => void server.close());
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    const client = kind === "tcp" ? connectTcp(port, "127.0.0.1") : new WebSocket(`ws://127.0.0.1:${port}`, "mqtt");
    client.on("error", () => {});
    await new Promise((resolve) => client.once("close", resolve));
    expect(faults.join()).toContain("boom");
    Object.defineProperty(engine, "cluster", { value: undefined });
    await expectUndisturbed();
  });
});
