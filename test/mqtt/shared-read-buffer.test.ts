import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { readIntoSharedBuffer } from "../../servers/mqtt/listeners/shared-read-buffer.ts";

/** Both ends of a connection, and what the accepted one read. */
async function connected() {
  const server = createServer({ noDelay: true });
  onTestFinished(() => void server.close());
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const client = connect((server.address() as AddressInfo).port, "127.0.0.1");
  const [accepted] = (await once(server, "connection")) as [Socket];
  onTestFinished(() => {
    client.destroy();
    accepted.destroy();
  });
  const chunks: Buffer[] = [];
  let arrived = () => {};
  const taken = readIntoSharedBuffer(accepted, (chunk) => {
    chunks.push(chunk);
    arrived();
  });
  const next = () => new Promise<void>((resolve) => (arrived = resolve));
  return { client, accepted, chunks, taken, next };
}

// Where this fails, Node names its parts otherwise, and the broker falls back to streams: find the new names.
it("this Node reads an accepted socket into the shared buffer", async () => {
  const { taken } = await connected();
  expect(taken).toBe(true);
});

it("data received earlier is not overwritten by later data, on the same socket or another", async () => {
  const [one, other] = [await connected(), await connected()];
  for (const { client, next } of [one, other, one]) {
    const came = next();
    client.write(client === one.client ? "first" : "other");
    await came;
    if (client === one.client) expect(one.chunks[0]?.toString()).toBe("first");
  }
  expect(Buffer.concat(one.chunks).toString()).toBe("firstfirst");
  expect(Buffer.concat(other.chunks).toString()).toBe("other");
});

it("a paused socket is not read until it is resumed", async () => {
  const { client, accepted, chunks, next } = await connected();
  accepted.pause();
  client.write("later");
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(chunks).toEqual([]);
  const came = next();
  accepted.resume();
  await came;
  expect(Buffer.concat(chunks).toString()).toBe("later");
});

it("the other side's end closes it", async () => {
  const { client, accepted } = await connected();
  const closed = once(accepted, "close");
  client.end("bye");
  await closed;
});
