import { type ContentFormat, mediaTypeOf } from "./content-format.ts";
import { imageSize } from "./image-size.ts";

const extensions: Readonly<Record<string, string>> = {
  "text/html": "html",
  "text/css": "css",
  "text/csv": "csv",
  "text/xml": "xml",
  "application/xml": "xml",
  "image/svg+xml": "svg",
  "application/pdf": "pdf",
  "application/x-ndjson": "ndjson",
};

/** "response.json" */
export function fileName(of: string, contentType: string, format: ContentFormat, bytes: Uint8Array): string {
  return `${of}.${extensions[mediaTypeOf(contentType)] ?? extensionOf(format, bytes)}`;
}

function extensionOf(format: ContentFormat, bytes: Uint8Array): string {
  switch (format) {
    case "json":
    case "xml":
    case "html":
    case "cbor":
      return format;
    case "messagepack":
      return "msgpack";
    case "image": {
      const image = imageSize(bytes)?.format;
      return image === "JPEG" ? "jpg" : (image?.toLowerCase() ?? "bin");
    }
    case "form":
    case "text":
      return "txt";
    case "multipart":
    case "protobuf":
    case "hex":
      return "bin";
    default:
      return format satisfies never;
  }
}
