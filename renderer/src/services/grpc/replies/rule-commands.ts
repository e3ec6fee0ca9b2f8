import {
  IconArrowBarToDown,
  IconArrowBarToUp,
  IconArrowDown,
  IconArrowUp,
  IconCopy,
  IconPlayerPlay,
  IconRestore,
  IconTrash,
} from "@tabler/icons-react";
import { type GrpcServiceView, grpcActions } from "../../../../../contract/services/grpc.ts";
import type { ReplyTexts } from "../../../../../contract/services/grpc-replies.ts";
import { goTo, servicePage } from "../../../app/route.ts";
import { useControl } from "../../../control/client-context.tsx";
import { createHandover } from "../../../pages/service/handover.ts";
import type { Command } from "../../../ui/commands.ts";
import { useConfirm } from "../../../ui/forms/confirm.tsx";
import { attempt } from "../../../ui/status/notify.tsx";
import { requestedTries } from "../try/try-call.ts";
import { callOfRule, draftOfText, withoutName } from "./rule-draft.ts";
import type { RuleRow } from "./rule-rows.ts";

/** Methods, as "package.Service/Method", for which another tab wants a new rule. */
export const requestedRules = createHandover<string>();

/** Keys of rules that another tab wants to be shown. */
export const openedRules = createHandover<string>();

interface RuleCommandsOptions {
  readonly texts: ReplyTexts | undefined;
  readonly services: readonly GrpcServiceView[];
  /** Of all rules. */
  readonly count: number;
  /** Opens a rule by its key. */
  readonly onOpen: (key: string) => void;
  readonly onRemoved: (key: string) => void;
}

/** What can be done with a rule: for its menu, the right button and the palette. */
export function useRuleCommands({ texts, services, count, onOpen, onRemoved }: RuleCommandsOptions): (rule: RuleRow) => readonly Command[] {
  const client = useControl();
  const confirm = useConfirm();
  return ({ key, place, name, method }) => {
    const text = texts?.rules.find((rule) => rule.key === key)?.text;
    const move = (to: number) => void attempt(client.action(grpcActions, "grpc", "reply.move", { key, to }));
    const duplicate = async (of: string) => {
      const saved = await client.action(grpcActions, "grpc", "reply.save", { text: withoutName(of) });
      await client.action(grpcActions, "grpc", "reply.move", { key: saved.key, to: place });
      onOpen(saved.key);
    };
    const remove = async () => {
      const isSure = await confirm({
        title: `Remove the rule “${name || method}”?`,
        text: "It is removed from the file. Its calls are answered by the next matching rule, or by the method's handler.",
        action: "Remove the rule",
      });
      if (isSure && (await attempt(client.action(grpcActions, "grpc", "reply.remove", { key })))) onRemoved(key);
    };
    return [
      {
        id: "grpc-rule-try",
        title: "Call its method in Try",
        keywords: "test",
        icon: IconPlayerPlay,
        enabled: text !== undefined,
        run: () => {
          const draft = draftOfText(text ?? "");
          const call = draft && callOfRule(draft);
          requestedTries.give("grpc", {
            path: pathOf(method, services),
            ...(call && Object.keys(call.message).length > 0 && { json: JSON.stringify(call.message, null, 2) }),
            ...(call && call.metadata.length > 0 && { metadata: call.metadata }),
          });
          goTo(servicePage("grpc", "try"));
        },
      },
      { id: "grpc-rule-up", title: "Move up", icon: IconArrowUp, enabled: place > 1, run: () => move(place - 2) },
      { id: "grpc-rule-down", title: "Move down", icon: IconArrowDown, enabled: place < count, run: () => move(place) },
      { id: "grpc-rule-top", title: "Move to the top", icon: IconArrowBarToUp, enabled: place > 1, run: () => move(0) },
      { id: "grpc-rule-bottom", title: "Move to the bottom", icon: IconArrowBarToDown, enabled: place < count, run: () => move(count - 1) },
      {
        id: "grpc-rule-duplicate",
        title: "Duplicate",
        icon: IconCopy,
        enabled: text !== undefined,
        run: () => void (text !== undefined && attempt(duplicate(text))),
      },
      {
        id: "grpc-rule-reset",
        title: "Reset its count",
        icon: IconRestore,
        run: () => void attempt(client.action(grpcActions, "grpc", "reply.reset", { key })),
      },
      { id: "grpc-rule-remove", title: "Remove…", icon: IconTrash, isDestructive: true, run: () => void remove() },
    ];
  };
}

/** Of the method of a rule; of all methods of a service the first. */
function pathOf(method: string, services: readonly GrpcServiceView[]): string {
  const [service = "", name = ""] = method.split("/");
  const first = services.find((one) => one.name === service)?.methods[0];
  return name === "*" && first ? first.path : `/${method}`;
}
