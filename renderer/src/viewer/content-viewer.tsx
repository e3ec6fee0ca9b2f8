import { ActionIcon, SegmentedControl } from "@mantine/core";
import { useElementSize } from "@mantine/hooks";
import { IconDownload, IconSearch, IconTextWrap } from "@tabler/icons-react";
import { type ReactNode, useEffect, useMemo, useRef, useState } from "react";
import { CopyButton } from "../ui/copy/copy-button.tsx";
import { saveFile } from "../ui/copy/files.ts";
import { Caption, SectionTitle } from "../ui/panel.tsx";
import { capitalized, formatBytes, formatPart } from "../ui/texts/quantity.ts";
import { Tooltip } from "../ui/tooltip.tsx";
import { useRemembered } from "../ui/use-remembered.ts";
import type { CodeViewHandle } from "./code-view.tsx";
import { charsetOf } from "./content-format.ts";
import styles from "./content-viewer.module.css";
import { ContentWell } from "./content-well.tsx";
import { decodeText } from "./decode/bytes.ts";
import { type DecodedBody, decodeBody } from "./decode/decode-body.ts";
import { fileName } from "./file-name.ts";
import { FormatMenu } from "./format-menu.tsx";
import { imageSize } from "./image-size.ts";
import { ImageView } from "./image-view.tsx";
import type { ContentLayout, LayoutRequest } from "./layout/content-layout.ts";
import { bytesInHexLine, hexText } from "./layout/hex-lines.ts";
import { copiedText } from "./layout/line-diff.ts";
import { useRememberedFormat } from "./remembered-format.ts";
import { useContentLayout } from "./use-content-layout.ts";

export interface Content {
  /** The recorded bytes. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Of the whole, as its sender told; undefined where only a part came and nobody knows. */
  readonly totalBytes: number | undefined;
  /** Bytes that crossed the wire, if they are fewer. */
  readonly receivedBytes?: number;
  /** If values in `bytes` are hidden: the number of recorded bytes before that. */
  readonly hiddenIn?: number | undefined;
  /** It was cut because the budget of bodies was used up. */
  readonly overBudget?: boolean | undefined;
}

interface ContentViewerProps {
  /** "request", "response" or "message"; names the file and the region. */
  readonly of: string;
  readonly title?: string;
  readonly content: Content;
  readonly contentType: string;
  readonly contentEncoding?: string;
  /** The sender declares it as text. */
  readonly isText?: boolean;
  /** Topic or route for which a chosen format is remembered. */
  readonly rememberAs: string;
  /** Title of the setting that says how much of a body is kept. */
  readonly cutBy?: string;
  /** Title of the setting that says how much is kept of all beyond that. */
  readonly restBy?: string;
  /** Shown if there are no bytes. */
  readonly emptyText?: string;
  /** Shown in place of the title. */
  readonly heading?: ReactNode;
  /** What the content was made from, if that is something else. */
  readonly sourceBytes?: number;
  /** Further facts about the content. */
  readonly facts?: string | undefined;
  /** Before the choice of pretty and raw. */
  readonly controls?: ReactNode;
  /** False if the format is known. */
  readonly hasFormats?: boolean;
  /** False if the content was made from something else, and was never sent like that. */
  readonly hasRaw?: boolean;
}

/** Content in a matching format, as it was sent, or as bytes; always as text, never as a document. */
export function ContentViewer(props: ContentViewerProps) {
  const { title = "Body", heading = title, content, emptyText = "No body." } = props;
  if ((content.receivedBytes ?? content.totalBytes ?? 0) > 0) return <Viewer {...props} title={title} />;
  return (
    <div className={styles.viewer}>
      <div className={styles.head}>
        <SectionTitle as="h3">{heading}</SectionTitle>
        <Caption>{emptyText}</Caption>
      </div>
    </div>
  );
}

