import { Button, Group } from "@mantine/core";
import { useRef, useState } from "react";
import { grpcActions } from "../../../../../contract/services/grpc.ts";
import type { ReplyTexts } from "../../../../../contract/services/grpc-replies.ts";
import { useControl } from "../../../control/client-context.tsx";
import { failureOf } from "../../../control/failure-error.ts";
import { useStore } from "../../../control/use-store.ts";
import { CodeArea } from "../../../ui/forms/code-area.tsx";
import { FormDialog } from "../../../ui/forms/dialog.tsx";
import { createUnsavedDrafts } from "../../../ui/forms/unsaved-drafts.ts";
import { Note, Notice } from "../../../ui/panel.tsx";
import { shownText } from "../../../ui/texts/shown-text.ts";
import { goToLine, ReplyProblems, useReplyProblems } from "./reply-problems.tsx";

interface FileDialogProps {
  readonly file: string;
  readonly texts: ReplyTexts;
  readonly onClose: () => void;
}

const emptyFile = '{\n  "rules": []\n}\n';
const textOf = (texts: ReplyTexts): string => texts.text || emptyFile;

interface UnsavedFile {
  /** The file as it was when the typing began. */
  readonly begun: string;
  readonly text: string;
}

/** By the path of the file. */
export const unsavedFiles = createUnsavedDrafts<UnsavedFile>();

/** The text of the whole file, even if it is broken. What was typed is kept until it is saved or discarded. */
export function FileDialog({ file, texts, onClose }: FileDialogProps) {
  const client = useControl();
  const area = useRef<HTMLTextAreaElement>(null);
  const unsaved = useStore(unsavedFiles).get(file);
  const begun = unsaved?.begun ?? texts.text;
  const text = unsaved?.text ?? textOf(texts);
  const isOverdue = texts.text !== begun;
  const keep = (next: UnsavedFile | undefined) => unsavedFiles.keep(file, next);
  const load = () => keep(undefined);
  const [refused, setRefused] = useState<string>();
  const problems = useReplyProblems("file", text);
  const save = async () => {
    try {
      await client.action(grpcActions, "grpc", "replies.write", { revision: texts.revision, text });
      const typed = unsavedFiles.get().get(file)?.text;
      if (typed === undefined || typed === text) {
        keep(undefined);
        onClose();
      } else keep({ begun: text, text: typed });
    } catch (error) {
      setRefused(failureOf(error).message);
    }
  };
  return (
    <FormDialog
      opened
      title="Edit the replies file"
      size="lg"
      action="Save the file"
      close="Close"
      others={
        <Button
          disabled={!unsaved}
          onClick={() => {
            setRefused(undefined);
            load();
          }}
        >
          Discard
        </Button>
      }
      disabled={isOverdue || text === texts.text}
      onClose={onClose}
      onSubmit={() => void save()}
    >
      <Note>
        <code>{shownText(file)}</code>
      </Note>
      <CodeArea
        ref={area}
        wraps={false}
        aria-label="Text of the file"
        mt="xs"
        minRows={14}
        maxRows={24}
        data-autofocus
        value={text}
        onChange={(next) => {
          setRefused(undefined);
          keep(next === textOf(texts) ? undefined : { begun, text: next });
        }}
      />
      <ReplyProblems of="file" problems={problems} onLine={(line) => area.current && goToLine(area.current, line)} />
      {isOverdue && (
        <Notice tone="warn" role="alert">
          The file was changed meanwhile, on disk or in another window.
          <Group gap="xs" mt="xs">
            <Button onClick={load}>Load the changed file</Button>
            <Button onClick={() => keep({ begun: texts.text, text })}>Keep this text</Button>
          </Group>
        </Notice>
      )}
      {refused !== undefined && problems.length === 0 && (
        <Notice tone="bad" role="alert">
          {refused}
        </Notice>
      )}
    </FormDialog>
  );
}
