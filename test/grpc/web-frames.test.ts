import { expect, it } from "vitest";
import { type BodyReader, FramedBody } from "../../servers/grpc/engine/framed-body.ts";
import { frameOf } from "../../servers/grpc/engine/message-type.ts";
import { StatusError } from "../../servers/grpc/engine/status.ts";
import { helloRequest } from "../../servers/grpc/services/example-messages.ts";
import { BareBody, TextBody } from "../../servers/grpc/web/body-reader.ts";
import { type SeededRandom, seededRandom } from "../support/seeded-random.ts";
import { startGrpc } from "./harness.ts";
import { framesOf, fromText, post } from "./web-clients.ts";

const limits = { largestMessage: 5_000 } as const;
const seeds = Array.from({ length: 300 }, (_, index) => index + 1);

function pieces(bytes: Buffer, random: SeededRandom): Buffer[] {
  const parts: Buffer[] = [];
  for (let at = 0; at < bytes.length; ) {
    const length = 1 + random.below(random.chance(0.3) ? 3 : 700);
    parts.push(bytes.subarray(at, at + length));
    at += length;
  }
  return parts;
}

/** All messages of a body that arrives in pieces. */
function read(reader: BodyReader, parts: readonly Buffer[]): Buffer[] {
  const messages: Buffer[] = [];
  const take = () => {
    for (;;) {
      const message = reader.next();
      if (message) messages.push(message.content);
      else if (!reader.hasNext) return;
    }
  };
  for (const part of parts) {
    reader.push(part);
    take();
  }
  reader.end();
  take();
  return messages;
}

const randomBytes = (length: number, random: SeededRandom): Buffer => Buffer.from(Array.from({ length }, () => random.below(256)));

it("[GRPC-127] messages are found in a body that is cut anywhere", () => {
  for (const seed of seeds) {
    const random = seededRandom(seed);
    const messages = Array.from({ length: random.below(8) }, () => randomBytes(random.below(random.chance(0.2) ? 5_000 : 40), random));
    const frames = messages.map(frameOf);
    expect(read(new FramedBody(limits), pieces(Buffer.concat(frames), random)), `seed ${seed}`).toEqual(messages);
    // Each frame with a padding of its own, or all of them as one.
    const text = random.chance(0.5) ? frames.map((frame) => frame.toString("base64")).join("") : Buffer.concat(frames).toString("base64");
    expect(read(new TextBody(limits), pieces(Buffer.from(text), random)), `seed ${seed}`).toEqual(messages);
    const whole = messages[0] ?? Buffer.alloc(0);
    expect(read(new BareBody(limits, false), pieces(whole, random)), `seed ${seed}`).toEqual([whole]);
  }
});

it("[GRPC-127] damaged bodies fail with a status and with nothing else", () => {
  for (const seed of seeds) {
    const random = seededRandom(seed);
    const frames = Buffer.concat(Array.from({ length: 4 }, () => frameOf(randomBytes(random.below(100), random))));
    const damaged = random.chance(0.2) ? randomBytes(random.below(400), random) : Buffer.from(frames);
    for (let count = random.below(6); count > 0; count--) damaged[random.below(damaged.length)] = random.below(256);
    const cut = damaged.subarray(0, random.below(damaged.length + 1));
    for (const reader of [new FramedBody(limits), new TextBody(limits), new BareBody(limits, true)]) {
      for (const bytes of reader instanceof TextBody ? [cut, Buffer.from(cut.toString("base64"))] : [cut]) {
        try {
          read(reader, pieces(bytes, random));
        } catch (error) {
          expect(error, `seed ${seed}`).toBeInstanceOf(StatusError);
        }
      }
    }
  }
});

it("[GRPC-127] a damaged body has the status of its protocol", async () => {
  const grpc = await startGrpc();
  const web = async (bytes: Buffer) => {
    const answer = await post(`${grpc.webUrl}/example.Greeter/ClientStream`, { "content-type": "application/grpc-web" }, bytes);
    expect(answer.status).toBe(200);
    return framesOf(answer.bytes).at(-1)?.content.toString();
  };
  expect(await web(Buffer.from([0, 0, 0]))).toBe("grpc-status: 13\r\ngrpc-message: the request ends within a message\r\n");
  expect(await web(Buffer.from([0x80, 0, 0, 0, 0]))).toBe(
    "grpc-status: 13\r\ngrpc-message: a message begins with the flags 128; only 0 and 1 are allowed\r\n",
  );
  const connect = await post(
    `${grpc.webUrl}/example.Greeter/ClientStream`,
    { "content-type": "application/connect+proto" },
    Buffer.from([2, 0, 0, 0, 0]),
  );
  const [end] = framesOf(connect.bytes);
  expect([connect.status, end?.flags, JSON.parse(end?.content.toString() ?? "")]).toEqual([
    200,
    2,
    { error: { code: "invalid_argument", message: "a message begins with the flags 2; only 0 and 1 are allowed" } },
  ]);
});

