import { execFile } from "node:child_process";
import { X509Certificate } from "node:crypto";
import { once } from "node:events";
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:https";
import { type AddressInfo, connect as connectTcp } from "node:net";
import path from "node:path";
import { duplexPair } from "node:stream";
import { connect, createServer as createTlsServer } from "node:tls";
import { promisify } from "node:util";
import { generate } from "selfsigned";
import { expect, it, onTestFinished } from "vitest";
import { adoptAuthority, openAuthority } from "../../servers/core/certificates/certificate-authority.ts";
import { computerNames, openCertificates } from "../../servers/core/certificates/installation-certificates.ts";
import { FaultLog } from "../../servers/core/net/fault-log.ts";
import { listenTls } from "../../servers/core/net/tls-listener.ts";
import { WorkTurns } from "../../servers/core/turns/work-turns.ts";
import { eventually } from "../support/eventually.ts";
import { temporaryDir } from "../support/temporary-dir.ts";

const run = promisify(execFile);
const day = 86_400_000;

function open(folder: string, options: Partial<Parameters<typeof openCertificates>[0]> = {}) {
  const lines: string[] = [];
  const log = { info: (text: string) => void lines.push(text), warning: (text: string) => void lines.push(text) };
  return openCertificates({
    folder,
    log,
    onStop: (release) => onTestFinished(release),
    names: () => ["localhost", "127.0.0.1"],
    ...options,
  });
}

/** The certificate that a new connection is shown, which has to be of this authority and name. */
function shown(port: number, ca: string, servername = "localhost"): Promise<X509Certificate> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: "127.0.0.1", servername, ca }, () => {
      const certificate = socket.getPeerX509Certificate();
      socket.destroy();
      if (certificate) resolve(certificate);
      else reject(new Error("no certificate"));
    });
    socket.on("error", reject);
  });
}

it("[BL-150] processes that open it at the same time share one authority, whose key only its owner can read", async () => {
  const folder = path.join(temporaryDir(), "certificates");
  const script = `import { openAuthority } from ${JSON.stringify(path.resolve("servers/core/certificates/certificate-authority.ts"))};
    process.stdout.write((await openAuthority(process.argv[1])).cert);`;
  const outputs = await Promise.all([1, 2, 3].map(() => run(process.execPath, ["--input-type=module", "-e", script, folder])));
  const [first] = outputs.map(({ stdout }) => stdout);
  expect(new X509Certificate(first ?? "").ca).toBe(true);
  expect(outputs.map(({ stdout }) => stdout)).toEqual([first, first, first]);
  expect((await openAuthority(folder)).cert).toBe(first);
  expect(statSync(path.join(folder, "authority-with-private-key.pem")).mode & 0o777).toBe(0o600);
  expect(readFileSync(path.join(folder, "backlot-authority.crt"), "utf8")).toBe(first);
  expect(readdirSync(folder).sort()).toEqual(["authority-with-private-key.pem", "backlot-authority.crt"]);
});

it("[BL-150] who looks for it just when another one makes it finds it", async () => {
  for (let round = 0; round < 20; round++) {
    const folder = temporaryDir();
    const opened = Array.from({ length: 12 }, async (_, turns) => {
      for (let turn = 0; turn < turns; turn++) await new Promise(setImmediate);
      return (await openAuthority(folder)).cert;
    });
    expect(new Set(await Promise.all(opened)).size).toBe(1);
  }
});

const limits = { turns: new WorkTurns(), tlsHandshakes: 100 };

it("[BL-150] an authority that this user may not read is named, and left alone", async () => {
  const folder = temporaryDir();
  // As unreadable as the file of another user, also for root.
  mkdirSync(path.join(folder, "authority-with-private-key.pem"));
  await expect(openAuthority(folder)).rejects.toMatchObject({
    code: "STORE_UNREACHABLE",
    message: expect.stringContaining(path.join(folder, "authority-with-private-key.pem")),
  });
  expect(readdirSync(folder)).toEqual(["authority-with-private-key.pem"]);
});

