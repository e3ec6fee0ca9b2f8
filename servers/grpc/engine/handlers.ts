import type { CallHandler, GrpcCall } from "./grpc-call.ts";
import type { GrpcMethod } from "./grpc-method.ts";
import type { MessageType } from "./message-type.ts";
import { StatusError } from "./status.ts";

/** A method with what answers its calls. */
export interface ServedMethod extends GrpcMethod {
  readonly begin: CallHandler;
}

/** Methods by path; it may change while calls are open, which go on as they began. */
export interface GrpcMethods {
  find(path: string): ServedMethod | undefined;
}

/** By the full name of a service, then by the name of a method. */
export type ServiceHandlers = Readonly<Record<string, Readonly<Record<string, CallHandler>>>>;

/** A text with a character beyond Latin-1 takes two bytes for each. */
const memoryOfByte = 2;

/** Reads the message of a client that sends one, and calls `then` when the client has sent its half-close. What the call may keep of it counts until its end. */
export function readOne<Request>(
  call: GrpcCall,
  type: Pick<MessageType<Request>, "decode">,
  then: (request: Request) => void | Promise<void>,
): void {
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
      const { length } = message;
      const request = type.decode(message);
      message = undefined;
      const result = then(request);
      if (!call.isEnding) call.held.add(memoryOfByte * length);
      return result;
    },
  });
}

export const unary =
  <Request, Reply>(
    request: MessageType<Request>,
    reply: MessageType<Reply>,
    handle: (request: Request, call: GrpcCall) => Reply | Promise<Reply>,
  ): CallHandler =>
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
  ): CallHandler =>
  (call) =>
    readOne(call, request, (message) => stream(message, call, (value) => call.send(reply.frame(value))));

export interface StreamSteps<Request> {
  /** The next one is asked for when what it returns is resolved. */
  message(request: Request): void | Promise<void>;
  /** The client has sent its last message. */
  halfClose(): void;
}

/** `begin` is called when the call begins, with the function that sends; each message is asked for once the client reads. */
export const clientMessages =
  <Request, Reply>(
    request: MessageType<Request>,
    reply: MessageType<Reply>,
    begin: (call: GrpcCall, send: (value: Reply) => boolean) => StreamSteps<Request>,
  ): CallHandler =>
  (call) => {
    const steps = begin(call, (value) => call.send(reply.frame(value)));
    call.receive({
      message(bytes) {
        const taken = steps.message(request.decode(bytes));
        if (taken) return taken.then(() => call.readWhenWritable());
        call.readWhenWritable();
      },
      halfClose: () => steps.halfClose(),
    });
  };

/** Answers calls in place of a method's handler. */
export interface MethodReplies {
  /**
   * Takes over the call; or returns false and leaves the call, unchanged, to the next. If it reads messages and then has no answer, it
   * gives them back (`GrpcCall.giveBack`) and calls `otherwise`, which passes the call on.
   */
  begin(call: GrpcCall, method: GrpcMethod, otherwise: () => void): boolean;
}

/** Offers a call to each of `replies` in turn; if none takes it, `last` answers. */
export function beginWith(call: GrpcCall, method: GrpcMethod, replies: readonly MethodReplies[], last: () => void, from = 0): void {
  for (let index = from; index < replies.length; index++) {
    const next = index + 1;
    if (replies[index]?.begin(call, method, () => beginWith(call, method, replies, last, next))) return;
  }
  call.run(last);
}
