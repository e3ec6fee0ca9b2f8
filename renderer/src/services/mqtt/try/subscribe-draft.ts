import { z } from "zod";
import type { MqttTrySubscribe } from "../../../../../contract/services/mqtt-try.ts";
import { isTopicFilter } from "../tree/topic-scope.ts";

/** The form, as typed. */
export interface SubscribeDraft {
  readonly filter: string;
  readonly qos: 0 | 1 | 2;
  /** The following options exist only in 5.0. */
  readonly noLocal: boolean;
  readonly retainAsPublished: boolean;
  readonly retainHandling: 0 | 1 | 2;
  readonly identifier: string;
}

export const subscribeDraftSchema: z.ZodType<SubscribeDraft> = z.object({
  filter: z.string(),
  qos: z.literal([0, 1, 2]),
  noLocal: z.boolean(),
  retainAsPublished: z.boolean(),
  retainHandling: z.literal([0, 1, 2]),
  identifier: z.string(),
});

export const firstSubscription: SubscribeDraft = {
  filter: "test/#",
  qos: 1,
  noLocal: false,
  retainAsPublished: false,
  retainHandling: 0,
  identifier: "",
};

export type ParsedSubscription =
  | { readonly params: MqttTrySubscribe }
  | { readonly field: "filter" | "identifier" | "noLocal"; readonly problem: string };

/** §3.8.2.1.2 */
const largestIdentifier = 268_435_455;

export function parseSubscribeDraft({ identifier, ...draft }: SubscribeDraft): ParsedSubscription {
  const filter = draft.filter.startsWith("$share/") ? sharedFilter(draft.filter) : draft.filter;
  if (filter === undefined) return { field: "filter", problem: "A shared subscription has the form $share/group/filter." };
  if (!isTopicFilter(filter)) return { field: "filter", problem: "Not a valid topic filter: + is one level, # is the last." };
  // [MQTT5-3.8.3-4]
  if (draft.noLocal && draft.filter.startsWith("$share/")) return { field: "noLocal", problem: "Not allowed for a shared subscription." };
  const number = identifier.trim() === "" ? 0 : Number(identifier);
  if (!Number.isInteger(number) || number < 0 || number > largestIdentifier || (number === 0 && identifier.trim() !== ""))
    return { field: "identifier", problem: "From 1 to 268,435,455." };
  return { params: { ...draft, identifier: number } };
}

/** The filter without `$share/{group}/`; undefined if it is malformed. */
function sharedFilter(filter: string): string | undefined {
  const [, group, ...levels] = filter.split("/");
  return group && !/[+#]/.test(group) && levels.length > 0 ? levels.join("/") : undefined;
}

export const usesSubscriptionOptions = (draft: SubscribeDraft): boolean =>
  draft.noLocal || draft.retainAsPublished || draft.retainHandling > 0 || draft.identifier !== "";
