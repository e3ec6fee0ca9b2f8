import type { Endpoint, Snippet } from "../../contract/service.ts";
import type { GrpcConfig } from "./grpc-config.ts";

/** Commands and lines to copy for the address where the service listens. They need no .proto file. */
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
      text: `import grpc

# The bytes of { name: "world" } and of its reply: the lines in Try have the types, by reflection.
channel = ${isTls ? `grpc.secure_channel("${address}", grpc.ssl_channel_credentials(${read((file) => `open("${file}", "rb").read()`)}))` : `grpc.insecure_channel("${address}")`}
say_hello = channel.unary_unary("/example.Greeter/SayHello")
print(say_hello(bytes.fromhex("0a05776f726c64"), timeout=5))`,
    },
    {
      label: "Node",
      language: "javascript",
      text: `import * as grpc from "@grpc/grpc-js";${isTls ? `\nimport { readFileSync } from "node:fs";` : ""}

// The bytes of { name: "world" } and of its reply: the lines in Try have the types, by reflection.
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
