import type { GrpcCall } from "./grpc-call.ts";
import type { GrpcMethod } from "./grpc-method.ts";
import type { MessageType } from "./message-type.ts";
import { StatusError } from "./status.ts";

type Begin = GrpcMethod["begin"];

/** Reads the message of a client that sends one, and calls `then` when the client has sent its half-close. */
export function readOne<Request>(call: GrpcCall, type: MessageType<Request>, then: (request: Request) => void | Promise<void>): void {
  let message: Uint8Array | undefined;
  call.receive({
    message(bytes) {
      // The status that gRPC defines for a wrong number of messages.
      if (message) throw new StatusError("UNIMPLEMENTED", "this method takes one message, and the client sent a second one");
      message = bytes;
      call.read();
    },
    halfClose() {
      if (!message) throw new StatusError("UNIMPLEMENTED", "this method takes one message, and the client sent none");
      return then(type.decode(message));
    },
  });
}

export const unary =
  <Request, Reply>(
    request: MessageType<Request>,
    reply: MessageType<Reply>,
    handle: (request: Request, call: GrpcCall) => Reply | Promise<Reply>,
  ): Begin =>
  (call) =>
    readOne(call, request, (message) => {
      const answer = handle(message, call);
      if (answer instanceof Promise) return answer.then((value) => answerWith(call, reply, value));
      answerWith(call, reply, answer);
    });

function answerWith<Reply>(call: GrpcCall, type: MessageType<Reply>, value: Reply): void {
  call.send(type.frame(value));
  call.finish();
}

/** `stream` sends with the function that it gets, which is false once the client should read first, and finishes the call. */
export const serverStream =
  <Request, Reply>(
    request: MessageType<Request>,
    reply: MessageType<Reply>,
    stream: (request: Request, call: GrpcCall, send: (value: Reply) => boolean) => void | Promise<void>,
  ): Begin =>
  (call) =>
    readOne(call, request, (message) => stream(message, call, (value) => call.send(reply.frame(value))));

export interface StreamSteps<Request> {
  message(request: Request): void;
  /** The client has sent its last message. */
  halfClose(): void;
}

/** `begin` is called when the call begins, with the function that sends; each message is asked for once the client reads. */
export const clientMessages =
  <Request, Reply>(
    request: MessageType<Request>,
    reply: MessageType<Reply>,
    begin: (call: GrpcCall, send: (value: Reply) => boolean) => StreamSteps<Request>,
  ): Begin =>
  (call) => {
    const steps = begin(call, (value) => call.send(reply.frame(value)));
    call.receive({
      message(bytes) {
        steps.message(request.decode(bytes));
        call.readWhenWritable();
      },
      halfClose: () => steps.halfClose(),
    });
  };
