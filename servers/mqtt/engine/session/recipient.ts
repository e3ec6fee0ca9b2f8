import type { AckPacket } from "../../codec/packet.ts";
import type { Identity } from "../connection/access.ts";
import type { PublishArguments, PublishTarget, SendResult } from "../delivery/write-publish.ts";
import type { ConnectionOrigin } from "../engine-observer.ts";
import type { ReceivedIds } from "./received-ids.ts";

/** The connected client of a session. */
export interface Recipient extends PublishTarget {
  readonly identity: Identity;
  /** QoS 2 packet identifiers that an earlier connection of the session did not release. */
  readonly leftOpen: ReceivedIds | undefined;
  /** Most unacknowledged messages with QoS 1 and 2. */
  readonly sendWindow: number;
  /** Sends a PUBLISH. */
  sendMessage(...publish: PublishArguments): SendResult;
  sendAck(type: AckPacket["type"], packetId: number, reason: number): void;
  /** Runs a step for this client: an error in it ends only this client's connection. */
  run(step: () => void): void;
  /** Ends the client's connection because of the error. */
  fault(error: unknown): void;
}

/** What the page shows of a connection, and of the last one of a client that is away. */
export interface ConnectionFigures extends Pick<ConnectionOrigin, "transport" | "peer"> {
  readonly version: number;
  readonly keepAliveSeconds: number;
  readonly sendWindow: number;
  readonly messagesIn: number;
  readonly messagesOut: number;
  readonly bytesIn: number;
  readonly bytesOut: number;
}

interface Counted extends Omit<ConnectionFigures, "transport" | "peer" | "bytesOut"> {
  readonly origin: ConnectionOrigin;
  readonly output: Pick<ConnectionFigures, "bytesOut">;
}

/** A copy, which does not keep the connection. */
export function figuresOf(connection: Counted): ConnectionFigures {
  const { version, keepAliveSeconds, sendWindow, messagesIn, messagesOut, bytesIn, output } = connection;
  const { transport, peer } = connection.origin;
  return { version, transport, peer, keepAliveSeconds, sendWindow, messagesIn, messagesOut, bytesIn, bytesOut: output.bytesOut };
}
