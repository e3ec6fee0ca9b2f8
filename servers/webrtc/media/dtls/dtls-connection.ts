import { errorText } from "../../../core/service/service-error.ts";
import { contentTypes, type DtlsRecord, parseRecords, type RecordCipher, recordNumber, writeRecord } from "./dtls-record.ts";
import { alerts, HandshakeError, type HandshakeMessage, HandshakeReader, writeMessage } from "./handshake-message.ts";

/** A part of a flight: one record. */
export type FlightPart = readonly [type: number, epoch: 0 | 1, fragment: Buffer];

export interface DtlsConnectionOptions {
  readonly send: (datagram: Buffer) => void;
  /** The next message, in its order. Throws a HandshakeError for one that is wrong, or is not due. */
  readonly onMessage: (message: HandshakeMessage) => void;
  /** It has failed, or the other side has closed it. Called once. */
  readonly onEnd: (reason: string, by: "client" | "server") => void;
  /** The last messages of the other side's flights: it repeats them until it gets our answer. */
  readonly lastOfFlights: readonly number[];
}

/** Of the keys that a handshake derives. */
export interface ConnectionKeys {
  readonly reads: RecordCipher;
  readonly writes: RecordCipher;
}

const datagramBytes = 1_200;
const firstRetransmitMs = 400;
const longestRetransmitMs = 6_000;

