import { ActionIcon, TextInput } from "@mantine/core";
import { IconPencil, IconX } from "@tabler/icons-react";
import { useState } from "react";
import { type RtspFileView, rtspActions } from "../../../../../contract/services/rtsp.ts";
import { useControl } from "../../../control/client-context.tsx";
import { CommandLine } from "../../../ui/copy/command-line.tsx";
import { useConfirm } from "../../../ui/forms/confirm.tsx";
import { FormDialog } from "../../../ui/forms/dialog.tsx";
import { LowerPanel, LowerRow } from "../../../ui/lower-panel.tsx";
import { Caption, Spring } from "../../../ui/panel.tsx";
import { attempt } from "../../../ui/status/notify.tsx";
import { StatusShape } from "../../../ui/status/status-shape.tsx";
import { UploadProgress } from "../../../ui/status/upload-progress.tsx";
import { formatBytes, formatCount, formatCountOf } from "../../../ui/texts/quantity.ts";
import { shownText } from "../../../ui/texts/shown-text.ts";
import { Tooltip } from "../../../ui/tooltip.tsx";
import styles from "./files-panel.module.css";
import type { RefusedFile } from "./refused-file.ts";
import type { AddFiles, FileUpload } from "./use-add-files.ts";

interface FilesPanelProps extends Pick<AddFiles, "upload" | "refused" | "dismiss"> {
  readonly files: readonly RtspFileView[] | undefined;
}

/** The MP4 files that were dropped on the page, and those that were refused. */
export function FilesPanel({ files = [], upload, refused, dismiss }: FilesPanelProps) {
  const [renamed, setRenamed] = useState<RtspFileView>();
  return (
    <>
      <LowerPanel
        title="Your files"
        rememberAs="rtsp.files"
        heightPx={120}
        listLabel="Files"
        heightLabel="Height of the files"
        isEmpty={files.length === 0 && refused.length === 0}
        head={
          <>
            <Caption>
              {files.length === 0 ? "none; drop MP4 files with H.264 or H.265 and AAC here" : formatCountOf(files.length, "file")}
              {refused.length > 0 && ` · ${formatCount(refused.length)} refused`}
            </Caption>
            <Spring />
            {upload && <Uploading key={upload.at} upload={upload} />}
          </>
        }
      >
        {refused.map((file) => (
          <RefusedRow key={`${file.at} ${file.name}`} file={file} onDismiss={() => dismiss(file)} />
        ))}
        {files.map((file) => (
          <FileRow key={file.path} file={file} onRename={() => setRenamed(file)} />
        ))}
      </LowerPanel>
      {renamed && <RenameDialog file={renamed} onClose={() => setRenamed(undefined)} />}
    </>
  );
}

function Uploading({ upload: { at, name, bytes, sentBytes, waiting, cancel } }: { readonly upload: FileUpload }) {
  const more = waiting === 0 ? "" : `, ${waiting} more to come`;
  const text = sentBytes >= bytes ? `Reading ${name}…` : `${name}: ${formatBytes(sentBytes)} of ${formatBytes(bytes)}${more}`;
  return <UploadProgress label={`Upload of ${name}`} text={shownText(text)} {...{ at, bytes, sentBytes, cancel }} />;
}

function RefusedRow({ file: { name, reason, advice, command }, onDismiss }: { readonly file: RefusedFile; onDismiss(): void }) {
  return (
    <LowerRow className={styles.refused}>
      <StatusShape shape="failed" />
      <span className={styles.name} title={shownText(name)}>
        {shownText(name)}
      </span>
      <div className={styles.why}>
        <p>
          <span className={styles.problem}>{shownText(reason)}</span> {shownText(advice)}
        </p>
        {command !== "" && <CommandLine command={command} />}
      </div>
      <Tooltip label="Dismiss" position="left">
        <ActionIcon aria-label={`Dismiss ${name}`} onClick={onDismiss}>
          <IconX size={14} stroke={1.5} />
        </ActionIcon>
      </Tooltip>
    </LowerRow>
  );
}

function FileRow({ file: { path, name, bytes, problem }, onRename }: { readonly file: RtspFileView; onRename(): void }) {
  const client = useControl();
  const confirm = useConfirm();
  const remove = async () => {
    const isSure = await confirm({
      title: `Remove “${name}”?`,
      text: `The copy in Backlot's data is deleted, and players of /${path} are disconnected. Your own file stays.`,
      action: "Remove the file",
    });
    if (isSure) await attempt(client.action(rtspActions, "rtsp", "file.remove", { path }));
  };
  return (
    <LowerRow className={styles.file}>
      <StatusShape shape={problem === undefined ? "running" : "failed"} />
      <code className={styles.path} title={shownText(`/${path}`)}>
        {shownText(`/${path}`)}
      </code>
      <span className={styles.name} title={shownText(name)}>
        {shownText(name)}
      </span>
      <span className={styles.bytes}>{formatBytes(bytes)}</span>
      <span className={styles.problem} title={problem}>
        {problem}
      </span>
      <Tooltip label="Change the path" position="left">
        <ActionIcon aria-label={`Change the path of ${name}`} onClick={onRename}>
          <IconPencil size={14} stroke={1.5} />
        </ActionIcon>
      </Tooltip>
      <Tooltip label="Remove" position="left">
        <ActionIcon aria-label={`Remove ${name}`} onClick={() => void remove()}>
          <IconX size={14} stroke={1.5} />
        </ActionIcon>
      </Tooltip>
    </LowerRow>
  );
}

function RenameDialog({ file: { path, name }, onClose }: { readonly file: RtspFileView; onClose(): void }) {
  const client = useControl();
  const [to, setTo] = useState(path);
  const rename = async () => {
    if (await attempt(client.action(rtspActions, "rtsp", "file.rename", { path, to: to.trim() }))) onClose();
  };
  return (
    <FormDialog
      opened
      title={`Path of ${name}`}
      action="Change the path"
      disabled={to.trim() === ""}
      onSubmit={() => void rename()}
      onClose={onClose}
    >
      <TextInput
        label="Path"
        description="One or several names, separated by /. Players that have the stream open go on."
        value={to}
        onChange={({ currentTarget }) => setTo(currentTarget.value)}
        data-autofocus
      />
    </FormDialog>
  );
}
