import type { Endpoint, Snippet } from "../../contract/service.ts";
import type { GrpcConfig } from "./grpc-config.ts";

/** Commands and lines to copy for the address where the service listens. They need nothing but reflection. */
export function grpcSnippets(
  endpoints: readonly Endpoint[],
  { clientCertificates }: Pick<GrpcConfig, "clientCertificates">,
): readonly Snippet[] {
  const url = endpoints[0]?.url ?? "grpc://127.0.0.1:50051";
  const isTls = url.startsWith("grpcs:");
  const address = url.replace(/^grpcs?:\/\//, "");
  const metrics = endpoints.find(({ label }) => label === "Metrics")?.url ?? "http://127.0.0.1:8000/metrics";
  const ofClient = clientCertificates === "required";
  const grpcurl = isTls
    ? `grpcurl -cacert backlot-authority.pem${ofClient ? " -cert client.pem -key client-key.pem" : ""}`
    : "grpcurl -plaintext";
  const files = ["backlot-authority.pem", ...(ofClient ? ["client-key.pem", "client.pem"] : [])];
  const read = (call: (file: string) => string) => files.map(call).join(", ");
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
      // With -H the reflection calls would get it, too.
      text: `${grpcurl} -rpc-header 'x-backlot-status: UNAVAILABLE' -rpc-header 'x-backlot-details: {"@type":"RetryInfo","retryDelay":"2s"}' ${address} example.Greeter/SayHello`,
    },
    {
      label: "Python",
      language: "python",
      text: `# pip install grpcio grpcio-reflection
import grpc
from google.protobuf import message_factory
from google.protobuf.descriptor_pool import DescriptorPool
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import ProtoReflectionDescriptorDatabase

${isTls ? `channel = grpc.secure_channel("${address}", grpc.ssl_channel_credentials(${read((file) => `open("${file}", "rb").read()`)}))` : `channel = grpc.insecure_channel("${address}")`}
pool = DescriptorPool(ProtoReflectionDescriptorDatabase(channel))
# The name before protobuf 4.22 is MessageFactory.GetPrototype.
class_of = getattr(message_factory, "GetMessageClass", None) or message_factory.MessageFactory().GetPrototype
Request, Reply = (class_of(pool.FindMessageTypeByName(name)) for name in ("example.HelloRequest", "example.HelloReply"))
say_hello = channel.unary_unary("/example.Greeter/SayHello", Request.SerializeToString, Reply.FromString)
print(say_hello(Request(name="world"), timeout=5))`,
    },
    {
      label: "Node",
      language: "javascript",
      text: `import * as grpc from "@grpc/grpc-js";${isTls ? `\nimport { readFileSync } from "node:fs";` : ""}

// The bytes of { name: "world" } and of its reply: with a .proto file, @grpc/proto-loader makes them.
const client = new grpc.Client("${address}", ${isTls ? `grpc.credentials.createSsl(${read((file) => `readFileSync("${file}")`)})` : "grpc.credentials.createInsecure()"});
const bytes = (value) => value;
client.makeUnaryRequest("/example.Greeter/SayHello", bytes, bytes, Buffer.from("0a05776f726c64", "hex"), (error, reply) => {
  console.log(error ?? reply.toString());
  client.close();
});`,
    },
    { label: "Metrics", language: "shell", text: `curl ${metrics}` },
  ];
}