function Viewer(props: ContentViewerProps) {
  const { of, title, heading = title, content, contentType, contentEncoding = "", isText = false, rememberAs } = props;
  const { controls, hasFormats = true, hasRaw = true } = props;
  const [asSent, setRaw] = useRemembered("viewer.raw", false);
  const raw = asSent && hasRaw;
  const [wrap, setWrap] = useRemembered("viewer.wrap", false);
  const [format, setFormat] = useRememberedFormat(rememberAs);
  const view = useRef<CodeViewHandle>(null);
  const { bytes, decodedFrom, leftEncoded } = useDecoded(content.bytes, contentEncoding);
  const box = useElementSize();
  const bytesInLine = box.width >= wideHexPx ? bytesInHexLine : bytesInHexLine / 2;
  const keptBytes = content.hiddenIn ?? content.bytes.length;
  const { totalBytes } = content;
  const isCut = totalBytes === undefined || keptBytes < totalBytes;
  const request = useMemo<LayoutRequest>(
    () => ({ bytes, contentType, isText, isCut, format, raw, bytesInLine }),
    [bytes, contentType, isText, isCut, format, raw, bytesInLine],
  );
  const layout = useContentLayout(request);
  const { laidOut } = layout;
  const image = laidOut?.format === "image" && !raw ? imageSize(bytes) : undefined;
  const label = `${title} of the ${of}`;
  const facts = [
    !isCut && formatBytes(props.sourceBytes ?? totalBytes),
    isCut && `first ${totalBytes === undefined ? formatBytes(keptBytes) : formatPart(keptBytes, totalBytes)}`,
    content.hiddenIn !== undefined && "secrets hidden",
    decodedFrom && `${decodedFrom}, ${formatBytes(bytes.length)} unpacked`,
    leftEncoded && `${leftEncoded}, shown as sent`,
    props.facts,
  ].filter(Boolean);
  const notes = noteText(laidOut, [isCut && cutText(props, keptBytes)]);
  const formats = hasFormats && <FormatMenu label="Format" value={format} onChange={setFormat} shown={laidOut?.format} />;
  return (
    <div ref={box.ref} className={styles.viewer}>
      <div className={styles.bar}>
        <div className={styles.head}>
          <SectionTitle as="h3">{heading}</SectionTitle>
          <Caption grow title={facts.join(" · ")}>
            {facts.join(" · ")}
          </Caption>
          {controls}
          {hasRaw && (
            <SegmentedControl
              aria-label={`Show the ${title?.toLowerCase()} as`}
              data={rawChoices}
              value={raw ? "raw" : "pretty"}
              onChange={(value) => setRaw(value === "raw")}
            />
          )}
          {!controls && formats}
        </div>
        <div className={styles.tools} data-noted={notes !== "" || undefined}>
          {notes !== "" && <span className={styles.notes}>{notes}</span>}
          {/* Beside the controls there is no room for it. */}
          {controls && formats}
          <Tooltip label="Find in this text (Ctrl+F)">
            <ActionIcon
              aria-label="Find in this text"
              disabled={!laidOut || image !== undefined}
              onClick={() => view.current?.openSearch()}
            >
              <IconSearch size={15} stroke={1.5} />
            </ActionIcon>
          </Tooltip>
          <Tooltip label={wrap ? "Do not wrap lines" : "Wrap lines"}>
            <ActionIcon aria-label="Wrap lines" aria-pressed={wrap} data-on={wrap} className={styles.toggle} onClick={() => setWrap(!wrap)}>
              <IconTextWrap size={15} stroke={1.5} />
            </ActionIcon>
          </Tooltip>
          <CopyButton text={() => textToCopy(laidOut, request)} what={isCut ? "this part of the body" : "the body"} />
          <Tooltip label={isCut ? "Save this part as a file" : "Save as a file"}>
            <ActionIcon
              aria-label={isCut ? "Save this part of the body as a file" : "Save the body as a file"}
              onClick={() => saveFile(fileName(of, contentType, laidOut?.format ?? "hex", bytes), bytes)}
            >
              <IconDownload size={15} stroke={1.5} />
            </ActionIcon>
          </Tooltip>
        </div>
      </div>
      {image ? (
        <ImageView bytes={bytes} size={image} isCut={isCut} />
      ) : (
        <ContentWell ref={view} label={label} layout={layout} bytes={bytes.length} wrap={wrap} />
      )}
    </div>
  );
}

/** Below this 16 bytes and their text do not fit beside each other. */
const wideHexPx = 590;

const rawChoices = [
  { value: "pretty", label: "Pretty" },
  { value: "raw", label: "Raw" },
];

function cutText({ cutBy, restBy, content: { overBudget, receivedBytes } }: ContentViewerProps, keptBytes: number): string {
  const part = "Copy and Save have this part only";
  if (keptBytes === receivedBytes) return `${part}: it ended before the rest was read.`;
  if (cutBy === undefined) return `${part}.`;
  return overBudget && restBy !== undefined
    ? `${part}: what is kept of all each second was used up. A larger “${restBy}” in Config keeps more.`
    : `${part}. A larger “${cutBy}” in Config keeps more.`;
}

/** Notes on what is not shown as requested. */
export function noteText(laidOut: ContentLayout | undefined, others: readonly (string | false | undefined)[] = []): string {
  const problem = laidOut?.problem;
  const first = problem && `${capitalized(problem)}.`;
  return [first, ...(laidOut?.notes ?? []), ...others].filter(Boolean).join(" ");
}

/** The shown text, if it is complete; otherwise the content as it was sent. */
export function textToCopy(laidOut: ContentLayout | undefined, { bytes, isCut, contentType }: LayoutRequest): string {
  if (laidOut && laidOut.hex === undefined && !laidOut.isShortened) return copiedText(laidOut);
  const text = laidOut?.hex === undefined ? decodeText(bytes, isCut, charsetOf(contentType)) : undefined;
  return text ?? hexText(bytes);
}

function useDecoded(raw: Uint8Array<ArrayBuffer>, contentEncoding: string): DecodedBody {
  const [decoded, setDecoded] = useState<{ readonly of: Uint8Array; readonly result: DecodedBody }>();
  useEffect(() => {
    if (contentEncoding === "") return;
    let isWanted = true;
    void decodeBody(raw, contentEncoding).then((result) => isWanted && setDecoded({ of: raw, result }));
    return () => {
      isWanted = false;
    };
  }, [raw, contentEncoding]);
  const asSent = useMemo<DecodedBody>(() => ({ bytes: raw }), [raw]);
  return decoded?.of === raw ? decoded.result : asSent;
}