it("[BL-150] a link to nothing in the place of the authority is named", async () => {
  const dir = temporaryDir();
  symlinkSync(path.join(dir, "nothing"), path.join(dir, "authority-with-private-key.pem"));
  await expect(openAuthority(dir)).rejects.toMatchObject({ code: "STORE_UNREACHABLE" });
});

it("[BL-461] a folder that cannot be written to is named, as the disk's fault", async () => {
  const folder = temporaryDir();
  // In place of the folder for the certificate of this computer.
  mkdirSync(path.join(folder, "computer.pem"));
  await expect(open(folder)).rejects.toMatchObject({
    code: "STORE_UNREACHABLE",
    message: expect.stringContaining("computer.pem cannot be used"),
  });
  mkdirSync(path.join(folder, "other", "backlot-authority.crt"), { recursive: true });
  const other = path.join(folder, "other");
  await expect(openAuthority(other)).rejects.toMatchObject({
    code: "STORE_UNREACHABLE",
    message: expect.stringContaining(`${other} cannot be used`),
  });
});

it("[BL-150] the authority of an earlier version gets the name that says what is in it", async () => {
  const folder = temporaryDir();
  const { cert, key } = await openAuthority(folder);
  writeFileSync(path.join(folder, "authority.pem"), `${key}${cert}`);
  rmSync(path.join(folder, "authority-with-private-key.pem"));
  const opened = await Promise.all([openAuthority(folder), openAuthority(folder)]);
  expect(opened.map((authority) => authority.cert)).toEqual([cert, cert]);
  expect(readdirSync(folder).sort()).toEqual(["authority-with-private-key.pem", "backlot-authority.crt"]);
});

it("[BL-150] a damaged or expiring authority is replaced and kept as a backup", async () => {
  const folder = temporaryDir();
  const first = await openAuthority(folder);
  expect((await openAuthority(folder, Date.now() + 3_600 * day)).cert).toBe(first.cert);
  const second = await openAuthority(folder, Date.now() + 3_630 * day);
  expect(second.cert).not.toBe(first.cert);
  writeFileSync(path.join(folder, "authority-with-private-key.pem"), "no certificate");
  const third = await openAuthority(folder);
  expect(third.cert).not.toBe(second.cert);
  expect(readFileSync(third.file, "utf8")).toBe(third.cert);
  expect(readdirSync(folder).filter((name) => name.endsWith(".old"))).toHaveLength(2);
});

it("[BL-150] a clock that is wrong at one start ends no trust, and the log says what was replaced", async () => {
  const folder = temporaryDir();
  const first = await openAuthority(folder);
  expect((await openAuthority(folder, Date.now() - 400 * day)).cert).toBe(first.cert);
  const lines: string[] = [];
  const ahead = await openAuthority(folder, Date.now() + 4_400 * day, (text) => void lines.push(text));
  expect(ahead.cert).not.toBe(first.cert);
  expect(lines).toEqual([expect.stringContaining(new X509Certificate(first.cert).fingerprint256)]);
  expect(lines[0]).toContain(new X509Certificate(ahead.cert).fingerprint256);
  expect((await openAuthority(folder)).cert).toBe(first.cert);
  expect(readFileSync(first.file, "utf8")).toBe(first.cert);
  expect((await openAuthority(folder)).cert).toBe(first.cert);
});

it("[BL-151] the certificate names this computer and passes strict checks", async () => {
  const folder = temporaryDir();
  const interfaces = {
    lo: [address("127.0.0.1", "IPv4", true)],
    lan: [address("192.168.1.7", "IPv4"), address("2001:db8::7", "IPv6"), address("fe80::7", "IPv6")],
  };
  const names = computerNames(interfaces, "My-Laptop");
  expect(names).toEqual(
    expect.arrayContaining(["localhost", "my-laptop", "my-laptop.local", "127.0.0.1", "::1", "192.168.1.7", "2001:db8::7"]),
  );
  expect(names).not.toContain("fe80::7");
  expect(computerNames({}, "a name with spaces")).not.toContain("a name with spaces");
  const certificates = await open(folder, { names: () => names });
  const leaf = new X509Certificate(certificates.options.cert);
  expect(names.filter((name) => !(leaf.checkHost(name) ?? leaf.checkIP(name)))).toEqual([]);
  expect(Date.parse(leaf.validTo) - Date.parse(leaf.validFrom)).toBeLessThanOrEqual(398 * day);
  const leafFile = path.join(folder, "leaf.crt");
  writeFileSync(leafFile, certificates.options.cert);
  const { stdout } = await run("openssl", [
    "verify",
    "-x509_strict",
    "-purpose",
    "sslserver",
    "-CAfile",
    certificates.authority.file,
    leafFile,
  ]);
  expect(stdout.trim()).toBe(`${leafFile}: OK`);
});

