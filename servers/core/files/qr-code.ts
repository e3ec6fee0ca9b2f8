import { encode } from "uqr";
import type { QrCode } from "../../../contract/service.ts";

/** Each row's dark modules as rectangles of one module's height. */
export function qrCode(text: string): QrCode {
  const { size, data } = encode(text, { ecc: "M", border: 0 });
  const parts: string[] = [];
  for (const [y, row] of data.entries()) {
    for (let x = 0; x < size; x++) {
      if (!row[x]) continue;
      const from = x;
      while (row[x + 1]) x++;
      const width = x - from + 1;
      parts.push(`M${from} ${y}h${width}v1h-${width}z`);
    }
  }
  return { modules: size, path: parts.join("") };
}
