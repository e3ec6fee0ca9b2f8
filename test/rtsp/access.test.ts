import { expect, it } from "vitest";
import { digestResponse, digestSecret, parseDigestCredentials } from "../../servers/core/credentials/digest.ts";
import { digestLines } from "../../servers/core/credentials/digest-users.ts";
import { hashPassword } from "../../servers/core/credentials/passwords.ts";
import { headersOf } from "../../servers/rtsp/protocol/message.ts";
import { rtspService } from "../../servers/rtsp/rtsp-service.ts";
import { leastCpuMs } from "../support/cpu-time.ts";
import { httpRequest } from "../support/http-request.ts";
import { type RawClient, startRtsp, tcpTransport } from "./harness.ts";
import { lacksFfmpeg, lacksGstreamer, playWithGstreamer, runProgram } from "./media-programs.ts";

const users = ["ada:pass word", "eve:secret"];

/** A client of our own for what no client at hand can do. */
async function digest(
  client: RawClient,
  method: string,
  path: string,
  { algorithm = "MD5", password = "pass word", uri = client.url + path, nonce = "" } = {},
) {
  const challenged = await client.request(method, path, { Transport: tcpTransport(0) });
  const challenge = headersOf(challenged.headers, "WWW-Authenticate").find((text) => text.includes(`algorithm=${algorithm}`)) ?? "";
  const issued = nonce || (/nonce="([^"]*)"/.exec(challenge)?.[1] ?? "");
  const fields = `username="ada", realm="Backlot", nonce="${issued}", uri="${uri}", algorithm=${algorithm}`;
  const given = parseDigestCredentials(`Digest ${fields}`);
  if (!given) throw new Error("no credentials");
  const hash = algorithm === "MD5" ? "MD5" : "SHA-256";
  const secret = digestSecret(hash, "ada", "Backlot", password);
  const response = digestResponse({ algorithm: hash, session: false, secret, method, body: Buffer.alloc(0) }, given);
  return await client.request(method, path, { Transport: tcpTransport(0), Authorization: `Digest ${fields}, response="${response}"` });
}

it.skipIf(lacksFfmpeg)("[RTSP-50] ffprobe plays with a password, by Digest and by Basic, and not without", async () => {
  for (const authentication of [["digest-sha256", "digest-md5", "basic"], ["digest-md5"], ["basic"]]) {
    const server = await startRtsp({ users, authentication });
    const url = server.url.replace("rtsp://", "rtsp://ada:pass%20word@");
    const { stdout } = await runProgram("ffprobe", [
      "-v",
      "error",
      "-rtsp_transport",
      "tcp",
      "-show_entries",
      "stream=codec_name",
      "-of",
      "csv=p=0",
      `${url}/stream`,
    ]);
    expect(stdout.toString().trim().split(/\s+/)).toEqual(["h264", "aac"]);
    expect((await server.ended(({ outcome }) => outcome === "TEARDOWN")).user).toBe("ada");
    await expect(runProgram("ffprobe", ["-v", "error", "-rtsp_transport", "tcp", `${server.url}/stream`])).rejects.toThrow(
      "401 Unauthorized",
    );
    await expect(
      runProgram("ffprobe", ["-v", "error", "-rtsp_transport", "tcp", `${url.replace("pass", "wrong")}/stream`]),
    ).rejects.toThrow("401");
  }
});

it.skipIf(lacksGstreamer)("[RTSP-50] GStreamer plays with a password", async () => {
  const { url } = await startRtsp({ users });
  const pipeline = [
    "rtspsrc",
    `location=${url}/stream`,
    "user-id=ada",
    "user-pw=pass word",
    "protocols=tcp",
    "!",
    "rtph264depay",
    "!",
    "identity",
    "eos-after=5",
    "!",
    "fakesink",
  ];
  await playWithGstreamer(...pipeline);
});

it("[RTSP-51] Digest with SHA-256 and MD5, each offered; for a track also with the URI of its stream", async () => {
  const client = await (await startRtsp({ users })).connect();
  const challenges = headersOf((await client.request("DESCRIBE", "/stream")).headers, "WWW-Authenticate");
  expect(challenges.map((challenge) => /^Digest.*algorithm=([\w-]+)|^Basic/.exec(challenge)?.slice(0, 2)[1] ?? challenge)).toEqual([
    "SHA-256",
    "MD5",
    'Basic realm="Backlot"',
  ]);
  expect((await digest(client, "DESCRIBE", "/stream")).status).toBe(200);
  expect((await digest(client, "DESCRIBE", "/stream", { algorithm: "SHA-256" })).status).toBe(200);
  expect((await digest(client, "SETUP", "/stream/trackID=0", { uri: `${client.url}/stream` })).status).toBe(200);
  expect((await digest(client, "DESCRIBE", "/stream", { uri: `${client.url}/test` })).status).toBe(401);
  expect((await digest(client, "DESCRIBE", "/stream", { password: "wrong" })).status).toBe(401);
  expect((await digest(client, "DESCRIBE", "/stream", { nonce: "made.up.by.me" })).status).toBe(401);
});

