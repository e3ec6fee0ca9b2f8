import { fromBinary, fromJson, type JsonValue } from "@bufbuild/protobuf";
import {
  type DescriptorProto,
  type EnumDescriptorProto,
  type FieldDescriptorProto,
  type FileDescriptorProto,
  FileDescriptorSetSchema,
  FieldDescriptorProto_Label as Label,
  FieldDescriptorProto_Type as Type,
} from "@bufbuild/protobuf/wkt";
import { errorText } from "../../core/service/service-error.ts";
import { jsonNameOf } from "../protos/message-syntax.ts";
import { fileNameProblem } from "./proto-file-name.ts";

/** A file of a set that is not valid. */
export interface DescriptorProblem {
  readonly file: string;
  readonly problem: string;
}

export interface ReadDescriptorSet {
  readonly files: readonly FileDescriptorProto[];
  readonly problems: readonly DescriptorProblem[];
}

const mostNesting = 64;
const mostFieldNumber = 0x1fff_ffff;

/** A FileDescriptorSet or a buf image, serialized or as JSON. Throws an Error with the reason for bytes that are neither. */
export function readDescriptorSet(bytes: Uint8Array, isJson: boolean): ReadDescriptorSet {
  const { file: files } = isJson ? setOfJson(bytes) : setOfBytes(bytes);
  if (files.length === 0) throw new Error("it has no files, so it is neither a descriptor set nor a buf image");
  const problems: DescriptorProblem[] = [];
  const sound = files.filter((file) => {
    const problem = problemOf(file);
    if (problem !== undefined) problems.push({ file: file.name.slice(0, 200), problem });
    return problem === undefined;
  });
  for (const file of sound) complete(file);
  return { files: sound, problems };
}

function setOfBytes(bytes: Uint8Array) {
  try {
    return fromBinary(FileDescriptorSetSchema, bytes);
  } catch (error) {
    throw new Error(`it is not a descriptor set, or it is incomplete: ${reasonOf(error)}`);
  }
}

function setOfJson(bytes: Uint8Array) {
  let json: JsonValue;
  try {
    json = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes)) as JsonValue;
  } catch (error) {
    throw new Error(`it is not JSON: ${reasonOf(error)}`);
  }
  try {
    return fromJson(FileDescriptorSetSchema, json, { ignoreUnknownFields: true });
  } catch (error) {
    throw new Error(`it is neither a descriptor set nor a buf image: ${reasonOf(error)}`);
  }
}

const reasonOf = (error: unknown) => errorText(error).slice(0, 300);

/** Checks what the compiler does not check again, because the parser guarantees it. */
function problemOf(file: FileDescriptorProto): string | undefined {
  const name = fileNameProblem(file.name);
  if (name !== undefined) return name;
  if (!["", "proto2", "proto3", "editions"].includes(file.syntax)) return `there is no syntax ${JSON.stringify(file.syntax.slice(0, 40))}`;
  if (file.package !== "" && !/^[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*$/.test(file.package)) return "the name of its package is not valid";
  if (new Set(file.dependency).size !== file.dependency.length) return "it imports a file twice";
  for (const index of [...file.publicDependency, ...file.weakDependency]) {
    if (file.dependency[index] === undefined) return "a public or weak import is not one of its imports";
  }
  return (
    firstOf(file.messageType, (message) => messageProblem(message, 1)) ??
    firstOf(file.enumType, enumProblem) ??
    firstOf(file.extension, (field) => fieldProblem(field, 0))
  );
}

function firstOf<Item>(items: readonly Item[], problemOf: (item: Item) => string | undefined): string | undefined {
  for (const item of items) {
    const problem = problemOf(item);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function messageProblem(message: DescriptorProto, depth: number): string | undefined {
  if (depth > mostNesting) return `messages are nested more than ${mostNesting} deep`;
  if (message.options?.mapEntry && !isMapEntry(message)) return `${message.name} is not a valid map entry`;
  return (
    firstOf(message.field, (field) => fieldProblem(field, message.oneofDecl.length)) ??
    firstOf(message.extension, (field) => fieldProblem(field, 0)) ??
    firstOf(message.enumType, enumProblem) ??
    firstOf(message.nestedType, (nested) => messageProblem(nested, depth + 1))
  );
}

function isMapEntry({ field: fields, nestedType }: DescriptorProto): boolean {
  const [key, value] = fields;
  const noKeys: readonly Type[] = [Type.DOUBLE, Type.FLOAT, Type.BYTES, Type.MESSAGE, Type.GROUP, Type.ENUM];
  const isSingle = (field: FieldDescriptorProto, number: number, name: string) =>
    field.number === number && field.name === name && field.label === Label.OPTIONAL && field.type !== Type.GROUP;
  return (
    fields.length === 2 &&
    nestedType.length === 0 &&
    key !== undefined &&
    value !== undefined &&
    isSingle(key, 1, "key") &&
    isSingle(value, 2, "value") &&
    key.typeName === "" &&
    !noKeys.includes(key.type)
  );
}

function fieldProblem(field: FieldDescriptorProto, oneofs: number): string | undefined {
  const { name, number, type, typeName, label } = field;
  const of = (problem: string) => `field ${JSON.stringify(name.slice(0, 100))}: ${problem}`;
  if (number < 1 || number > mostFieldNumber || (number >= 19_000 && number <= 19_999)) return of(`it cannot have the number ${number}`);
  if (Label[label] === undefined) return of("its label is not valid");
  const isNamed = type === Type.MESSAGE || type === Type.GROUP || type === Type.ENUM;
  // A field that names its type may leave out whether that is a message or an enum.
  if (typeName === "" ? Type[type] === undefined || isNamed : !isNamed && (type as number) !== 0) return of("its type is not valid");
  if (typeName !== "" && !typeName.startsWith(".")) return of("the name of its type is not a full name");
  if (field.oneofIndex !== 0 || Object.hasOwn(field, "oneofIndex")) {
    if (field.oneofIndex < 0 || field.oneofIndex >= oneofs) return of("its oneof is not one of the message");
  }
  return undefined;
}

const enumProblem = ({ name, value }: EnumDescriptorProto): string | undefined =>
  value.length === 0 ? `enum ${name.slice(0, 100)} has no values` : undefined;

/** Removes comments and buf's remarks, which are not served, and adds the JSON names that some programs leave out. */
function complete(file: FileDescriptorProto): void {
  delete file.sourceCodeInfo;
  delete file.$unknown;
  const message = (type: DescriptorProto) => {
    for (const field of type.field) if (field.jsonName === "") field.jsonName = jsonNameOf(field.name);
    for (const nested of type.nestedType) message(nested);
  };
  for (const type of file.messageType) message(type);
}