it("[GRPC-127] Connect takes bytes that are no message, and a damaged compression, for an invalid argument", async () => {
  const { webUrl } = await startGrpc();
  const ask = async (fields: Record<string, string>, bytes: Buffer) => {
    const { status, bytes: answer } = await post(
      `${webUrl}/example.Greeter/SayHello`,
      { "content-type": "application/proto", ...fields },
      bytes,
    );
    return [status, JSON.parse(answer.toString()).code];
  };
  expect(await ask({}, Buffer.from([10, 255, 1]))).toEqual([400, "invalid_argument"]);
  expect(await ask({ "content-encoding": "gzip" }, Buffer.from("xx"))).toEqual([400, "invalid_argument"]);
  const got = await fetch(`${webUrl}/example.Greeter/SayHello?connect=v1&encoding=proto&base64=1&message=Cv8B`);
  expect([got.status, (await got.json()).code]).toEqual([400, "invalid_argument"]);
});

it("[GRPC-127] whatever a body contains, it is answered, and the service goes on", async () => {
  const grpc = await startGrpc({ messageBytes: 5_000 });
  const types = ["json", "proto", "connect+json", "connect+proto", "grpc-web", "grpc-web+json", "grpc-web-text"];
  const paths = [
    "example.Greeter/SayHello",
    "example.Greeter/StreamData",
    "example.Greeter/ClientStream",
    "example.ChatService/Chat",
    "x/y",
  ];
  const codings = ["", "gzip", "deflate", "br", "identity"];
  for (const seed of seeds.slice(0, 150)) {
    const random = seededRandom(seed);
    const type = types[random.below(types.length)] as string;
    const bytes = random.chance(0.4) ? helloRequest.frame({ name: "Ada" }) : randomBytes(random.below(300), random);
    if (random.chance(0.5)) bytes[random.below(bytes.length)] = random.below(256);
    const coding = codings[random.below(codings.length)] as string;
    const { status, bytes: answer } = await post(
      `${grpc.webUrl}/${paths[random.below(paths.length)]}`,
      {
        "content-type": `application/${type}`,
        ...(coding !== "" && { "content-encoding": coding, "grpc-encoding": coding, "connect-content-encoding": coding }),
        "x-backlot-cut-after": "50",
      },
      type === "grpc-web-text" && random.chance(0.7) ? bytes.toString("base64") : bytes,
    );
    expect([200, 400, 415, 429, 500, 501, 505], `seed ${seed}`).toContain(status);
    if (status === 200 && !/^(?:json|proto)$/.test(type)) {
      const frames = framesOf(type === "grpc-web-text" ? fromText(answer) : answer);
      expect([0x80, 2], `seed ${seed}`).toContain(frames.at(-1)?.flags);
    }
  }
  expect(grpc.logs.filter(({ level }) => level === "error")).toEqual([]);
});

it("[GRPC-127] no message, one too many, and bytes of another type have the status that gRPC gives them", async () => {
  const grpc = await startGrpc();
  const request = helloRequest.frame({ name: "Ada" });
  const ask = async (bytes: Buffer) => {
    const answer = await post(`${grpc.webUrl}/example.Greeter/SayHello`, { "content-type": "application/grpc-web+proto" }, bytes);
    return framesOf(answer.bytes).at(-1)?.content.toString().split("\r\n")[0];
  };
  expect(await ask(Buffer.alloc(0))).toBe("grpc-status: 12");
  expect(await ask(Buffer.concat([request, request]))).toBe("grpc-status: 12");
  expect(await ask(frameOf(Buffer.from("no message")))).toBe("grpc-status: 13");
});

it("[GRPC-306] of a list of codings the first ones count", async () => {
  const service = await startGrpc();
  const ask = async (accepted: string) => {
    const fields = { "content-type": "application/json", "accept-encoding": accepted, "x-backlot-compression": "gzip" };
    const { headers } = await post(`${service.webUrl}/example.Greeter/SayHello`, fields, '{"name":"Ada"}');
    return headers.get("content-encoding");
  };
  expect(await ask(`br;q=0.5, ${"x,".repeat(30)}gzip`)).toBe("gzip");
  expect(await ask(`${"x,".repeat(32)}gzip`)).toBe(null);
});