it("[RTSP-52] rules say who may play and publish which path; 401 without a name, 403 with one", async () => {
  const server = await startRtsp({ users, pathRules: ["* read stream", "ada publish cameras/*", "eve both *"] });
  const client = await server.connect();
  const status = async (method: string, path: string, user?: string) => {
    const Authorization = user && `Basic ${Buffer.from(users.find((line) => line.startsWith(user)) ?? "").toString("base64")}`;
    const body = method === "ANNOUNCE" ? "v=0\r\ns=x\r\nt=0 0\r\nm=audio 0 RTP/AVP 0\r\n" : "";
    return (await client.request(method, path, Authorization ? { Authorization } : {}, body)).status;
  };
  expect(await status("DESCRIBE", "/stream")).toBe(200);
  expect(await status("DESCRIBE", "/test")).toBe(401);
  expect(await status("DESCRIBE", "/test", "ada")).toBe(403);
  expect(await status("DESCRIBE", "/test", "eve")).toBe(200);
  expect(await status("ANNOUNCE", "/cameras/1")).toBe(401);
  expect(await status("ANNOUNCE", "/cameras/1", "ada")).toBe(200);
  expect(await status("ANNOUNCE", "/other", "ada")).toBe(403);
  expect(await status("ANNOUNCE", "/other", "eve")).toBe(200);
  // Without users the rules are for clients without a name.
  const open = await (await startRtsp({ pathRules: ["- read stream"] })).connect();
  expect((await open.request("DESCRIBE", "/stream")).status).toBe(200);
  expect((await open.request("DESCRIBE", "/test")).status).toBe(403);
});

it("[RTSP-53] passwords are saved as what Digest needs of them, which serves Basic too; failed logins are limited", async () => {
  const values = await rtspService.hashSecrets?.({ users });
  const saved = values?.users as readonly string[];
  expect(saved.join()).not.toContain("pass word");
  expect(saved).toEqual(digestLines(users, "Backlot"));
  expect(digestLines(saved, "Backlot")).toEqual(saved);
  const client = await (await startRtsp({ users: saved, loginFailures: 3 })).connect();
  expect((await digest(client, "DESCRIBE", "/stream")).status).toBe(200);
  const basic = async (text: string) =>
    (await client.request("DESCRIBE", "/stream", { Authorization: `Basic ${Buffer.from(text).toString("base64")}` })).status;
  expect(await basic("ada:pass word")).toBe(200);
  for (let attempt = 0; attempt < 3; attempt++) expect(await basic("ada:wrong")).toBe(401);
  expect(await basic("ada:pass word")).toBe(403);
});

it("[RTSP-56] a refusal by Basic takes as long for an unknown name as for each user, also where some have a hash", async () => {
  const mixed = ["ada:secret", `bob:${await hashPassword("secret")}`];
  const client = await (await startRtsp({ users: mixed, loginFailures: 1_000 })).connect();
  const statusOf = async (name: string, password: string) => {
    const Authorization = `Basic ${Buffer.from(`${name}:${password}`).toString("base64")}`;
    return (await client.request("DESCRIBE", "/stream", { Authorization })).status;
  };
  for (const name of ["ada", "bob"]) expect(await statusOf(name, "secret")).toBe(200);
  const refuse = (name: string) => leastCpuMs(async () => expect(await statusOf(name, "wrong")).toBe(401));
  const ofBob = await refuse("bob");
  for (const name of ["ada", "nobody"]) expect(await refuse(name)).toBeGreaterThan(ofBob / 2);
});

it("[RTSP-54] the management needs a user where there are users", async () => {
  const { httpUrl } = await startRtsp({ users });
  const refused = await httpRequest(`${httpUrl}/stats`);
  expect([refused.status, refused.headers["www-authenticate"]]).toEqual([401, 'Basic realm="Backlot"']);
  const Authorization = `Basic ${Buffer.from("eve:secret").toString("base64")}`;
  expect((await httpRequest(`${httpUrl}/stats`, { headers: { Authorization } })).status).toBe(200);
});

it("[RTSP-54] faults and the end of sessions over HTTP need the right to publish the path", async () => {
  const server = await startRtsp({ users, pathRules: ["* read stream", "ada publish stream", "eve read *"] });
  const client = await server.connect();
  await client.play("/stream");
  const as = async (user: string, method: string, path: string) => {
    const Authorization = `Basic ${Buffer.from(users.find((line) => line.startsWith(user)) ?? "").toString("base64")}`;
    const { status, body } = await httpRequest(server.httpUrl + path, { method, headers: { Authorization } });
    return { status, body: JSON.parse(body) as Record<string, unknown> };
  };
  const refused = { status: 403, body: { status: "error", error: "eve may not change stream: that needs the right to publish it" } };
  const done = { status: 200, body: { status: "ok" } };
  const [{ id } = { id: "" }] = (await as("eve", "GET", "/v3/rtspsessions/list")).body.items as { id: string }[];
  for (const [method, path] of [
    ["POST", "/faults/paths/stream?kind=stall"],
    ["POST", `/faults/sessions/${id}?kind=stall`],
    ["DELETE", "/faults/paths/stream"],
    ["DELETE", `/faults/sessions/${id}`],
    ["POST", `/v3/rtspsessions/kick/${id}`],
  ] as const)
    expect([path, await as("eve", method, path)]).toEqual([path, refused]);
  expect(await as("ada", "POST", "/faults/paths/stream?kind=stall")).toEqual(done);
  expect((await as("ada", "POST", "/faults/paths/test?kind=stall")).status).toBe(403);
  expect(await as("eve", "DELETE", "/faults")).toEqual(refused);
  expect(await as("ada", "DELETE", "/faults")).toEqual(done);
  expect(await as("ada", "POST", `/v3/rtspsessions/kick/${id}`)).toEqual(done);
  await client.ended();
});
