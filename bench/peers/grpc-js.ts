/** The methods that are measured, as the documentation of grpc-js has it. `node grpc-js.ts PROTO PORT` */
import {
  loadPackageDefinition,
  Server,
  ServerCredentials,
  type ServerDuplexStream,
  type ServerReadableStream,
  type ServerUnaryCall,
  type ServerWritableStream,
  type ServiceClientConstructor,
  type sendUnaryData,
} from "@grpc/grpc-js";
import { loadSync } from "@grpc/proto-loader";

const [, , file = "", port = ""] = process.argv;
const { example } = loadPackageDefinition(loadSync(file, { keepCase: true, defaults: true })) as unknown as {
  readonly example: Readonly<Record<string, ServiceClientConstructor>>;
};
interface ClientMessage {
  readonly message: string;
  readonly sequence: number;
}
const server = new Server({ "grpc.max_concurrent_streams": 1_000 });

server.addService(example.Greeter!.service, {
  SayHello(call: ServerUnaryCall<{ name: string }, object>, callback: sendUnaryData<object>) {
    callback(null, { message: `Hello, ${call.request.name} from bench!`, status: 200 });
  },
  ClientStream(call: ServerReadableStream<ClientMessage, object>, callback: sendUnaryData<object>) {
    let received = 0;
    call.on("data", () => received++);
    call.on("end", () => callback(null, answer(`Received ${received} messages`, received)));
  },
  BidirectionalStream(call: ServerDuplexStream<ClientMessage, object>) {
    call.on("data", ({ message, sequence }: ClientMessage) => {
      if (call.write(answer(`Echo: ${message}`, sequence))) return;
      call.pause();
      call.once("drain", () => call.resume());
    });
    call.on("end", () => call.end());
  },
});

server.addService(example.StreamService!.service, {
  /** As fast as the client takes them, unless it asks for a pace. */
  Subscribe(call: ServerWritableStream<{ rate: number; count: unknown }, object>) {
    const { rate } = call.request;
    const count = Number(call.request.count) || Number.POSITIVE_INFINITY;
    let position = 0;
    let timer: NodeJS.Timeout | undefined;
    call.on("cancelled", () => clearTimeout(timer));
    const step = () => {
      while (position < count && !call.cancelled) {
        const room = call.write({ position, value: `item-${position++}`, timestamp: new Date().toISOString() });
        if (rate < 1) {
          timer = setTimeout(step, 1_000 / rate);
          return;
        }
        if (!room) {
          call.once("drain", step);
          return;
        }
      }
      call.end();
    };
    step();
  },
});

const answer = (response: string, sequence: number) => ({
  server_id: "bench",
  response,
  received_sequence: sequence,
  timestamp: new Date().toISOString(),
});

server.bindAsync(`127.0.0.1:${port}`, ServerCredentials.createInsecure(), (error) => {
  if (error) throw error;
});
