import { clientMessages, unary } from "../engine/handlers.ts";
import { echoMessage } from "./example-messages.ts";
import type { ServiceHandlers } from "./service-handlers.ts";

/** example.EchoService */
export const echo = (): ServiceHandlers => ({
  "example.EchoService": {
    EchoUnary: unary(echoMessage, echoMessage, (message) => message),
    EchoBidiStream: clientMessages(echoMessage, echoMessage, (call, send) => ({
      message: (message) => void send(message),
      halfClose: () => call.finish(),
    })),
  },
});
