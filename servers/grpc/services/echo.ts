import { clientMessages, type ServiceHandlers, unary } from "../engine/handlers.ts";
import { echoMessage } from "./example-messages.ts";

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
