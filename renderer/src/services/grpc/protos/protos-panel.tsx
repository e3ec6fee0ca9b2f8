import { ActionIcon, Loader } from "@mantine/core";
import { IconRefresh, IconX } from "@tabler/icons-react";
import { useState } from "react";
import { type GrpcProtoProblem, type GrpcProtoSource, type GrpcViews, grpcActions } from "../../../../../contract/services/grpc.ts";
import { useControl } from "../../../control/client-context.tsx";
import { useConfirm } from "../../../ui/forms/confirm.tsx";
import { LowerPanel, LowerRow } from "../../../ui/lower-panel.tsx";
import { Caption, Spring } from "../../../ui/panel.tsx";
import { attempt } from "../../../ui/status/notify.tsx";
import { useNow } from "../../../ui/status/since.tsx";
import { StatusShape } from "../../../ui/status/status-shape.tsx";
import { shownAfterMs, UploadProgress } from "../../../ui/status/upload-progress.tsx";
import { formatBytes, formatCount, formatCountOf, listText, pluralOf } from "../../../ui/texts/quantity.ts";
import { shownText } from "../../../ui/texts/shown-text.ts";
import { formatDurationExact } from "../../../ui/texts/time.ts";
import { IconButton } from "../../../ui/toolbar.tsx";
import { Tooltip } from "../../../ui/tooltip.tsx";
import styles from "./protos.module.css";
import type { ProtoUpload } from "./use-add-protos.ts";

interface ProtosPanelProps {
  readonly protos: GrpcViews["protos"] | undefined;
  readonly upload: ProtoUpload | undefined;
}

/** After this time its duration is shown too. */
const countedAfterMs = 1_000;
const none: GrpcViews["protos"] = { sources: [], problems: [], moreProblems: 0, isReading: false };

/** The user's protocol files by source, with their problems. */
export function ProtosPanel({ protos = none, upload }: ProtosPanelProps) {
  const client = useControl();
  const { sources, problems, moreProblems, isReading } = protos;
  const isEmpty = sources.length === 0 && problems.length === 0;
  const count = problems.length + moreProblems;
  return (
    <LowerPanel
      title="Your protocol files"
      rememberAs="grpc.protos"
      heightPx={140}
      listLabel="Sources of protocol files"
      heightLabel="Height of the protocol files"
      isEmpty={isEmpty}
      head={
        <>
          <Caption>
            {isEmpty ? "none; drop .proto files, a folder or a descriptor set here" : formatCountOf(sources.length, "source")}
            {count > 0 && (
              <>
                {" · "}
                <span className={styles.bad}>{formatCountOf(count, "problem")}</span>
              </>
            )}
          </Caption>
          <Spring />
          {upload ? <Uploading key={upload.at} upload={upload} /> : isReading && <Compiling />}
          {!isEmpty && (
            <IconButton
              label="Read the protocol files again"
              icon={IconRefresh}
              disabled={isReading}
              onClick={() => void attempt(client.action(grpcActions, "grpc", "protos.reload", {}))}
            />
          )}
        </>
      }
    >
      <Problems problems={problems.filter(({ source }) => source === "")} />
      {sources.map((source) => (
        <Source key={source.id} source={source} problems={problems.filter((problem) => problem.source === source.id)} />
      ))}
      {moreProblems > 0 && <li className={styles.more}>{`${formatCountOf(moreProblems, "more problem")}; the log names the first`}</li>}
    </LowerPanel>
  );
}

function Uploading({ upload: { at, files, bytes, sentBytes, cancel } }: { readonly upload: ProtoUpload }) {
  if (files > 0 && sentBytes >= bytes) return <Compiling files={files} />;
  const what = files === 0 ? "Reading the files…" : `${formatBytes(sentBytes)} of ${formatBytes(bytes)}, ${formatCountOf(files, "file")}`;
  return <UploadProgress label="Upload of protocol files" text={what} {...{ at, bytes, sentBytes, cancel }} />;
}

/** Until what was sent, or was changed on disk, is served. */
function Compiling({ files }: { readonly files?: number }) {
  const [at] = useState(() => Date.now());
  const took = useNow(250) - at;
  if (took < shownAfterMs) return null;
  const what = files === undefined ? "Compiling…" : `Compiling ${formatCountOf(files, "file")}…`;
  return (
    <>
      <Loader size={12} />
      <Caption aria-live="off">{took < countedAfterMs ? what : `${what} ${formatDurationExact(took)}`}</Caption>
    </>
  );
}

interface SourceProps {
  readonly source: GrpcProtoSource;
  readonly problems: readonly GrpcProtoProblem[];
}

function Source({ source: { id, kind, title, files, repeated, services, problems: count }, problems }: SourceProps) {
  const client = useControl();
  const confirm = useConfirm();
  const remove = async () => {
    const isSure = await confirm({
      title: `Remove “${title}”?`,
      text: `Its files are deleted from Backlot's data and no longer served. Calls that are open go on.`,
      action: "Remove the files",
    });
    if (isSure) await attempt(client.action(grpcActions, "grpc", "protos.remove", { source: id }));
  };
  const more = repeated === 0 ? [] : [`${formatCountOf(repeated, "file")} served from another source, which has the same`];
  const served = [...(services.length > 0 ? [listText(services.map(shownText))] : more.length === 0 ? ["no service"] : []), ...more].join(
    "; ",
  );
  return (
    <>
      <LowerRow className={styles.source}>
        <StatusShape shape={count === 0 ? "running" : files > 0 ? "warning" : "failed"} />
        <span className={styles.name} title={shownText(title)}>
          {shownText(title)}
        </span>
        <span className={styles.from}>{kind === "setting" ? "GRPC_PROTOS" : "dropped"}</span>
        <span className={styles.files}>
          <b>{formatCount(files)}</b> {pluralOf(files, "file", "files")}
        </span>
        <span className={styles.services} title={served}>
          {served}
        </span>
        {kind === "dropped" && (
          <Tooltip label="Remove" position="left">
            <ActionIcon aria-label={`Remove ${title}`} onClick={() => void remove()}>
              <IconX size={14} stroke={1.5} />
            </ActionIcon>
          </Tooltip>
        )}
      </LowerRow>
      <Problems problems={problems} />
    </>
  );
}

function Problems({ problems }: Pick<SourceProps, "problems">) {
  return problems.map(({ file, line, column, problem }, index) => {
    const place = [file, line, column].filter((part) => part !== undefined && part !== "").join(":");
    return (
      // biome-ignore lint/suspicious/noArrayIndexKey: two problems may be the same, and the list is replaced as a whole.
      <li key={index} className={styles.problem}>
        {place !== "" && <code>{shownText(place)}</code>}
        <span>{shownText(problem)}</span>
      </li>
    );
  });
}
