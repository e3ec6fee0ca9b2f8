import { flatMessage } from "../engine/message-type.ts";

/** The flat messages of example.proto; a test compares them with the file. */
export const helloRequest = flatMessage("example.HelloRequest", { name: [1, "string"] });
export const helloReply = flatMessage("example.HelloReply", { message: [1, "string"], status: [2, "int32"] });
export const dataRequest = flatMessage("example.DataRequest", { count: [1, "int32"], prefix: [2, "string"] });
export const dataResponse = flatMessage("example.DataResponse", { id: [1, "int32"], value: [2, "string"], timestamp: [3, "string"] });
export const clientMessage = flatMessage("example.ClientMessage", {
  clientId: [1, "string"],
  message: [2, "string"],
  sequence: [3, "int32"],
});
export const serverResponse = flatMessage("example.ServerResponse", {
  serverId: [1, "string"],
  response: [2, "string"],
  receivedSequence: [3, "int32"],
  timestamp: [4, "string"],
});
export const echoMessage = flatMessage("example.EchoMessage", { message: [1, "string"] });
export const streamRequest = flatMessage("example.StreamRequest", {
  fromPosition: [1, "int64"],
  count: [2, "int64"],
  rate: [3, "double"],
  payloadBytes: [4, "int32"],
});
export const streamItem = flatMessage("example.StreamItem", {
  position: [1, "int64"],
  value: [2, "string"],
  timestamp: [3, "string"],
  payload: [4, "bytes"],
});
