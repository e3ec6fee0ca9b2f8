import { fromBase64 } from "../../../viewer/base64.ts";
import { hexText } from "../../../viewer/hex-lines.ts";

/** As `hexdump -C` writes it. */
export const hexOfPacket = (base64: string): string => hexText(fromBase64(base64));
