import { spawn } from "node:child_process";
import { once } from "node:events";
import { type AddressInfo, connect as connectTcp, createServer as createTcpServer, type Socket } from "node:net";
import { setImmediate as nextTurn } from "node:timers/promises";
import { connect, createServer as createTlsServer, type TLSSocket, type Server as TlsServer } from "node:tls";
import { expect, it, onTestFinished } from "vitest";
import { openCertificates } from "../../servers/core/certificates/installation-certificates.ts";
import { clientHelloState } from "../../servers/core/net/client-hello.ts";
import { TlsAdmission } from "../../servers/core/net/tls-admission.ts";
import { listenTls } from "../../servers/core/net/tls-listener.ts";
import { WorkTurns } from "../../servers/core/turns/work-turns.ts";
import { eventually } from "../support/eventually.ts";
import { temporaryDir } from "../support/temporary-dir.ts";
import { itemsOfTurn, workTime } from "../support/work-time.ts";

const faults = { handshakeFailed() {} };
const limits = (turns = new WorkTurns()) => ({ turns, tlsHandshakes: 4_096 });
const host = "127.0.0.1";

/** The first message of a real client. */
async function clientHello(): Promise<Buffer> {
  const server = createTcpServer().listen(0, host);
  onTestFinished(() => void server.close());
  await once(server, "listening");
  const client = connect({ host, port: (server.address() as AddressInfo).port });
  client.on("error", () => {});
  const [socket] = (await once(server, "connection")) as [Socket];
  const [hello] = (await once(socket, "data")) as [Buffer];
  socket.destroy();
  client.destroy();
  return hello;
}

/** The message in records of `size` bytes (RFC 8446 §5.1). */
function inRecords(hello: Buffer, size: number): Buffer {
  const parts: Buffer[] = [];
  for (let at = 5; at < hello.length; at += size) {
    const part = hello.subarray(at, at + size);
    parts.push(Buffer.from([0x16, 3, 1, part.length >> 8, part.length & 0xff]), part);
  }
  return Buffer.concat(parts);
}

async function clients(port: number, count: number): Promise<Socket[]> {
  return await Promise.all(
    Array.from({ length: count }, async () => {
      const socket = connectTcp({ host, port });
      onTestFinished(() => void socket.destroy());
      socket.on("error", () => {});
      await once(socket, "connect");
      return socket;
    }),
  );
}

