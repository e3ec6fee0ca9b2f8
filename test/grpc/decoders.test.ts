import { expect, it } from "vitest";
import { FramedBody } from "../../servers/grpc/engine/framed-body.ts";
import { inflateMessage } from "../../servers/grpc/engine/message-coding.ts";
import { frameOf } from "../../servers/grpc/engine/message-type.ts";
import { StatusError } from "../../servers/grpc/engine/status.ts";
import { clientMessage, dataResponse, helloRequest, streamItem, streamRequest } from "../../servers/grpc/services/example-messages.ts";
import { type SeededRandom, seededRandom } from "../support/seeded-random.ts";

const bytesOf = (random: SeededRandom, most: number) => Buffer.from(Array.from({ length: random.below(most) }, () => random.below(256)));

it("[GRPC-139] messages are found in a body however it is cut, and bytes that are none end with a status", () => {
  const random = seededRandom(1);
  for (let round = 0; round < 2_000; round++) {
    const messages = Array.from({ length: random.below(6) }, () => bytesOf(random, 300));
    const bytes = Buffer.concat(messages.map(frameOf));
    const body = new FramedBody({ largestMessage: 300, malformed: "INTERNAL" });
    const found: Buffer[] = [];
    for (let at = 0; at < bytes.length; ) {
      const end = at + 1 + random.below(200);
      body.push(bytes.subarray(at, end));
      at = end;
      for (let message = body.next(); message; message = body.next()) found.push(message.content);
    }
    body.end();
    expect(found).toEqual(messages);
    const broken = new FramedBody({ largestMessage: 300, malformed: "INTERNAL" });
    try {
      broken.push(bytesOf(random, 50));
      while (broken.next());
      broken.end();
    } catch (error) {
      expect(error).toBeInstanceOf(StatusError);
    }
  }
});

it("[GRPC-139] random bytes are a message or INTERNAL, also damaged ones of a message", () => {
  const random = seededRandom(2);
  const valid = streamItem.frame({ position: 2 ** 40, value: "item", timestamp: "now", payload: Buffer.alloc(9) }).subarray(5);
  for (let round = 0; round < 2_000; round++) {
    const damaged = Buffer.from(valid);
    damaged[random.below(damaged.length)] = random.below(256);
    for (const bytes of [bytesOf(random, 60), damaged.subarray(0, random.below(damaged.length + 1))]) {
      for (const type of [helloRequest, clientMessage, dataResponse, streamRequest, streamItem]) {
        try {
          type.decode(bytes);
        } catch (error) {
          expect(error).toBeInstanceOf(StatusError);
        }
      }
    }
  }
});

it("[GRPC-139] random bytes that say to be compressed are INTERNAL", async () => {
  const random = seededRandom(3);
  for (let round = 0; round < 200; round++) {
    const coding = random.chance(0.5) ? "gzip" : "deflate";
    await expect(inflateMessage(Buffer.concat([Buffer.from([0x1f, 0x8b]), bytesOf(random, 40)]), coding, 1_000)).rejects.toThrow(
      StatusError,
    );
  }
});
