import type { ServiceView } from "../../../../../contract/service.ts";
import { ExportDialog } from "../history/export-dialog.tsx";
import { PublishDialog } from "../publish/publish-dialog.tsx";
import type { PublishDraft } from "../publish/publish-draft.ts";
import { ReplayDialog } from "../publish/replay-dialog.tsx";
import { RepliesDialog } from "../publish/replies-dialog.tsx";
import { SampleDialog } from "../publish/sample-dialog.tsx";
import { RetainedDialog } from "../tree/retained-dialog.tsx";
import { scopeFilter, type TopicScope } from "../tree/topic-scope.ts";

export type MqttDialogName = "publish" | "sample" | "replies" | "export" | "replay" | "retained";

interface MqttDialogsProps {
  readonly open: MqttDialogName | undefined;
  readonly onOpen: (name: MqttDialogName | undefined) => void;
  readonly draft: PublishDraft;
  readonly onDraft: (draft: PublishDraft) => void;
  readonly scope: TopicScope;
  /** Filter of the retained messages to clear, if it is not that of the scope. */
  readonly clearing: string | undefined;
  /** Text filter of the shown payloads. */
  readonly text: string;
  readonly withoutSample: boolean;
  readonly service: ServiceView | undefined;
}

export function MqttDialogs({ open, onOpen, draft, onDraft, scope, clearing, text, withoutSample, service }: MqttDialogsProps) {
  const close = () => onOpen(undefined);
  const filter = scopeFilter(scope);
  return (
    <>
      <PublishDialog opened={open === "publish"} onClose={close} draft={draft} onDraft={onDraft} service={service} />
      <SampleDialog opened={open === "sample"} onClose={close} />
      <RepliesDialog opened={open === "replies"} onClose={close} />
      <ExportDialog opened={open === "export"} onClose={close} filter={filter} text={text} withoutSample={withoutSample} />
      <ReplayDialog opened={open === "replay"} onClose={close} />
      <RetainedDialog opened={open === "retained"} onClose={close} filter={clearing ?? filter} />
    </>
  );
}
