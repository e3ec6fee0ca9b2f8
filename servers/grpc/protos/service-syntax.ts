import { create } from "@bufbuild/protobuf";
import { MethodDescriptorProtoSchema, type ServiceDescriptorProto, ServiceDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import type { ProtoContext } from "./proto-context.ts";
import type { TokenReader } from "./token-reader.ts";

export function readService(context: ProtoContext): ServiceDescriptorProto {
  const { reader } = context;
  const place = reader.peek();
  const service = context.placed(create(ServiceDescriptorProtoSchema, { name: reader.name() }), place);
  reader.expect("{");
  while (!reader.take("}")) {
    if (reader.take(";")) continue;
    if (reader.takeName("option")) {
      context.option(service);
      continue;
    }
    if (!reader.takeName("rpc")) reader.fail("a service has methods: rpc Name (Request) returns (Response)");
    const methodPlace = reader.peek();
    const method = context.placed(create(MethodDescriptorProtoSchema, { name: reader.name() }), methodPlace);
    const request = readMessageOfMethod(reader);
    if (!reader.takeName("returns")) reader.fail('"returns" is missing');
    const response = readMessageOfMethod(reader);
    method.inputType = request.type;
    method.outputType = response.type;
    // As protoc writes it: what is not a stream says nothing.
    if (request.isStream) method.clientStreaming = true;
    if (response.isStream) method.serverStreaming = true;
    if (reader.take("{")) {
      while (!reader.take("}")) {
        if (reader.take(";")) continue;
        if (!reader.takeName("option")) reader.fail("a method has options only");
        context.option(method);
      }
    } else reader.expect(";");
    service.method.push(method);
  }
  return service;
}

function readMessageOfMethod(reader: TokenReader): { readonly isStream: boolean; readonly type: string } {
  reader.expect("(");
  const isStream = reader.takeName("stream");
  const type = reader.typeName();
  reader.expect(")");
  return { isStream, type };
}