it("[BL-152] it is kept, also when a network disappears, and renewed before it expires, for a new address and for a new authority", async () => {
  const folder = temporaryDir();
  const at = (days: number) => ({ now: () => Date.now() + days * day });
  const first = await open(folder, { names: () => ["localhost", "127.0.0.1", "10.0.0.1"] });
  expect((await open(folder)).options).toEqual(first.options);
  expect((await open(folder, at(360))).options).toEqual(first.options);
  const second = await open(folder, { names: () => ["localhost", "10.0.0.2"] });
  expect(second.options.cert).not.toBe(first.options.cert);
  const third = await open(folder, at(370));
  expect(third.options.cert).not.toBe(second.options.cert);
  expect(new X509Certificate(third.options.cert).checkIP("127.0.0.1")).toBe("127.0.0.1");
  copyFileSync(path.join(folder, "computer.pem"), path.join(folder, "authority-with-private-key.pem"));
  const fourth = await open(folder);
  expect(new X509Certificate(fourth.options.cert).verify(new X509Certificate(fourth.authority.cert).publicKey)).toBe(true);
});

it("[BL-152] listeners use a renewed certificate for new connections", async () => {
  const folder = temporaryDir();
  let names = ["localhost", "127.0.0.1"];
  const certificates = await open(folder, { names: () => names, checkEveryMs: 20 });
  const onStop = (release: () => Promise<void>) => onTestFinished(release);
  const common = { port: 0, openToLan: false, onStop, certificates, handshakeMs: 5_000, faults: { handshakeFailed() {} }, ...limits };
  const ports = [
    await listenTls({ ...common, createServer: (tls) => createTlsServer(tls, (socket) => socket.on("error", () => {})) }),
    await listenTls({ ...common, createServer: (tls) => createServer(tls) }),
  ];
  const ca = certificates.authority.cert;
  for (const port of ports) expect((await shown(port, ca)).toString()).toBe(certificates.options.cert);
  names = [...names, "laptop.example"];
  await eventually(() => new X509Certificate(certificates.options.cert).checkHost("laptop.example") !== undefined, "a new certificate");
  for (const port of ports) expect((await shown(port, ca, "laptop.example")).toString()).toBe(certificates.options.cert);
});

