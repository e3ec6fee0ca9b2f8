import { clientMessages, type ServiceHandlers, serverStream, unary } from "../engine/handlers.ts";
import { StatusError } from "../engine/status.ts";
import { clientMessage, dataRequest, dataResponse, helloReply, helloRequest, serverResponse } from "./example-messages.ts";
import { paceStream } from "./paced-stream.ts";

/** Time between two items of StreamData. */
const dataIntervalMs = 100;

export interface GreeterOptions {
  /** In greetings and answers. */
  readonly serverId: string;
  /** Of StreamData. */
  readonly mostItems: number;
}

/** example.Greeter: one method of each pattern. */
export const greeter = ({ serverId, mostItems }: GreeterOptions): ServiceHandlers => ({
  "example.Greeter": {
    SayHello: unary(helloRequest, helloReply, ({ name }) => ({ message: `Hello, ${name} from ${serverId}!`, status: 200 })),
    StreamData: serverStream(dataRequest, dataResponse, ({ count, prefix }, call, send) => {
      if (count < 0) throw new StatusError("INVALID_ARGUMENT", "count is less than 0");
      const item = (id: number) => send({ id, value: `${prefix}-${id}`, timestamp: new Date().toISOString() });
      paceStream({ call, first: 0, count: Math.min(count, mostItems), intervalMs: dataIntervalMs, send: item });
    }),
    ClientStream: clientMessages(clientMessage, serverResponse, (call, send) => {
      let received = 0;
      return {
        message() {
          received++;
        },
        halfClose() {
          send({ serverId, response: `Received ${received} messages`, receivedSequence: received, timestamp: new Date().toISOString() });
          call.finish();
        },
      };
    }),
    BidirectionalStream: clientMessages(clientMessage, serverResponse, (call, send) => ({
      message({ message, sequence }) {
        send({ serverId, response: `Echo: ${message}`, receivedSequence: sequence, timestamp: new Date().toISOString() });
      },
      halfClose: () => call.finish(),
    })),
  },
});
