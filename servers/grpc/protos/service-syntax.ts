import { create } from "@bufbuild/protobuf";
import {
  type MethodDescriptorProto,
  MethodDescriptorProtoSchema,
  MethodOptionsSchema,
  type ServiceDescriptorProto,
  ServiceDescriptorProtoSchema,
} from "@bufbuild/protobuf/wkt";
import type { ProtoContext } from "./proto-context.ts";
import type { TokenReader } from "./token-reader.ts";

export function readService(context: ProtoContext): ServiceDescriptorProto {
  const { reader } = context;
  const place = reader.peek();
  const service = context.placed(create(ServiceDescriptorProtoSchema, { name: reader.name() }), place);
  reader.block(() => {
    if (reader.takeName("option")) context.option(service);
    else if (reader.takeName("rpc")) service.method.push(readMethod(context));
    else reader.fail("a service has methods: rpc Name (Request) returns (Response)");
  });
  return service;
}

function readMethod(context: ProtoContext): MethodDescriptorProto {
  const { reader } = context;
  const place = reader.peek();
  const method = context.placed(create(MethodDescriptorProtoSchema, { name: reader.name() }), place);
  const request = readMessageOfMethod(reader);
  if (!reader.takeName("returns")) reader.fail('"returns" is missing');
  const response = readMessageOfMethod(reader);
  method.inputType = request.type;
  method.outputType = response.type;
  // As protoc writes it: the field is absent without a stream.
  if (request.isStream) method.clientStreaming = true;
  if (response.isStream) method.serverStreaming = true;
  if (reader.peek().text !== "{") {
    reader.expect(";");
    return method;
  }
  // As protoc writes it: they are there if there is a block, also an empty one.
  method.options = create(MethodOptionsSchema);
  reader.block(() => {
    if (!reader.takeName("option")) reader.fail("a method has options only");
    context.option(method);
  });
  return method;
}

function readMessageOfMethod(reader: TokenReader): { readonly isStream: boolean; readonly type: string } {
  reader.expect("(");
  const isStream = reader.takeName("stream");
  const type = reader.typeName();
  reader.expect(")");
  return { isStream, type };
}
