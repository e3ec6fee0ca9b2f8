import { useRef, useState } from "react";
import { type GrpcProtosAdded, grpcActions } from "../../../../../contract/services/grpc.ts";
import { useControl } from "../../../control/client-context.tsx";
import { FailureError } from "../../../control/failure-error.ts";
import { notifyDone, notifyFailure } from "../../../ui/status/notify.tsx";
import { formatCountOf, listText } from "../../../ui/texts/quantity.ts";
import type { FoundFiles } from "./dropped-files.ts";
import { type ProtoReceiver, sendProtos } from "./send-protos.ts";

export interface ProtoUpload {
  readonly at: number;
  readonly files: number;
  readonly bytes: number;
  readonly sentBytes: number;
  cancel(): void;
}

export interface AddProtos {
  /** The upload in progress; the newest of several. */
  readonly upload: ProtoUpload | undefined;
  add(found: FoundFiles | Promise<FoundFiles>): void;
}

const shownNames = 3;

/** Sends protocol files to the service, and shows the result. */
export function useAddProtos(): AddProtos {
  const client = useControl();
  const [upload, setUpload] = useState<ProtoUpload>();
  const newest = useRef(0);

  async function send(found: FoundFiles | Promise<FoundFiles>): Promise<void> {
    const turn = ++newest.current;
    const at = Date.now();
    const { signal, cancel } = cancellation();
    const show = (next: Pick<ProtoUpload, "files" | "bytes" | "sentBytes"> | undefined) =>
      turn === newest.current && setUpload(next && { ...next, at, cancel });
    show({ files: 0, bytes: 0, sentBytes: 0 });
    try {
      const { files, others } = await found;
      if (others.length > 0) notifyFailure(noProtocolFiles(others));
      if (files.length === 0) return;
      const bytes = files.reduce((sum, { file }) => sum + file.size, 0);
      show({ files: files.length, bytes, sentBytes: 0 });
      const receiver: ProtoReceiver = {
        begin: () => client.action(grpcActions, "grpc", "protos.begin", {}),
        put: (id, pieces) => client.action(grpcActions, "grpc", "protos.put", { upload: id, pieces: [...pieces] }),
        end: (id) => client.action(grpcActions, "grpc", "protos.end", { upload: id }),
        cancel: (id) => client.action(grpcActions, "grpc", "protos.cancel", { upload: id }),
      };
      const added = await sendProtos(receiver, files, signal, (sentBytes) => show({ files: files.length, bytes, sentBytes }));
      notifyDone(added ? outcome(files.length, added) : "Cancelled: nothing was added");
    } catch (error) {
      notifyFailure(error instanceof DOMException ? unreadable(error) : error);
    } finally {
      show(undefined);
    }
  }
  return { upload, add: (found) => void send(found) };
}

function cancellation(): { readonly signal: AbortSignal; cancel(): void } {
  const controller = new AbortController();
  return { signal: controller.signal, cancel: () => controller.abort() };
}

function outcome(files: number, { problems }: GrpcProtosAdded): string {
  const added = `${formatCountOf(files, "file")} added`;
  return problems.length === 0 ? added : `${added}, with ${formatCountOf(problems.length, "problem")}: see below the services`;
}

const unreadable = ({ message }: DOMException) =>
  new FailureError({
    code: "CALL_INVALID",
    message: `The files could not be read: ${message}`,
    hint: "They may have changed, or your user may not read them. Nothing was added.",
  });

function noProtocolFiles(names: readonly string[]) {
  const more = names.length - shownNames;
  const shown = listText([...names.slice(0, shownNames), ...(more > 0 ? [`${more} more`] : [])]);
  return new FailureError({
    code: "CALL_INVALID",
    message: `Nothing to add in ${shown}`,
    hint: "Choose .proto files, folders with them, descriptor sets or buf images (.binpb, .pb, .desc, .json).",
  });
}
