import { hexText } from "../inspector/hex-lines.ts";
import { fromBase64 } from "./base64.ts";

/** As `hexdump -C` writes it. */
export const hexOfPacket = (base64: string): string => hexText(fromBase64(base64));
