/** One event as bytes, encoded once for all subscribers. */
export interface SseFrame {
  readonly plain: Buffer;
  /** The same as one HTTP chunk (RFC 9112 §7.1). */
  readonly chunked: Buffer;
  /** Event id, for the list of subscribers. */
  readonly summary: string;
}

export interface SseEvent {
  readonly event: string;
  readonly data: string;
  readonly id?: string | undefined;
}

const summaryLength = 120;

/** WHATWG HTML §9.2: a line for each field, a data line for each line of the data. */
export function sseFrame({ event, data, id }: SseEvent): SseFrame {
  const lines = [
    ...(event === "" ? [] : [`event: ${event}`]),
    ...(id === undefined ? [] : [`id: ${id}`]),
    ...data.split(/\r\n|\r|\n/).map((line) => `data: ${line}`),
  ];
  return frameOf(`${lines.join("\n")}\n\n`, `${event} ${data}`.slice(0, summaryLength));
}

/** The event that /api/stream sends by itself. */
export function pingFrame(id: number, timestamp: number): SseFrame {
  const data = `{"id":${id},"timestamp":${timestamp}}`;
  return frameOf(`event: ping\nid: ${id}\ndata: ${data}\n\n`, `ping ${data}`);
}

function frameOf(text: string, summary: string): SseFrame {
  const length = Buffer.byteLength(text);
  const size = `${length.toString(16)}\r\n`;
  // Memory of its own: the recorder keeps frames, and each would keep a whole block of Node's pool, or be copied for each subscriber.
  const chunked = Buffer.allocUnsafeSlow(size.length + length + 2);
  chunked.write(`${size}${text}\r\n`);
  return { plain: chunked.subarray(size.length, size.length + length), chunked, summary };
}
