import type { DescMessage } from "@bufbuild/protobuf";

/** Whether the JSON of a message has another form than its fields. */
export const hasOwnJson = ({ typeName }: DescMessage): boolean =>
  /^google\.protobuf\.(?:Any|Timestamp|Duration|FieldMask|Struct|Value|ListValue|\w+Value)$/.test(typeName);
