import { type Client, type ClientReadableStream, Metadata } from "@grpc/grpc-js";
import { type SampleViews, sampleAgent } from "../../contract/sample-traffic.ts";
import { createSampleSwitch, type SampleSwitch } from "../core/traffic/sample-switch.ts";
import { asIs, type OwnClientOptions, openClient } from "./clients/own-client.ts";
import { prefixBytes } from "./engine/message-type.ts";
import { clientMessage, dataRequest, echoMessage, helloRequest, streamRequest } from "./services/example-messages.ts";

export interface GrpcSampleOptions extends OwnClientOptions {
  readonly show: (view: SampleViews["sample"]) => void;
}

const intervalMs = 600;
const callTimeoutMs = 5_000;
const body = (frame: Buffer): Buffer => frame.subarray(prefixBytes);
const names = ["Ada", "Grace", "Alan", "Edsger", "Barbara", "Ken"];

/** A client of our own on loopback that makes real calls of each pattern, so that a new user sees traffic. */
export function createGrpcSampleTraffic({ port, channel, show }: GrpcSampleOptions): SampleSwitch {
  function play(client: Client): () => void {
    let turn = 0;
    const ignore = () => {};
    const options = () => ({ deadline: Date.now() + callTimeoutMs });
    const unary = (path: string, frame: Buffer, metadata = new Metadata()) =>
      void client.makeUnaryRequest(path, asIs, asIs, body(frame), metadata, options(), ignore);
    const watched = (stream: ClientReadableStream<Buffer>) => stream.on("data", ignore).on("error", ignore);
    const calls: readonly (() => void)[] = [
      () => unary("/example.Greeter/SayHello", helloRequest.frame({ name: names[turn % names.length] as string })),
      () => unary("/example.EchoService/EchoUnary", echoMessage.frame({ message: `order ${48_000 + turn}` })),
      () =>
        watched(
          client.makeServerStreamRequest(
            "/example.Greeter/StreamData",
            asIs,
            asIs,
            body(dataRequest.frame({ count: 5, prefix: "item" })),
            options(),
          ),
        ),
      () => {
        const stream = client.makeClientStreamRequest("/example.Greeter/ClientStream", asIs, asIs, options(), ignore);
        stream.on("error", ignore);
        for (let sequence = 1; sequence <= 3; sequence++) {
          stream.write(body(clientMessage.frame({ clientId: "sample", message: `reading ${sequence}`, sequence })));
        }
        stream.end();
      },
      () => {
        const stream = client.makeBidiStreamRequest("/example.Greeter/BidirectionalStream", asIs, asIs, options());
        watched(stream as unknown as ClientReadableStream<Buffer>);
        for (let sequence = 1; sequence <= 2; sequence++) {
          stream.write(body(clientMessage.frame({ clientId: "sample", message: `ping ${sequence}`, sequence })));
        }
        stream.end();
      },
      () => {
        const request = streamRequest.frame({ fromPosition: turn, count: 4, rate: 20, payloadBytes: 16 });
        watched(client.makeServerStreamRequest("/example.StreamService/Subscribe", asIs, asIs, body(request), options()));
      },
      () => {
        const metadata = new Metadata();
        metadata.set("x-backlot-status", "NOT_FOUND");
        metadata.set("x-backlot-message", "no such user");
        unary("/example.Greeter/SayHello", helloRequest.frame({ name: "nobody" }), metadata);
      },
    ];
    const timer = setInterval(() => calls[turn++ % calls.length]?.(), intervalMs);
    return () => {
      clearInterval(timer);
      client.close();
    };
  }

  return createSampleSwitch({ play: async () => play(await openClient({ port, channel }, sampleAgent)), show });
}