it("[BL-336] a client that does not trust the certificate, or speaks no TLS, is named in the log", async () => {
  const certificates = await open(temporaryDir());
  const lines: string[] = [];
  const faults = new FaultLog({ warning: (text) => void lines.push(text), error() {} });
  onTestFinished(() => faults.flush());
  const common = {
    port: 0,
    openToLan: false,
    onStop: (release: () => Promise<void>) => onTestFinished(release),
    certificates,
    handshakeMs: 5_000,
    faults,
    ...limits,
  };
  const ports = [
    await listenTls({ ...common, createServer: (tls) => createTlsServer(tls) }),
    await listenTls({ ...common, createServer: (tls) => createServer(tls) }),
  ];
  for (const port of ports) {
    lines.length = 0;
    await expect(run("curl", ["-sS", `https://127.0.0.1:${port}/`])).rejects.toThrow("certificate");
    // It ends the connection without a word.
    await once(connect({ host: "127.0.0.1", port }), "error");
    const plain = connectTcp({ host: "127.0.0.1", port });
    plain.on("error", () => {});
    plain.write("GET / HTTP/1.1\r\n\r\n");
    await once(plain, "close");
    await eventually(() => lines.length === 3, "a line for each");
    expect(lines[0]).toMatch(/^A TLS handshake from 127\.0\.0\.1:\d+ failed: the client does not trust the service's certificate\.$/);
    expect(lines[1]).toMatch(
      /^A TLS handshake from 127\.0\.0\.1:\d+ failed: the client closed the connection, as some do that do not trust the service's certificate\.$/,
    );
    expect(lines[2]).toMatch(/^A TLS handshake from 127\.0\.0\.1:\d+ failed: the client sent HTTP without TLS\.$/);
  }
});

it.each([
  [42, "the client does not trust the service's certificate"],
  [45, "the client does not trust the service's certificate"],
  [46, "the client does not trust the service's certificate"],
  [48, "the client does not trust the service's certificate"],
])("[BL-336] alert %i of TLS is said in words, whatever OpenSSL calls it", async (alert, why) => {
  const certificates = await open(temporaryDir());
  const lines: string[] = [];
  const faults = new FaultLog({ warning: (text) => void lines.push(text), error() {} });
  onTestFinished(() => faults.flush());
  const onStop = (release: () => Promise<void>) => onTestFinished(release);
  const common = { port: 0, openToLan: false, onStop, certificates, handshakeMs: 5_000, faults, ...limits };
  const port = await listenTls({ ...common, createServer: (tls) => createTlsServer(tls) });
  const client = connectTcp({ host: "127.0.0.1", port });
  onTestFinished(() => void client.destroy());
  client.on("error", () => {});
  // A TLS client takes its bytes from here, and its answer to the certificate is an alert.
  const [ofClient, ofServer] = duplexPair();
  const tls = connect({ socket: ofClient, maxVersion: "TLSv1.2", rejectUnauthorized: false });
  tls.on("error", () => {});
  onTestFinished(() => void tls.destroy());
  client.write((await once(ofServer, "data"))[0]);
  await once(client, "data");
  client.write(Buffer.of(0x15, 3, 3, 0, 2, 2, alert));
  await eventually(() => lines.length === 1, "a line");
  expect(lines[0]).toMatch(/^A TLS handshake from 127\.0\.0\.1:\d+ failed: /);
  expect(lines[0]).toContain(`failed: ${why}.`);
});

it("[BL-153] an authority that MQTT created earlier becomes the installation's authority", async () => {
  const folder = temporaryDir();
  const former = path.join(folder, "services/mqtt/tls");
  mkdirSync(former, { recursive: true });
  const made = await generate([{ name: "commonName", value: "localhost" }], {
    keyType: "ec",
    curve: "P-256",
    algorithm: "sha256",
    notAfterDate: new Date(Date.now() + 200 * day),
    extensions: [
      { name: "basicConstraints", cA: true, critical: true },
      { name: "keyUsage", digitalSignature: true, keyCertSign: true, critical: true },
      { name: "extKeyUsage", serverAuth: true, clientAuth: true },
      { name: "subjectAltName", altNames: [{ type: 2, value: "localhost" }] },
    ],
  });
  const from = { certificate: path.join(former, "certificate.pem"), key: path.join(former, "key.pem") };
  writeFileSync(from.certificate, made.cert);
  writeFileSync(from.key, made.private);
  const certificatesDir = path.join(folder, "certificates");
  await adoptAuthority(certificatesDir, from);
  const certificates = await open(certificatesDir);
  expect(certificates.authority.cert.trim()).toBe(made.cert.trim());
  const server = createTlsServer(certificates.options).listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await once(server, "listening");
  const certificate = await shown((server.address() as AddressInfo).port, made.cert);
  expect(Date.parse(certificate.validTo)).toBeLessThanOrEqual(Date.parse(new X509Certificate(made.cert).validTo));
  // Later starts keep it, and a folder without one is left alone.
  await adoptAuthority(certificatesDir, { certificate: "none", key: "none" });
  expect((await openAuthority(certificatesDir)).cert).toBe(certificates.authority.cert);
});

const address = (address: string, family: "IPv4" | "IPv6", internal = false) =>
  ({ address, family, internal, netmask: "", mac: "", cidr: null, scopeid: 0 }) as NonNullable<
    ReturnType<typeof import("node:os").networkInterfaces>[string]
  >[number];
