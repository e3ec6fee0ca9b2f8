import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createDatabase, hasPostgres, missing, type RealServer, startPostgres } from "../support/real-servers.ts";
import { eventBody, getStats, onEnd, post, startEvents } from "./harness.ts";

/**
 * Before or after what is looked for, a connection passes nothing any more, in either direction, and is not closed either: as after a lost
 * entry of a NAT. One that is broken is closed after it.
 */
type Loss = "before" | "after" | "broken";

/** Stands between a service and its database. */
async function startGateway(port: number) {
  const open = new Set<{ lost: boolean; readonly client: Socket }>();
  const sockets = new Set<Socket>();
  let armed: { readonly text: string; readonly loss: Loss } | undefined;
  // What is lost does not answer a goodbye.
  const server = createServer({ allowHalfOpen: true }, (client) => {
    const link = { lost: false, client };
    const database = connect(port, "127.0.0.1");
    open.add(link);
    for (const socket of [client, database]) {
      sockets.add(socket);
      socket.on("error", () => {});
      socket.on("close", () => {
        sockets.delete(socket);
        if (link.lost) return;
        client.destroy();
        database.destroy();
      });
    }
    client.on("end", () => {
      if (!link.lost) client.end();
    });
    client.on("data", (bytes) => {
      const found = armed !== undefined && bytes.includes(armed.text);
      if (found && armed?.loss === "before") link.lost = true;
      if (!link.lost) database.write(bytes);
      if (!found) return;
      if (armed?.loss === "broken") client.destroy();
      link.lost = true;
      armed = undefined;
    });
    database.on("data", (bytes) => {
      if (!link.lost) client.write(bytes);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onEnd(async () => {
    for (const socket of sockets) socket.destroy();
    server.close();
    await once(server, "close");
  });
  return {
    port: (server.address() as { port: number }).port,
    /** The connection that next asks for this is lost, before the database has got that, or before its answer. */
    loseAt(text: string, loss: Loss) {
      armed = { text, loss };
    },
    loseAll() {
      for (const link of open) link.lost = true;
    },
    /** As a gateway does with what it has forgotten. */
    resetLost() {
      for (const { lost, client } of open) if (lost) client.resetAndDestroy();
    },
  };
}

describe.skipIf(missing("PostgreSQL", "postgresql", hasPostgres()))("a connection to PostgreSQL that is lost", () => {
  let server: RealServer;
  let name = "";
  let databases = 0;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server?.stop());
  beforeEach(async () => {
    name = `lost${++databases}`;
    await createDatabase(server, name);
  });

  async function startBehindGateway() {
    const url = new URL(server.url);
    const gateway = await startGateway(Number(url.port));
    const database = `postgres://backlot@127.0.0.1:${gateway.port}/${name}`;
    const events = await startEvents({ database, databaseSeconds: 2, rateLimits: false });
    let acknowledged = 0;
    const answer = async () => {
      const response = await post(events.url, eventBody());
      const text = await response.text();
      if (response.status === 201) acknowledged++;
      return response.status === 503 ? text : response.status;
    };
    // On a machine that is slow also an answer of a database that is there may take too long.
    const untilStored = () => expect.poll(answer).toBe(201);
    await untilStored();
    return { gateway, events, answer, untilStored, acknowledged: () => acknowledged };
  }
  const refused = () => JSON.stringify({ error: `Storage cannot be reached: ${name}` });
  type Behind = Awaited<ReturnType<typeof startBehindGateway>>;
  const stored = async ({ events }: Behind) => {
    let total: number | undefined;
    await expect
      .poll(async () => {
        total = ((await getStats(events.url)) as { readonly total_events?: number }).total_events;
        return total;
      })
      .toEqual(expect.any(Number));
    return total;
  };

  it("[EV-220] is 503 with the reason for what waited for it, the page says so, and storing goes on over a new one", async () => {
    const behind = await startBehindGateway();
    const { gateway, events, answer, untilStored, acknowledged } = behind;
    gateway.loseAt("BEGIN", "before");
    expect(await answer()).toBe(refused());
    await expect
      .poll(() => events.view("storage").failure)
      .toMatchObject({ code: "STORE_UNREACHABLE", message: `PostgreSQL 127.0.0.1:${gateway.port}/${name} has not answered for 2 s` });
    await untilStored();
    await expect.poll(() => events.view("storage").failure).toBeUndefined();
    expect(await stored(behind)).toBe(acknowledged());
  });

  it("[EV-220] loses those that idle as well, and a stop of the service does not wait for them", async () => {
    const behind = await startBehindGateway();
    const { gateway, events, answer, untilStored } = behind;
    await Promise.all(Array.from({ length: 5 }, () => fetch(`${events.url}/stats`).then((response) => response.text())));
    gateway.loseAll();
    for (const status of await Promise.all([answer(), answer(), answer()])) expect([201, refused()]).toContain(status);
    await untilStored();
    await expect.poll(async () => (await fetch(`${events.url}/stats`)).status).toBe(200);
    gateway.loseAll();
    await events.stop();
  });

  it("[EV-220] a stop of the service is none that fails where those that are lost are reset meanwhile", async () => {
    const { gateway, events } = await startBehindGateway();
    gateway.loseAll();
    const stopped = events.stop();
    // Their goodbyes are on the way.
    await delay(100);
    gateway.resetLost();
    await stopped;
    expect(events.logs.filter(({ level }) => level === "error")).toEqual([]);
  });

  it("[EV-221] whose COMMIT did not arrive has stored nothing, holds no lock, and is not committed later", async () => {
    const behind = await startBehindGateway();
    const { gateway, answer, untilStored, acknowledged } = behind;
    gateway.loseAt("COMMIT", "before");
    expect(await answer()).toBe(refused());
    await untilStored();
    expect(await stored(behind)).toBe(acknowledged());
  });

  it("[EV-221] whose COMMIT arrived has stored it: the client gets 201, and has nothing to repeat", async () => {
    const behind = await startBehindGateway();
    const { gateway, answer, acknowledged } = behind;
    gateway.loseAt("COMMIT", "after");
    expect(await answer()).toBe(201);
    expect(await stored(behind)).toBe(acknowledged());
  });

  it("[EV-222] the process goes on where one breaks that is in use, and what was stored is 201", async () => {
    const behind = await startBehindGateway();
    const { gateway, answer, untilStored, acknowledged } = behind;
    gateway.loseAt("COMMIT", "broken");
    expect(await answer()).toBe(201);
    gateway.loseAt("BEGIN", "broken");
    expect(await answer()).toBe(refused());
    await untilStored();
    expect(await stored(behind)).toBe(acknowledged());
  });
});
