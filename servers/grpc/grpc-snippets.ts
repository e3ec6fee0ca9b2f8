import type { Endpoint, Snippet } from "../../contract/service.ts";

/** Commands and lines to copy for the address where the service listens. They need nothing but reflection. */
export function grpcSnippets(endpoints: readonly Endpoint[]): readonly Snippet[] {
  const url = endpoints[0]?.url ?? "grpc://127.0.0.1:50051";
  const isTls = url.startsWith("grpcs:");
  const address = url.replace(/^grpcs?:\/\//, "");
  const metrics = endpoints.find(({ label }) => label === "Metrics")?.url ?? "http://127.0.0.1:8000/metrics";
  const grpcurl = isTls ? "grpcurl -cacert authority.pem" : "grpcurl -plaintext";
  return [
    { label: "grpcurl", language: "shell", text: `${grpcurl} -d '{"name":"world"}' ${address} example.Greeter/SayHello` },
    { label: "grpcurl, what is served", language: "shell", text: `${grpcurl} ${address} describe` },
    {
      label: "grpcurl, a stream",
      language: "shell",
      text: `${grpcurl} -d '{"count":5,"prefix":"item"}' ${address} example.Greeter/StreamData`,
    },
    {
      label: "grpcurl, an error asked for",
      language: "shell",
      text: `${grpcurl} -H 'x-backlot-status: UNAVAILABLE' -H 'x-backlot-details: {"@type":"RetryInfo","retryDelay":"2s"}' ${address} example.Greeter/SayHello`,
    },
    {
      label: "Python",
      language: "python",
      text: `import grpc
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message_factory import MessageFactory
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import ProtoReflectionDescriptorDatabase

${isTls ? `channel = grpc.secure_channel("${address}", grpc.ssl_channel_credentials(open("authority.pem", "rb").read()))` : `channel = grpc.insecure_channel("${address}")`}
pool = DescriptorPool(ProtoReflectionDescriptorDatabase(channel))
message = lambda name: MessageFactory(pool).GetPrototype(pool.FindMessageTypeByName(name))
Request, Reply = message("example.HelloRequest"), message("example.HelloReply")
say_hello = channel.unary_unary("/example.Greeter/SayHello", Request.SerializeToString, Reply.FromString)
print(say_hello(Request(name="world"), timeout=5))`,
    },
    {
      label: "Node",
      language: "javascript",
      text: `import * as grpc from "@grpc/grpc-js";${isTls ? `\nimport { readFileSync } from "node:fs";` : ""}

// The bytes of { name: "world" } and of its reply: with a .proto file, @grpc/proto-loader makes them.
const client = new grpc.Client("${address}", ${isTls ? 'grpc.credentials.createSsl(readFileSync("authority.pem"))' : "grpc.credentials.createInsecure()"});
const bytes = (value) => value;
client.makeUnaryRequest("/example.Greeter/SayHello", bytes, bytes, Buffer.from("0a05776f726c64", "hex"), (error, reply) => {
  console.log(error ?? reply.toString());
  client.close();
});`,
    },
    { label: "Metrics", language: "shell", text: `curl ${metrics}` },
  ];
}