/** What both sides of a handshake of DTLS 1.2 (RFC 6347) have in common: records, alerts, and flights that are sent until they are answered. */
export class DtlsConnection {
  readonly #options: DtlsConnectionOptions;
  readonly #reader = new HandshakeReader();
  #state: "handshake" | "connected" | "ended" = "handshake";
  /** All messages so far. */
  #transcript: Buffer[] = [];
  #keys: ConnectionKeys | undefined;
  #sequences: [number, number] = [0, 0];
  #messageSequence = 0;
  /** What was sent last: sent again where it may have been lost. */
  #flight: readonly FlightPart[] = [];
  /** The other side repeats what our flight has answered: it is sent again, once for a datagram. */
  #isAnswerMissing = false;
  #retransmitMs = firstRetransmitMs;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: DtlsConnectionOptions) {
    this.#options = options;
  }

  /** Never throws: what is no DTLS is passed over, a wrong handshake ends it. */
  receive(datagram: Buffer): void {
    if (this.#isEnded()) return;
    this.#isAnswerMissing = false;
    try {
      for (const record of parseRecords(datagram)) {
        this.#record(record);
        if (this.#isEnded()) return;
      }
      if (this.#isAnswerMissing) this.#send();
    } catch (error) {
      this.#fail(errorText(error), error instanceof HandshakeError ? error.alert : alerts.handshakeFailure);
    }
  }

  /** It may have been ended by what was received. */
  #isEnded(): boolean {
    return this.#state === "ended";
  }

  /** Tells the other side that it is over. */
  close(): void {
    if (this.#state === "ended") return;
    if (this.#keys) this.#sendRecord(contentTypes.alert, 1, Buffer.from([1, alerts.closeNotify]));
    this.#stop();
  }

  #stop(): void {
    this.#state = "ended";
    clearTimeout(this.#timer);
  }

  #fail(reason: string, alert: number): void {
    if (this.#state === "ended") return;
    this.#sendRecord(contentTypes.alert, this.#keys && this.#state === "connected" ? 1 : 0, Buffer.from([2, alert]));
    this.#stop();
    this.#options.onEnd(reason, "server");
  }

  #record(record: DtlsRecord): void {
    // A record of the second epoch that overtakes the keys comes again.
    const fragment = record.epoch === 0 ? record.fragment : record.epoch === 1 ? this.#keys?.reads.open(record) : undefined;
    if (!fragment) return;
    if (record.type === contentTypes.alert) this.#alert(record.epoch, fragment);
    else if (record.type === contentTypes.handshake) this.#handshakeRecord(record.epoch, fragment);
  }

  #alert(epoch: number, fragment: Buffer): void {
    const [level, number] = fragment;
    // Behind the handshake only what is encrypted comes from the other side.
    if (this.#state === "connected" && epoch === 0) return;
    if (number === alerts.closeNotify && epoch === 1) {
      this.#stop();
      this.#options.onEnd("the client has closed it", "client");
    } else if (level === 2) {
      this.#stop();
      this.#options.onEnd(`DTLS: the client sent alert ${number}`, "client");
    }
  }

  #handshakeRecord(epoch: number, fragment: Buffer): void {
    // RFC 6347 §4.1.2.7: anybody can send what is not encrypted. A side that has not got our Finished repeats its own, too.
    if (this.#state === "connected" && epoch === 0) return;
    const repeated = this.#reader.push(fragment, epoch);
    if (repeated !== undefined && this.#options.lastOfFlights.includes(repeated)) this.#isAnswerMissing = true;
    for (let message = this.#reader.take(); message; message = this.#reader.take()) this.#options.onMessage(message);
  }

  /** All messages of both sides so far, as they are hashed (RFC 5246 §7.4.9). */
  transcript(): Buffer {
    return Buffer.concat(this.#transcript);
  }

  /** Adds a message of the other side. */
  heard({ bytes }: HandshakeMessage): void {
    this.#transcript.push(bytes);
  }

  /** RFC 6347 §4.2.1: the hello without a cookie does not count. */
  forgetTranscript(): void {
    this.#transcript = [];
  }

  /** Numbers a message of ours, and adds it to the transcript. */
  write(type: number, body: Buffer, epoch: 0 | 1 = 0): FlightPart {
    const { bytes } = writeMessage(type, this.#messageSequence++, body);
    this.#transcript.push(bytes);
    return [contentTypes.handshake, epoch, bytes];
  }

  useKeys(keys: ConnectionKeys): void {
    this.#keys = keys;
  }

  /** It is sent again until the other side has answered. */
  sendFlight(flight: readonly FlightPart[]): void {
    if (this.#isEnded()) return;
    this.#flight = flight;
    this.#retransmitMs = firstRetransmitMs;
    this.#send();
    this.#retransmitLater();
  }

  /** The handshake is complete. The last flight, if it is ours, is sent again where the other side repeats its own. */
  complete(lastFlight: readonly FlightPart[] = []): void {
    clearTimeout(this.#timer);
    this.#transcript = [];
    this.#state = "connected";
    this.#flight = lastFlight;
    this.#send();
  }

  /** Records have new numbers each time (RFC 6347 §4.2.4). */
  #send(): void {
    let datagram: Buffer[] = [];
    let bytes = 0;
    for (const [type, epoch, fragment] of this.#flight) {
      const record = this.#seal(type, epoch, fragment);
      if (bytes > 0 && bytes + record.length > datagramBytes) {
        this.#options.send(Buffer.concat(datagram));
        datagram = [];
        bytes = 0;
      }
      datagram.push(record);
      bytes += record.length;
    }
    if (bytes > 0) this.#options.send(Buffer.concat(datagram));
  }

  #sendRecord(type: number, epoch: 0 | 1, fragment: Buffer): void {
    this.#options.send(this.#seal(type, epoch, fragment));
  }

  #seal(type: number, epoch: 0 | 1, fragment: Buffer): Buffer {
    const number = recordNumber(epoch, this.#sequences[epoch]++);
    return writeRecord(type, number, epoch === 1 && this.#keys ? this.#keys.writes.seal(type, number, fragment) : fragment);
  }

  #retransmitLater(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#send();
      this.#retransmitMs = Math.min(longestRetransmitMs, 2 * this.#retransmitMs);
      this.#retransmitLater();
    }, this.#retransmitMs);
  }
}

export const unexpected = (type: number): HandshakeError =>
  new HandshakeError(`a message of the type ${type} was not expected`, alerts.unexpectedMessage);
