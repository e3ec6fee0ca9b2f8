import { useRef, useState } from "react";
import { z } from "zod";
import { rtspActions } from "../../../../../contract/services/rtsp.ts";
import { useControl } from "../../../control/client-context.tsx";
import { FailureError, failureOf } from "../../../control/failure-error.ts";
import { announce } from "../../../ui/status/announcer.tsx";
import { notifyDone } from "../../../ui/status/notify.tsx";
import { useRemembered } from "../../../ui/use-remembered.ts";
import { type RefusedFile, refusedFile, refusedFileSchema, stillRefused } from "./refused-file.ts";
import { type FileReceiver, sendFile } from "./send-file.ts";

export interface FileUpload {
  readonly at: number;
  readonly name: string;
  readonly bytes: number;
  readonly sentBytes: number;
  /** Files that come after this one. */
  readonly waiting: number;
  cancel(): void;
}

export interface AddFiles {
  readonly upload: FileUpload | undefined;
  /** Files that were not added, until they are, or are dismissed. */
  readonly refused: readonly RefusedFile[];
  add(files: readonly File[]): void;
  dismiss(file: RefusedFile): void;
}

const noneRefused: readonly RefusedFile[] = [];
const refusedFilesSchema: z.ZodType<readonly RefusedFile[]> = z.array(refusedFileSchema);
const mostRefused = 50;

/** Sends MP4 files to the service, one after the other, and shows the result of each. */
export function useAddFiles(): AddFiles {
  const client = useControl();
  const [upload, setUpload] = useState<FileUpload>();
  const [refused, setRefused] = useRemembered("rtsp.refused-files", noneRefused, refusedFilesSchema);
  // Files are sent one after the other, by a function of an earlier rendering.
  const newestRefused = useRef(refused);
  newestRefused.current = refused;
  const waiting = useRef<File[]>([]);
  const isSending = useRef(false);
  const keepRefused = (files: readonly RefusedFile[]) => {
    newestRefused.current = files;
    setRefused(files);
  };
  const receiver: FileReceiver = {
    begin: (name, bytes) => client.action(rtspActions, "rtsp", "file.begin", { name, bytes }),
    put: (id, base64) => client.action(rtspActions, "rtsp", "file.put", { upload: id, base64 }),
    end: (id) => client.action(rtspActions, "rtsp", "file.end", { upload: id }),
    cancel: (id) => client.action(rtspActions, "rtsp", "file.cancel", { upload: id }),
  };

  async function send(file: File): Promise<void> {
    const controller = new AbortController();
    const cancel = () => {
      waiting.current = [];
      controller.abort();
    };
    const at = Date.now();
    const show = (sentBytes: number) =>
      setUpload({ at, name: file.name, bytes: file.size, sentBytes, waiting: waiting.current.length, cancel });
    show(0);
    try {
      const path = await sendFile(receiver, file, controller.signal, show);
      if (path !== undefined) keepRefused(stillRefused(newestRefused.current, file.name));
      notifyDone(path === undefined ? `Cancelled: ${file.name} was not added` : `${file.name} is played on /${path}`);
    } catch (error) {
      const failure = failureOf(error instanceof DOMException ? unreadable(file.name, error) : error);
      const others = newestRefused.current.filter(({ name }) => name !== file.name);
      keepRefused([...others, refusedFile(at, file.name, failure)].slice(-mostRefused));
      announce(`${file.name} was not added: ${failure.message}`);
    }
  }

  async function sendAll(): Promise<void> {
    if (isSending.current) return;
    isSending.current = true;
    for (let file = waiting.current.shift(); file; file = waiting.current.shift()) await send(file);
    isSending.current = false;
    setUpload(undefined);
  }

  return {
    ...{ upload, refused },
    add(files) {
      waiting.current.push(...files);
      void sendAll();
    },
    dismiss: (file) => keepRefused(refused.filter((other) => other !== file)),
  };
}

const unreadable = (name: string, { message }: DOMException) =>
  new FailureError({
    code: "CALL_INVALID",
    message: `${name} could not be read: ${message}`,
    hint: "A folder cannot be added, and a file may have changed. Drop the MP4 file itself.",
  });