/** What a TLS server is to the admission, without its work. */
async function countingServer(admission: TlsAdmission, onBegun = () => {}) {
  const begun: Socket[] = [];
  const server = createTcpServer((socket) => {
    begun.push(socket.on("error", () => {}));
    onBegun();
    socket.resume();
  });
  admission.admit(server as unknown as TlsServer, 5_000, faults);
  server.listen(0, host);
  await once(server, "listening");
  onTestFinished(() => {
    admission.close();
    for (const socket of begun) socket.destroy();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, begun };
}

it("[BL-355] many first messages of TLS at once begin few handshakes in a turn of the event loop", async () => {
  const hello = await clientHello();
  const { port, begun } = await countingServer(new TlsAdmission(limits()));
  const sockets = await clients(port, 200);
  let before = 0;
  let most = 0;
  let isOver = false;
  const look = () => {
    most = Math.max(most, begun.length - before);
    before = begun.length;
    if (!isOver) setImmediate(look);
  };
  look();
  for (const socket of sockets) socket.write(hello);
  await eventually(() => begun.length === 200, "all begin");
  isOver = true;
  expect(most).toBeLessThanOrEqual(20);
});

it("[BL-355] handshakes of two listeners and other work of the service share the time of a turn", async () => {
  const hello = await clientHello();
  const { turns, pass } = workTime();
  const servers = [
    await countingServer(new TlsAdmission(limits(turns)), pass),
    await countingServer(new TlsAdmission(limits(turns)), pass),
  ];
  const sockets = (await Promise.all(servers.map(({ port }) => clients(port, 200)))).flat();
  let [done, most, before] = [0, 0, 0];
  const items = () => done + servers.reduce((sum, { begun }) => sum + begun.length, 0);
  for (let client = 0; client < 200; client++) {
    const steps = Array.from({ length: 5 }, () => () => {
      pass();
      done++;
    });
    void turns.connection("").run(
      (function* () {
        for (const step of steps) {
          step();
          yield;
        }
      })(),
    );
  }
  for (const socket of sockets) socket.write(hello);
  while (items() < 1_400) {
    await nextTurn();
    most = Math.max(most, items() - before);
    before = items();
  }
  // A turn, and what began before the first of them.
  expect(most).toBeLessThanOrEqual(1.5 * itemsOfTurn);
});

/** A server of TLS, and clients of it whose bytes wait on the way until `letThrough`. */
async function listenBehindGate(onSocket: (socket: TLSSocket) => void, turns?: WorkTurns) {
  const certificates = await openCertificates({
    folder: temporaryDir(),
    log: { info() {}, warning() {} },
    onStop: (release) => onTestFinished(release),
  });
  const onStop = (release: () => Promise<void>) => onTestFinished(release);
  const createServer = (tls: object) => createTlsServer(tls, (socket) => onSocket(socket.on("error", () => {})));
  const port = await listenTls({
    port: 0,
    openToLan: false,
    onStop,
    certificates,
    handshakeMs: 20_000,
    faults,
    ...limits(turns),
    createServer,
  });
  const waiting: { readonly to: Socket; readonly bytes: Buffer }[] = [];
  let isOpen = true;
  const gate = createTcpServer((from) => {
    const to = connectTcp({ host, port }).on("error", () => {});
    from.on("error", () => {}).on("data", (bytes) => void (isOpen ? to.write(bytes) : waiting.push({ to, bytes })));
    from.once("close", () => to.destroy());
    to.pipe(from);
  }).listen(0, host);
  onTestFinished(() => void gate.close());
  await once(gate, "listening");
  const open = async () => {
    const socket = connect({ host, port: (gate.address() as AddressInfo).port, ca: certificates.authority.cert, servername: "localhost" });
    onTestFinished(() => void socket.destroy());
    await once(socket, "secureConnect");
    return socket;
  };
  return {
    port,
    open,
    hold() {
      isOpen = false;
    },
    letThrough() {
      isOpen = true;
      for (const { to, bytes } of waiting.splice(0)) to.write(bytes);
    },
  };
}

/** Each byte in a record of its own. */
async function writeRecords(socket: Socket, count: number): Promise<void> {
  for (let sent = 0; sent < count; sent++) await new Promise((resolve) => socket.write("x", resolve));
}

it("[BL-355] records of one byte that many connections send at once are decrypted in turns, and all of them", async () => {
  let received = 0;
  const { open, hold, letThrough } = await listenBehindGate((socket) => {
    socket.on("data", ({ length }) => {
      received += length;
    });
  });
  const sockets = await Promise.all(Array.from({ length: 30 }, open));
  hold();
  await Promise.all(sockets.map((socket) => writeRecords(socket, 1_000)));
  letThrough();
  let most = 0;
  for (let before = 0; before < 30_000; before = received) {
    await nextTurn();
    most = Math.max(most, received - before);
  }
  expect(received).toBe(30_000);
  expect(most).toBeLessThan(15_000);
});

it("[BL-355] the ends of many connections that are cut together are passed on in turns", async () => {
  let nowMs = 0;
  const connections = 60;
  let opened = 0;
  const { open } = await listenBehindGate(
    (socket) => {
      opened++;
      socket.resume().once("end", () => nowMs++);
    },
    new WorkTurns(() => nowMs),
  );
  const sockets = await Promise.all(Array.from({ length: connections }, open));
  await eventually(() => opened === connections, "all are open");
  for (const socket of sockets) socket.destroy();
  let most = 0;
  for (let before = 0; nowMs < connections; before = nowMs) {
    await nextTurn();
    most = Math.max(most, nowMs - before);
  }
  expect(most).toBeLessThanOrEqual(16);
});

it("[BL-355] short records are not decrypted for a service that does not read, and all of them when it does", async () => {
  const taken: TLSSocket[] = [];
  const { open } = await listenBehindGate((socket) => void taken.push(socket.pause()));
  const client = await open();
  await writeRecords(client, 500);
  const [socket] = taken as [TLSSocket];
  await eventually(() => socket.readableLength > 0, "the first ones are there");
  for (let turn = 0; turn < 20; turn++) await nextTurn();
  expect(socket.readableLength).toBeLessThan(100);
  let received = 0;
  socket.on("data", ({ length }) => {
    received += length;
  });
  socket.resume();
  await eventually(() => received === 500, "all are there");
});

it("[BL-407] a client that changes its key again and again is disconnected, and one that sends data in between is not", async () => {
  let received = 0;
  const { port } = await listenBehindGate((socket) => {
    socket.on("data", ({ length }) => {
      received += length;
    });
  });
  for (const isBetween of [false, true]) {
    const client = spawn("openssl", ["s_client", "-connect", `${host}:${port}`, "-tls1_3"], { stdio: "pipe" });
    onTestFinished(() => void client.kill());
    client.stdin.on("error", () => {});
    let output = "";
    for (const stream of [client.stdout, client.stderr]) {
      stream.on("data", (bytes: Buffer) => {
        output += bytes;
      });
    }
    let isOver = false;
    client.once("exit", () => {
      isOver = true;
    });
    await eventually(() => output.includes("Verify return code"), "it is connected");
    let changes = 0;
    // A command is the first letter of what is read at once: so each is awaited.
    for (; changes < 100 && !isOver; changes++) {
      client.stdin.write("k\n");
      await eventually(() => isOver || output.split("KEYUPDATE").length > changes + 1, "the key is changed");
      if (!isBetween) continue;
      const before = received;
      client.stdin.write("data\n");
      await eventually(() => received > before, "the data is there");
    }
    if (isBetween) expect(isOver).toBe(false);
    else await eventually(() => isOver, "it is disconnected");
  }
});

it("[BL-355] of hundreds of handshakes at once, of which most do not end, the others end, and their data is read", async () => {
  const certificates = await openCertificates({
    folder: temporaryDir(),
    log: { info() {}, warning() {} },
    onStop: (release) => onTestFinished(release),
  });
  const onStop = (release: () => Promise<void>) => onTestFinished(release);
  const createServer = (tls: object) => createTlsServer(tls, (socket) => socket.on("error", () => {}).pipe(socket));
  const port = await listenTls({ port: 0, openToLan: false, onStop, certificates, handshakeMs: 20_000, faults, ...limits(), createServer });
  const hello = await clientHello();
  for (const socket of await clients(port, 300)) socket.write(hello);
  const ca = certificates.authority.cert;
  const echoes = Array.from({ length: 100 }, async (_, index) => {
    // Every second one is asked for a key of another group, in a second first message.
    const version = index % 3 === 0 ? ({ maxVersion: "TLSv1.2" } as const) : {};
    const socket = connect({ host, port, ca, ...version, ...(index % 2 === 0 && { ecdhCurve: "P-521:P-256" }) });
    onTestFinished(() => void socket.destroy());
    socket.write(String(index));
    const [echo] = (await once(socket, "data")) as [Buffer];
    return String(echo);
  });
  expect(await Promise.all(echoes)).toEqual(Array.from({ length: 100 }, (_, index) => String(index)));
});

it("[BL-355] a handshake begins when its first message is complete, however it is cut", async () => {
  const hello = await clientHello();
  for (const bytes of [hello, inRecords(hello, 100)]) {
    const cuts = Array.from({ length: bytes.length }, (_, length) => clientHelloState(bytes.subarray(0, length)));
    expect(new Set(cuts)).toEqual(new Set([undefined]));
    expect(clientHelloState(bytes)).toBe("complete");
  }
  const large = Buffer.from(hello);
  large.writeUIntBE(20_000, 6, 3);
  expect(clientHelloState(large)).toBe("refused");
  // An alert, after which another record could follow, and SSL 2.0.
  expect(clientHelloState(Buffer.from([0x15]))).toBe("refused");
  expect(clientHelloState(Buffer.from([0x80]))).toBe("refused");
  expect(clientHelloState(Buffer.from("G"))).toBe("complete");
  // Each would be looked at again with each piece that comes.
  const tiny = Buffer.concat([
    Buffer.from([0x16, 3, 1, 0, 4, 1, 0, 0x3f, 0xf0]),
    ...Array<Buffer>(64).fill(Buffer.from([0x16, 3, 1, 0, 1, 0])),
  ]);
  expect([clientHelloState(tiny.subarray(0, -6)), clientHelloState(tiny)]).toEqual([undefined, "refused"]);

  const certificates = await openCertificates({
    folder: temporaryDir(),
    log: { info() {}, warning() {} },
    onStop: (release) => onTestFinished(release),
  });
  const onStop = (release: () => Promise<void>) => onTestFinished(release);
  const createServer = (tls: object) => createTlsServer(tls, (socket) => socket.end("hello"));
  const port = await listenTls({ port: 0, openToLan: false, onStop, certificates, handshakeMs: 5_000, faults, ...limits(), createServer });
  const [socket] = (await clients(port, 1)) as [Socket];
  for (const byte of inRecords(hello, 100)) socket.write(Buffer.from([byte]));
  const [answer] = (await once(socket, "data")) as [Buffer];
  expect(answer[0]).toBe(0x16);

  const ca = certificates.authority.cert;
  const open = connect({ host, port, ca, ecdhCurve: "P-256" });
  expect(String((await once(open, "data"))[0])).toBe("hello");
  open.destroy();
  // One key exchange of this group is a millisecond.
  const slow = connect({ host, port, ca, ecdhCurve: "P-521" });
  const [error] = (await once(slow, "error")) as [Error];
  expect(error.message).toContain("handshake failure");
});

it("[BL-356] beyond the bound of open handshakes those of the address with most are ended, and a stop ends them all", async () => {
  const admission = new TlsAdmission({ ...limits(), tlsHandshakes: 16 });
  const { port } = await countingServer(admission);
  const sockets = await clients(port, 40);
  await eventually(() => sockets.filter(({ closed }) => !closed).length <= 16, "the others are closed");
  expect(sockets.some(({ closed }) => !closed)).toBe(true);
  admission.close();
  await eventually(() => sockets.every(({ closed }) => closed), "all are closed");
});
