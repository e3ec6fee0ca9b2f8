const headEnd = Buffer.from("\r\n\r\n");

/** Counts the HTTP/1.1 answers that end within the bytes so far; each must say its Content-Length. */
export function createAnswerCounter(): (chunk: Buffer) => number {
  let rest: Buffer = Buffer.alloc(0);
  return (chunk) => {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    let from = 0;
    let answers = 0;
    for (;;) {
      const end = rest.indexOf(headEnd, from);
      if (end < 0) break;
      const head = rest.toString("latin1", from, end);
      const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
      if (length === undefined) throw new Error(`An answer without Content-Length: ${head}`);
      const next = end + headEnd.length + Number(length);
      if (next > rest.length) break;
      from = next;
      answers++;
    }
    rest = rest.subarray(from);
    return answers;
  };
}
