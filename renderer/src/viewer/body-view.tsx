import { ActionIcon, SegmentedControl, Tooltip } from "@mantine/core";
import { IconDownload, IconTextWrap } from "@tabler/icons-react";
import { type ReactNode, useEffect, useMemo, useState } from "react";
import type { HttpBody } from "../../../contract/traffic/http.ts";
import { FieldList, PartList } from "../inspectors/http/field-list.tsx";
import { CopyButton } from "../ui/copy-button.tsx";
import { formatBytes } from "../ui/quantity.ts";
import { saveFile } from "../ui/save-file.ts";
import { useRemembered } from "../ui/use-remembered.ts";
import { type BodyContent, bodyBytes, bodyContent } from "./body-content.ts";
import styles from "./body-view.module.css";
import { type DecodedBody, decodeBody } from "./decode-body.ts";
import { fileName, formatLimit } from "./file-name.ts";
import { hexText } from "./hex-lines.ts";
import { ImageView } from "./image-view.tsx";
import { jsonLines } from "./json-lines.ts";
import { jsonTokens } from "./json-tokens.ts";
import { HexView, JsonView, PlainView } from "./text-view.tsx";

const views = [
  { value: "pretty", label: "Pretty" },
  { value: "raw", label: "Raw" },
  { value: "hex", label: "Hex" },
];

interface BodyViewProps {
  /** Of what: "request", "response", "message"; names the file and the region. */
  readonly of: string;
  readonly body: HttpBody;
  readonly contentType: string;
  readonly contentEncoding?: string;
  /** Title of the setting that says how much of a body is kept. */
  readonly cutBy?: string;
  /** Shown where there are no bytes. */
  readonly emptyText?: string;
}

/** A body as its kind is best read, as the text that it is, or as its bytes; always as text, never as a document. */
export function BodyView({ of, body, contentType, contentEncoding = "", cutBy, emptyText = "No body." }: BodyViewProps) {
  const [view, setView] = useRemembered("body.view", "pretty");
  const [wrap, setWrap] = useRemembered("body.wrap", false);
  const raw = useMemo(() => bodyBytes(body), [body]);
  const { bytes, decodedFrom, leftEncoded } = useDecoded(raw, contentEncoding);
  const keptBytes = body.hiddenIn ?? raw.length;
  const isCut = keptBytes < body.bytes;
  const content = useMemo(() => bodyContent(bytes, contentType, isCut), [bytes, contentType, isCut]);
  const label = `Body of the ${of}`;
  const notes = [
    isCut && `first ${formatLimit(keptBytes)} of ${formatBytes(body.bytes)}`,
    body.hiddenIn !== undefined && "secrets hidden",
    decodedFrom && `${decodedFrom}, ${formatBytes(bytes.length)} unpacked`,
    leftEncoded && `${leftEncoded}, shown as sent`,
  ].filter(Boolean);

  if (body.bytes === 0) {
    return (
      <div className={styles.body}>
        <div className={styles.head}>
          <h3 className={styles.title}>Body</h3>
          <span className={styles.facts}>{emptyText}</span>
        </div>
      </div>
    );
  }
  return (
    <div className={styles.body}>
      <div className={styles.head}>
        <h3 className={styles.title}>Body</h3>
        <span className={styles.facts} title={notes.join(" · ")}>
          {[!isCut && formatBytes(body.bytes), ...notes].filter(Boolean).join(" · ")}
        </span>
        <SegmentedControl aria-label="Show the body as" data={views} value={view} onChange={setView} />
        <Tooltip label={wrap ? "Do not wrap lines" : "Wrap lines"}>
          <ActionIcon aria-label="Wrap lines" aria-pressed={wrap} data-on={wrap} className={styles.toggle} onClick={() => setWrap(!wrap)}>
            <IconTextWrap size={15} stroke={1.5} />
          </ActionIcon>
        </Tooltip>
        <CopyButton text={() => copiedText(view, content, bytes)} what={isCut ? "this part of the body" : "the body"} size={24} />
        <Tooltip label={isCut ? "Save this part as a file" : "Save as a file"}>
          <ActionIcon
            aria-label={isCut ? "Save this part of the body as a file" : "Save the body as a file"}
            onClick={() => saveFile(fileName(of, contentType, content), bytes)}
          >
            <IconDownload size={15} stroke={1.5} />
          </ActionIcon>
        </Tooltip>
      </div>
      {isCut && (
        <p className={styles.cut}>
          Copy and Save give this part only.{cutBy !== undefined && ` “${cutBy}” in Config says how many bytes are kept.`}
        </p>
      )}
      {shown({ view, content, bytes, label, wrap, isCut })}
    </div>
  );
}

interface Shown {
  readonly view: string;
  readonly content: BodyContent;
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly label: string;
  readonly wrap: boolean;
  readonly isCut: boolean;
}

function shown({ view, content, bytes, label, wrap, isCut }: Shown): ReactNode {
  const text = "text" in content ? content.text : undefined;
  if (view === "hex") return <HexView label={label} bytes={bytes} />;
  if (view === "raw")
    return text === undefined ? <HexView label={label} bytes={bytes} /> : <PlainView label={label} text={text} wrap={wrap} />;
  switch (content.kind) {
    case "json":
      return <JsonView label={label} text={content.text} wrap={wrap} />;
    case "form":
      return <FieldList label={label} fields={content.fields} />;
    case "multipart":
      return <PartList label={label} parts={content.parts} />;
    case "image":
      return <ImageView bytes={bytes} size={content.size} mediaType={content.mediaType} isCut={isCut} />;
    case "text":
      return <PlainView label={label} text={content.text} wrap={wrap} />;
    case "binary":
    case "empty":
      return <HexView label={label} bytes={bytes} />;
    default:
      return content satisfies never;
  }
}

function copiedText(view: string, content: BodyContent, bytes: Uint8Array): string {
  const text = "text" in content ? content.text : undefined;
  if (view === "hex" || text === undefined) return hexText(bytes);
  if (view === "raw" || content.kind !== "json") return text;
  return jsonLines(jsonTokens(text))
    .map((line) => line.map((token) => token.text).join(""))
    .join("\n");
}

function useDecoded(raw: Uint8Array<ArrayBuffer>, contentEncoding: string): DecodedBody {
  const [decoded, setDecoded] = useState<{ readonly of: Uint8Array; readonly result: DecodedBody }>();
  useEffect(() => {
    if (contentEncoding === "") return;
    let wanted = true;
    void decodeBody(raw, contentEncoding).then((result) => wanted && setDecoded({ of: raw, result }));
    return () => {
      wanted = false;
    };
  }, [raw, contentEncoding]);
  return decoded?.of === raw ? decoded.result : { bytes: raw };
}
