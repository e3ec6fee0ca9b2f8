import { exec, execFile, execFileSync, spawn } from "node:child_process";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { HeaderList } from "../../contract/traffic/http.ts";
import { copyAs, type Replay, replayOf } from "../../renderer/src/inspectors/http/copy-as.ts";
import { cmdQuoted, shellQuoted } from "../../renderer/src/ui/copy/shells.ts";

const bytes = (text: string) => new TextEncoder().encode(text);
const replay = (part: Partial<Replay> = {}): Replay => ({
  method: "GET",
  origin: "http://127.0.0.1:8080",
  target: "/api/data",
  headers: [],
  body: new Uint8Array(),
  ...part,
});

describe("shell quoting", () => {
  it.each([
    ["plain-word_1.0", "plain-word_1.0"],
    ["", "''"],
    ["two words", "'two words'"],
    ["it's", String.raw`'it'\''s'`],
    ['$(rm -rf /) `x` "y" \\', "'$(rm -rf /) `x` \"y\" '\\\\''"],
    ["a\nb", "'a\nb'"],
    ["ünï", "'ünï'"],
    ["a\\'b\\\\n", String.raw`'a'\\''\''b'\\'\n'`],
    ["=ls", "'=ls'"],
    ["a=b", "a=b"],
    ["!a\nb", "'!a\nb'"],
  ])("%j becomes %s", (text, quoted) => {
    expect(shellQuoted(text)).toBe(quoted);
    expect(execFileSync("sh", ["-c", `printf %s ${quoted}`], { encoding: "utf8" })).toBe(text);
  });

  // A terminal changes carriage returns that are pasted, and drops escapes.
  it("[BL-441] copies a handshake with its fields", () => {
    const headers: HeaderList = [
      ["Connection", "Upgrade"],
      ["Upgrade", "websocket"],
      ["Sec-WebSocket-Version", "12"],
      ["Content-Length", "0"],
    ];
    expect(copyAs("curl", replay({ target: "/ws/echo", headers }))).toBe(
      [
        "curl --http1.1",
        "--include",
        "http://127.0.0.1:8080/ws/echo",
        "-H 'Connection: Upgrade'",
        "-H 'Upgrade: websocket'",
        "-H 'Sec-WebSocket-Version: 12'",
      ].join(" \\\n  "),
    );
  });

  it("[BL-340] writes control characters as escapes", () => {
    const text = "--b\r\n\tit's \u001b[1m \\n 100% !x \u007f\u0085 ü\r\n0";
    const quoted = shellQuoted(text);
    expect(quoted).toBe(String.raw`$'--b\r\n\tit\047s \033[1m \\n 100% \041x \177\302\205 ü\r\n0'`);
    expect(execFileSync("bash", ["-c", `printf %s ${quoted}`], { encoding: "utf8" })).toBe(text);
  });

  it.each(["a\n^b^c", "it's\nhi!"])("[BL-340] %j has no line in which bash finds its history", (text) => {
    const quoted = shellQuoted(text);
    expect(quoted).not.toMatch(/\n|!/);
    expect(execFileSync("bash", ["-c", `printf %s ${quoted}`], { encoding: "utf8" })).toBe(text);
  });

  it("[BL-340] a shell that does not know such quotes runs nothing of the text", () => {
    const quoted = shellQuoted("\u0001';echo RUN;#");
    expect(quoted).toBe(String.raw`$'\001\047;echo RUN;#'`);
    expect(execFileSync("bash", ["-c", `printf %s ${quoted}`], { encoding: "utf8" })).toBe("\u0001';echo RUN;#");
    expect(execFileSync("dash", ["-c", `printf '[%s]' ${quoted}`], { encoding: "utf8" })).toMatch(/^\[[^\]]*\]$/);
  });

  /** What a program's arguments are after cmd.exe, then Microsoft's C runtime, have read a word; an error where cmd would read more than a word. */
  function readByCmd(word: string): string {
    const parts = word.match(/\^\n\n|\^[^\n]|[^^]/g) ?? [];
    const line = parts
      .map((part) => {
        if (part.startsWith("^")) return part.slice(-1);
        if (/["&|<>()\n%]/.test(part)) throw new Error(`cmd reads ${part}`);
        return part;
      })
      .join("");
    if (!line.startsWith('"')) return line;
    return line
      .slice(1, -1)
      .replaceAll(/(\\+)"/g, (_, slashes: string) => `${"\\".repeat((slashes.length - 1) / 2)}"`)
      .replace(/\\+$/, (slashes) => slashes.slice(slashes.length / 2));
  }

  it.each(["plain-word_1.0", "", "/x?a&calc&b|<>()^", "%PATH%20", 'say "a&b" \\', '\\"\\\\"', "a\n&b", "it's"])(
    "[BL-440] %j is one word of Windows' cmd",
    (text) => {
      expect(readByCmd(cmdQuoted(text) ?? "")).toBe(text);
    },
  );

  it("[BL-440] what cmd has no way to write is not quoted", () => {
    expect(cmdQuoted("ü")).toBeUndefined();
    expect(cmdQuoted("\t")).toBeUndefined();
  });
});

describe("curl", () => {
  it("omits header fields that curl sets itself", () => {
    const headers = [
      ["Host", "127.0.0.1:8080"],
      ["Accept", "*/*"],
      ["Content-Length", "2"],
      ["Connection", "keep-alive"],
    ] as const;
    expect(copyAs("curl", replay({ headers }))).toBe("curl http://127.0.0.1:8080/api/data \\\n  -H 'Accept: */*'");
  });

  it.each([
    ["HEAD", "curl --head \\\n  http://127.0.0.1:8080/api/data"],
    ["DELETE", "curl -X DELETE \\\n  http://127.0.0.1:8080/api/data"],
  ])("says %s", (method, command) => {
    expect(copyAs("curl", replay({ method }))).toBe(command);
  });

  it("keeps an empty header, and asks for encodings it can decode", () => {
    const headers = [
      ["X-Empty", ""],
      ["Accept-Encoding", "gzip, br"],
    ] as const;
    expect(copyAs("curl", replay({ headers }))).toContain("-H 'X-Empty;' \\\n  --compressed");
  });

  it("[BL-302] has a placeholder for a credential that was not kept, and says so", () => {
    const headers: HeaderList = [
      ["Authorization", "Bearer •••"],
      ["Cookie", "•••"],
    ];
    const recorded = {
      request: { method: "GET", target: "/", httpVersion: "1.1", headers, body: { bytes: 0, base64: "" } },
      connection: {},
    };
    const found = replayOf(recorded as unknown as Parameters<typeof replayOf>[0], undefined);
    expect(copyAs("curl", { ...found, origin: "http://127.0.0.1:8081" })).toBe(
      [
        ": 'Replace TOKEN: the recording does not contain the value of Authorization, Cookie.'",
        "curl http://127.0.0.1:8081/ \\",
        "  -H 'Authorization: Bearer TOKEN' \\",
        "  -H 'Cookie: TOKEN'",
      ].join("\n"),
    );
    expect(copyAs("javascript", found)).toMatch(/^\/\/ Replace TOKEN/);
  });

  it("[BL-302] says of a body in which a password is hidden what to replace, and not that bytes are missing", () => {
    const text = "username=a&password=•••";
    const body = { bytes: 30, base64: Buffer.from(text).toString("base64"), hiddenIn: 30 };
    const recorded = { request: { method: "POST", target: "/login", httpVersion: "1.1", headers: [], body }, connection: {} };
    const found = replayOf(recorded as unknown as Parameters<typeof replayOf>[0], undefined);
    expect(copyAs("curl", found).split("\n", 1)).toEqual([": 'Replace •••: the recording hides passwords and tokens of the body.'"]);
    const cut = { ...recorded, request: { ...recorded.request, body: { ...body, bytes: 40 } } };
    const ofCut = replayOf(cut as unknown as Parameters<typeof replayOf>[0], undefined);
    expect(copyAs("curl", ofCut)).toMatch(/^: 'The last 10 bytes of the body were not recorded\.'\n: 'Replace •••/);
  });

  it.each([
    ["Content-Length", "2000", ": 'The last 1995 bytes of the body were not recorded.'"],
    ["Transfer-Encoding", "chunked", ": 'The last bytes of the body were not recorded.'"],
  ])("[BL-500] says of a body that came in part that the rest is missing: %s", (name, value, note) => {
    const body = { bytes: 5, base64: Buffer.from("hello").toString("base64"), isPart: true };
    const recorded = { request: { method: "POST", target: "/a", httpVersion: "1.1", headers: [[name, value]], body }, connection: {} };
    const found = replayOf(recorded as unknown as Parameters<typeof replayOf>[0], undefined);
    expect(copyAs("curl", found).split("\n", 1)).toEqual([note]);
  });

  it("says that a body is cut", () => {
    expect(copyAs("curl", replay({ method: "POST", body: bytes("a"), missingBytes: 9 }))).toMatch(/^: 'The last 9 bytes/);
  });
});

interface Seen {
  method: string | undefined;
  url: string | undefined;
  headers: Record<string, unknown>;
  body: Buffer;
}

describe("what a real shell and a real engine send", () => {
  const seen: Seen[] = [];
  const server = createServer(answer);
  // Of a CONNECT too: the server hands out its socket.
  server.on("connect", ({ method, url, headers }, socket) => {
    seen.push({ method, url, headers, body: Buffer.alloc(0) });
    socket.end("HTTP/1.1 405 Method Not Allowed\r\nConnection: close\r\n\r\n");
  });
  function answer(request: IncomingMessage, response: ServerResponse) {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => {
      seen.push({ method: request.method, url: request.url, headers: request.headers, body: Buffer.concat(parts) });
      // A real engine keeps its connection for the next request, which is none of this test.
      response.writeHead(200, { Connection: "close" }).end();
    });
  }
  let origin = "";
  beforeAll(async () => {
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => new Promise<unknown>((resolve) => server.close(resolve)));

  /** Not execFileSync: the server lives in this process. */
  async function inShell(command: string): Promise<void> {
    await promisify(exec)(command);
  }

  const hard = '@it\x27s "quoted"\n$HOME `x` \\n ü €';
  const request = (): Replay =>
    replay({
      origin,
      method: "PUT",
      target: "/a[1]/{b}/../c?q='x'&y=$(z)",
      headers: [
        ["Content-Type", "text/plain"],
        ["X-Note", "it's $HOME"],
        ["X-Empty", ""],
      ],
      body: bytes(hard),
    });
  const expectHard = () => {
    expect(seen.at(-1)).toMatchObject({
      method: "PUT",
      headers: { "content-type": "text/plain", "x-note": "it's $HOME", "x-empty": "" },
    });
    expect(seen.at(-1)?.body.toString()).toBe(hard);
  };

  it("curl", async () => {
    await inShell(copyAs("curl", request()));
    expectHard();
    expect(seen.at(-1)?.url).toBe("/a[1]/{b}/../c?q='x'&y=$(z)");
  });

  it("[BL-440] curl: a note with a name that a client chose is one word too, also for a shell that has no comments", async () => {
    const name = 'x-token`echo$IFS"it"|cat&\'!';
    const command = copyAs("curl", { ...request(), toFillIn: [name] });
    const [note = ""] = command.split("\n", 1);
    const { stdout } = await promisify(execFile)("bash", ["-c", `printf '%s|' ${note}`]);
    expect(stdout).toBe(`:|Replace TOKEN: the recording does not contain the value of ${name}.|`);
    await inShell(command);
    expectHard();
  });

  it.each([
    ["OPTIONS", "*"],
    ["CONNECT", "@127.0.0.1:1/x"],
    ["CONNECT", "evil.example:80"],
    ["GET", "http://other.example/a?b#c"],
    ["GET", "/a?b#c"],
  ])("[BL-579] curl sends %s %s to the service, and to nobody else", async (method, target) => {
    const fields = replay({ origin, method, target });
    await inShell(copyAs("curl", fields));
    expect(seen.at(-1)).toMatchObject({ method, url: target });
    for (const format of ["javascript", "python"] as const) expect(() => copyAs(format, fields)).toThrow(/sends paths only/);
  });

  it("[BL-579] fetch sends the path of a target in absolute form", async () => {
    const program = copyAs("javascript", replay({ origin, target: "http://other.example?b=[1]" }));
    await new (Object.getPrototypeOf(async () => {}).constructor)("console", program)({ log: () => {} });
    expect(seen.at(-1)?.url).toBe("/?b=[1]");
    expect(copyAs("python", replay({ origin, target: "HTTPS://other.example:8443/a" }))).toContain(`"${origin}/a"`);
  });

  it("[BL-440] curl of PowerShell: what it passes on are curl's options, whatever they contain", async () => {
    const command = copyAs("powershell", request());
    expect(command).toMatch(/^\$OutputEncoding = \[Text\.UTF8Encoding\]::new\(\)\n@'\n/);
    const [, input] = /\n@'\n([\s\S]*?)\n'@ \| curl\.exe --config -$/.exec(command) ?? [];
    expect(input).not.toMatch(/^'@/m);
    const curl = spawn("curl", ["--config", "-"], { stdio: ["pipe", "ignore", "ignore"] });
    curl.stdin.end(input);
    await new Promise((resolve) => curl.once("exit", resolve));
    expectHard();
    expect(seen.at(-1)?.url).toBe("/a[1]/{b}/../c?q='x'&y=$(z)");
  });

  it("[BL-440] what cmd or PowerShell cannot pass is said", () => {
    const binary = replay({ origin, method: "POST", body: Uint8Array.of(0, 255) });
    expect(() => copyAs("powershell", binary)).toThrow("PowerShell passes text only");
    expect(() => copyAs("cmd", binary)).toThrow("cmd passes text only");
    expect(() => copyAs("cmd", request())).toThrow("cmd reads ASCII only");
  });

  it("curl, with bytes and no Content-Type", async () => {
    const body = Uint8Array.from({ length: 256 }, (_, index) => index);
    await inShell(copyAs("curl", replay({ origin, method: "POST", body })));
    expect(seen.at(-1)?.body).toEqual(Buffer.from(body));
    expect(seen.at(-1)?.headers["content-type"]).toBeUndefined();
  });

  it("[BL-468] curl with a body that is too long for one argument", async () => {
    const body = bytes(`it's ${"ü".repeat(100_000)}`);
    const shell = spawn("bash", [], { stdio: ["pipe", "ignore", "ignore"] });
    shell.stdin.end(`${copyAs("curl", replay({ origin, method: "POST", body }))}\n`);
    await new Promise((resolve) => shell.once("exit", resolve));
    expect(seen.at(-1)?.body).toEqual(Buffer.from(body));
  });

  it("JavaScript", async () => {
    const program = copyAs("javascript", { ...request(), target: "/c?q='x'&y=$(z)" });
    await new (Object.getPrototypeOf(async () => {}).constructor)("console", program)({ log: () => {} });
    expectHard();
  });
});

describe("Python and raw", () => {
  it("Python joins repeated headers, says so, and encodes text", () => {
    const headers = [
      ["Accept", "a"],
      ["accept", "b"],
      ["Cookie", "x=1"],
      ["Cookie", "y=2"],
    ] as const;
    expect(copyAs("python", replay({ method: "POST", headers, body: bytes('{"a":"ü"}') }))).toBe(
      [
        "# requests sends a field once: the values of Accept, Cookie are joined.",
        "import requests",
        "",
        "response = requests.request(",
        '    "POST",',
        '    "http://127.0.0.1:8080/api/data",',
        "    headers={",
        '        "Accept": "a, b",',
        '        "Cookie": "x=1; y=2",',
        "    },",
        '    data="{\\"a\\":\\"ü\\"}".encode(),',
        ")",
        "print(response.status_code, response.text)",
      ].join("\n"),
    );
  });

  it("raw is the request as sent", () => {
    const headers = [["Content-Length", "2"]] as const;
    expect(copyAs("raw", replay({ method: "POST", headers, body: bytes("hi") }))).toBe(
      "POST /api/data HTTP/1.1\r\nHost: 127.0.0.1:8080\r\nContent-Length: 2\r\n\r\nhi",
    );
  });
});
