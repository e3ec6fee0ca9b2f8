import { formatBytes } from "../ui/quantity.ts";
import { type BodyContent, mediaTypeOf } from "./body-content.ts";

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
export function fileName(of: string, contentType: string, content: BodyContent): string {
  return `${of}.${extensions[mediaTypeOf(contentType)] ?? extensionOf(content)}`;
}

function extensionOf(content: BodyContent): string {
  switch (content.kind) {
    case "json":
      return "json";
    case "image":
      return content.size.format === "JPEG" ? "jpg" : content.size.format.toLowerCase();
    case "form":
    case "text":
      return "txt";
    case "multipart":
    case "binary":
    case "empty":
      return "bin";
    default:
      return content satisfies never;
  }
}

/** A limit is a power of two: "8 KiB". */
export function formatLimit(bytes: number): string {
  if (bytes > 0 && bytes % 1_048_576 === 0) return `${bytes / 1_048_576} MiB`;
  if (bytes > 0 && bytes % 1_024 === 0) return `${bytes / 1_024} KiB`;
  return formatBytes(bytes);
}
