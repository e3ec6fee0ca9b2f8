import { create } from "@bufbuild/protobuf";
import { Edition, FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import { readEnum } from "./enum-syntax.ts";
import { MessageSyntax } from "./message-syntax.ts";
import { type ParsedProto, ProtoContext } from "./proto-context.ts";
import { readTokens } from "./proto-tokens.ts";
import { readService } from "./service-syntax.ts";
import { TokenReader } from "./token-reader.ts";

const editions: Readonly<Record<string, Edition>> = { "2023": Edition.EDITION_2023, "2024": Edition.EDITION_2024 };

/** Reads one .proto file. Throws a ProtoError with the place of the first fault. */
export function parseProto(name: string, text: string): ParsedProto {
  const context = new ProtoContext(new TokenReader(name, readTokens(name, text)), create(FileDescriptorProtoSchema, { name }));
  const { reader, file } = context;
  const messages = new MessageSyntax(context);
  readSyntax(context);
  while (!reader.atEnd) {
    const start = reader.peek();
    if (reader.take(";")) continue;
    switch (reader.name()) {
      case "package":
        if (file.package !== "") reader.fail("a file has one package", start);
        file.package = reader.fullName();
        reader.expect(";");
        break;
      case "import":
        readImport(context);
        break;
      case "option":
        context.option(file);
        break;
      case "message":
        file.messageType.push(messages.message());
        break;
      case "enum":
        file.enumType.push(readEnum(context));
        break;
      case "service":
        file.service.push(readService(context));
        break;
      case "extend":
        messages.extend(file.extension, file.messageType);
        break;
      default:
        reader.fail(`${JSON.stringify(start.text)} does not begin a definition`, start);
    }
  }
  return context;
}

function readSyntax({ reader, file }: ProtoContext): void {
  const start = reader.peek();
  if (reader.takeName("syntax")) {
    reader.expect("=");
    const syntax = reader.string();
    reader.expect(";");
    // As protoc writes it: proto2 is what a file without a syntax is.
    if (syntax === "proto3") file.syntax = syntax;
    else if (syntax !== "proto2") reader.fail(`there is no syntax ${JSON.stringify(syntax)}`, start);
  } else if (reader.takeName("edition")) {
    reader.expect("=");
    const edition = editions[reader.string()] ?? reader.fail(`the editions are ${Object.keys(editions).join(" and ")}`, start);
    reader.expect(";");
    file.syntax = "editions";
    file.edition = edition;
  }
}

function readImport({ reader, file, imports }: ProtoContext): void {
  const isPublic = reader.takeName("public");
  const isWeak = !isPublic && (reader.takeName("weak") || reader.takeName("option"));
  const place = reader.peek();
  const name = reader.string();
  reader.expect(";");
  if (file.dependency.includes(name)) reader.fail(`${name} is imported twice`, place);
  if (isPublic) file.publicDependency.push(file.dependency.length);
  if (isWeak) file.weakDependency.push(file.dependency.length);
  file.dependency.push(name);
  imports.set(name, place);
}
