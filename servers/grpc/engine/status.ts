import { type GrpcStatusName, grpcStatusNames } from "../../../contract/traffic/grpc.ts";

export const statusCode = (name: GrpcStatusName): number => grpcStatusNames.indexOf(name);

export const statusName = (code: number): string => grpcStatusNames[code] ?? `code ${code}`;

/** The code of a name or number as text; undefined if there is no such status. */
export function parseStatusCode(text: string): number | undefined {
  const code = /^\d+$/.test(text) ? Number(text) : grpcStatusNames.indexOf(text.trim().toUpperCase() as GrpcStatusName);
  return code in grpcStatusNames ? code : undefined;
}

/** Messages quote what a client sent, and clients bound the fields in which messages are. */
const longestMessage = 1_000;

/** What a handler throws to end its call with a status. */
export class StatusError extends Error {
  readonly code: number;

  constructor(name: GrpcStatusName, message: string) {
    super(message.length > longestMessage ? `${message.slice(0, longestMessage)}…` : message);
    this.code = statusCode(name);
  }
}

/** The bytes of a request that cannot be read as what they say they are: INTERNAL in gRPC, INVALID_ARGUMENT in Connect. */
export class UnreadableRequest extends StatusError {
  constructor(message: string) {
    super("INTERNAL", message);
  }
}

export const unreadable = () => new UnreadableRequest("the request cannot be decoded: its bytes are not a message of its type");
